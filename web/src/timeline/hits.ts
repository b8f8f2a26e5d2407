// SPDX-License-Identifier: Apache-2.0
// Search inside one trace: total, strip of counts over the whole trace, and a page of hits around the current one.
import { signal } from '@preact/signals';
import { getJson, isAbort } from '../lib/api';
import { busy } from '../lib/busy';
import type { Hit, SearchReply } from '../lib/types';
import type { Window } from './viewport';

const STRIP = 600;
const PAGE = 500;
const DELAY_MS = 150;

export class HitList {
	readonly q = signal('');
	readonly total = signal<number | null>(null);
	readonly strip = signal<number[]>([]);
	/** Number of the current hit among all, from 0; -1: none yet. */
	readonly at = signal(-1);
	readonly error = signal<Error | null>(null);
	/** Lower-case text that names are compared with while drawing. */
	needle = '';
	/** The hits that are known around the current one, and the number of the first of them. */
	readonly page = signal<Hit[]>([]);
	readonly first = signal(0);
	private timer = 0;
	private ctl: AbortController | null = null;

	constructor(private traceId: string, private whole: Window) {}

	stop(): void {
		clearTimeout(this.timer);
		this.ctl?.abort();
	}

	set(q: string): void {
		if (q === this.q.peek()) return;
		this.stop();
		this.q.value = q;
		this.needle = q.trim().toLowerCase();
		this.at.value = -1;
		this.page.value = [];
		this.error.value = null;
		if (!this.needle) {
			this.total.value = null;
			this.strip.value = [];
			return;
		}
		this.timer = window.setTimeout(() => void this.load(), DELAY_MS);
	}

	private async ask(t0: number, t1: number, strip: number): Promise<SearchReply | null> {
		this.ctl?.abort();
		const ctl = (this.ctl = new AbortController());
		const done = busy();
		try {
			const params = { q: this.q.peek().trim(), t0: Math.round(t0), t1: Math.round(t1), limit: PAGE, strip: strip || undefined };
			return await getJson<SearchReply>(`/traces/${this.traceId}/search`, params, ctl.signal);
		} catch (e) {
			if (!isAbort(e)) this.error.value = e as Error;
			return null;
		} finally {
			done();
		}
	}

	private async load(): Promise<void> {
		const r = await this.ask(this.whole.t0, this.whole.t1 + 1, STRIP);
		if (!r) return;
		this.total.value = r.total;
		this.strip.value = r.strip ?? [];
		this.page.value = r.hits;
		this.first.value = 0;
	}

	private current(): Hit | null {
		return this.page.peek()[this.at.peek() - this.first.peek()] ?? null;
	}

	/** Steps to the next or previous hit; without a current one, the first at or after (before) `from`. */
	async step(dir: 1 | -1, from: number): Promise<Hit | null> {
		if (this.total.peek() === null) await this.load();
		const total = this.total.peek() ?? 0;
		if (total === 0) return null;
		if (this.at.peek() < 0) return this.start(dir, from, total);
		const want = (this.at.peek() + dir + total) % total;
		await this.pageWith(want, dir, total);
		this.at.value = want;
		return this.current();
	}

	private async start(dir: 1 | -1, from: number, total: number): Promise<Hit | null> {
		const r = await this.ask(from, this.whole.t1 + 1, 0);
		if (!r) return null;
		// A slice that began before `from` may be counted by the window; it is not the next one.
		const hits = r.hits.filter((h) => h.ts >= from);
		const first = total - (r.total - (r.hits.length - hits.length));
		if (hits.length > 0) {
			this.page.value = hits;
			this.first.value = first;
		}
		const want = (((dir > 0 ? first : first - 1) % total) + total) % total;
		await this.pageWith(want, dir, total);
		this.at.value = want;
		return this.current();
	}

	private has(n: number): boolean {
		return n >= this.first.peek() && n < this.first.peek() + this.page.peek().length;
	}

	/** Makes the page hold hit number `want`. */
	private async pageWith(want: number, dir: 1 | -1, total: number): Promise<void> {
		if (this.has(want)) return;
		let t0 = this.whole.t0;
		if (want > 0) t0 = this.timeBefore(want, dir);
		for (let tries = 0; tries < 40 && !this.has(want); tries++) {
			const r = await this.ask(t0, this.whole.t1 + 1, 0);
			if (!r || r.hits.length === 0) return;
			const hits = r.hits.filter((h) => h.ts >= t0);
			this.page.value = hits;
			this.first.value = total - (r.total - (r.hits.length - hits.length));
			if (hits.length === 0 || this.first.peek() + hits.length > want) return;
			t0 = hits[hits.length - 1].ts + 1;
		}
	}

	/** A time from the strip with not many hits between it and hit `want`. */
	private timeBefore(want: number, dir: 1 | -1): number {
		if (dir > 0 && this.page.peek().length > 0 && want === this.first.peek() + this.page.peek().length) return this.page.peek()[this.page.peek().length - 1].ts + 1;
		const strip = this.strip.peek();
		const room = dir < 0 ? PAGE / 2 : 0;
		let sum = 0;
		let bucket = 0;
		for (let i = 0; i < strip.length && sum + strip[i] <= want - room; i++) {
			sum += strip[i];
			bucket = i + 1;
		}
		return strip.length ? this.whole.t0 + ((this.whole.t1 - this.whole.t0) * bucket) / strip.length : this.whole.t0;
	}
}
