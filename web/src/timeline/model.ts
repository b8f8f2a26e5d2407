// SPDX-License-Identifier: Apache-2.0
// State of one open timeline: what is shown, selected, searched, pinned; and its mirror in the URL.
import { batch, computed, effect, signal } from '@preact/signals';
import { query, setQuery } from '../app/router';
import { getJson, isAbort } from '../lib/api';
import type { Details, Note, Process, SliceRef, Step, Trace, Track, TrackList } from '../lib/types';
import { EMPTY_STATE, parseState, writeState } from '../lib/urlstate';
import type { Selection, TimelineState } from '../lib/urlstate';
import { buildLayout, buildPinned, trackKey } from './layout';
import { HitList } from './hits';
import { follow } from './links';
import { Notes } from './notes';
import { around, clamp, limits, reveal } from './viewport';
import type { Window } from './viewport';

const URL_MS = 250;

export class TimelineModel {
	readonly tracks: Track[];
	readonly processes: Process[];
	readonly byId: Map<number, Track>;
	readonly lim: Window;
	readonly view = signal<Window>({ t0: 0, t1: 1 });
	readonly sel = signal<Selection | null>(null);
	readonly details = signal<Details | null>(null);
	readonly detailsError = signal<Error | null>(null);
	readonly range = signal<Window | null>(null);
	readonly pins = signal<number[]>([]);
	readonly open = signal<ReadonlyMap<string, boolean>>(new Map());
	readonly tab = signal('');
	readonly steps = signal<Step[]>([]);
	readonly dimOthers = signal(false);
	/** Does the minimap have anything to show? */
	readonly gpuWork = signal(true);
	/** Largest value seen of each counter track: the top of its axis. */
	readonly counterTops = signal<ReadonlyMap<number, number>>(new Map());
	/** Size of the track area in CSS px; set by the canvas. */
	readonly width = signal(1000);
	readonly height = signal(600);
	readonly hits: HitList;
	readonly notes: Notes;
	readonly layout = computed(() => buildLayout(this.tracks, this.processes, { open: this.open.value, pins: this.pins.value }));
	readonly pinned = computed(() => buildPinned(this.tracks, { open: this.open.value, pins: this.pins.value }));
	/** Asks the canvas to bring a track into view. */
	readonly scrollTo = signal<{ track: number; depth: number } | null>(null);
	private last: TimelineState = EMPTY_STATE;
	private written = '';
	private timer = 0;
	private detailsCtl: AbortController | null = null;
	private stops: (() => void)[] = [];

	constructor(readonly trace: Trace, list: TrackList) {
		this.tracks = list.tracks;
		this.processes = list.processes;
		this.byId = new Map(list.tracks.map((t) => [t.id, t]));
		this.lim = limits(trace.t_min_ns, trace.t_max_ns);
		this.hits = new HitList(trace.id, { t0: trace.t_min_ns, t1: Math.max(trace.t_max_ns, trace.t_min_ns + 1) });
		this.notes = new Notes(trace.id, trace.notes);
		this.readUrl();
		this.stops.push(effect(() => {
			if (query.value !== this.written) this.readUrl();
		}));
		this.stops.push(effect(() => this.mirror()));
		void getJson<{ items?: Step[]; steps?: Step[] }>(`/traces/${trace.id}/steps`)
			.then((r) => (this.steps.value = r.items ?? r.steps ?? []))
			.catch(() => {}); // a trace without steps has no step band
	}

	stop(): void {
		clearTimeout(this.timer);
		this.stops.forEach((f) => f());
		this.hits.stop();
		this.detailsCtl?.abort();
	}

	// ---- URL ----

	private readUrl(): void {
		const s = parseState(query.peek());
		this.written = query.peek();
		this.last = s;
		batch(() => {
			this.view.value = s.t0 !== null && s.t1 !== null ? clamp({ t0: s.t0, t1: s.t1 }, this.lim) : this.lim;
			this.range.value = s.range;
			this.pins.value = s.pin.filter((p) => this.byId.has(p));
			this.tab.value = s.tab;
			this.open.value = new Map(s.open);
			this.notes.at.value = s.note;
		});
		this.hits.set(s.q);
		if (!same(s.sel, this.sel.peek())) this.select(s.sel, null, false);
	}

	private state(): TimelineState {
		const whole = this.view.value.t0 === this.lim.t0 && this.view.value.t1 === this.lim.t1;
		return {
			t0: whole ? null : Math.round(this.view.value.t0),
			t1: whole ? null : Math.max(Math.round(this.view.value.t1), Math.round(this.view.value.t0) + 1),
			sel: this.sel.value,
			q: this.hits.q.value,
			pin: this.pins.value,
			range: this.range.value,
			tab: this.tab.value,
			open: [...this.open.value],
			note: this.notes.at.value,
		};
	}

	/** Moves replace the URL a little later; a new selection or range adds a history entry. */
	private mirror(): void {
		this.last = this.state();
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => this.write('replace'), URL_MS);
	}

	private write(how: 'push' | 'replace'): void {
		clearTimeout(this.timer);
		this.last = this.state();
		const q = writeState(query.peek(), this.last);
		this.written = q;
		setQuery(q, how);
	}

	commit(): void {
		this.write('push');
	}

	// ---- view ----

	setView(w: Window): void {
		this.view.value = clamp(w, this.lim);
	}

	whole(): void {
		this.view.value = this.lim;
	}

	/** The selected slice, else the range. */
	fit(): void {
		const d = this.details.value;
		if (d && this.sel.value) this.setView(around(d.ts, d.ts + d.dur, this.lim));
		else if (this.range.value) this.setView(around(this.range.value.t0, this.range.value.t1, this.lim, 0.05));
	}

	/** The range from the selected slice, or from what is visible. */
	mark(): void {
		const d = this.sel.value ? this.details.value : null;
		const w = d ? { t0: d.ts, t1: d.ts + Math.max(1, d.dur) } : this.view.value;
		this.setRange({ t0: Math.max(0, Math.round(w.t0)), t1: Math.round(w.t1) }, true);
	}

	setRange(r: Window | null, commit: boolean): void {
		const writing = this.notes.draft.peek() !== null;
		this.range.value = r;
		if (!writing) this.notes.at.value = null; // another range is not the note's any more
		if (!commit) return;
		if (r && this.tab.value !== 'slices' && !writing) this.tab.value = '';
		this.commit();
	}

	clear(): void {
		batch(() => {
			this.range.value = null;
			this.notes.at.value = null;
			this.hits.set('');
			this.select(null, null, false);
		});
		this.commit();
	}

	// ---- notes ----

	/** Begins a note on the range, else on the selected slice, else on what is visible. */
	startNote(): void {
		if (!this.range.value) this.mark();
		batch(() => {
			this.notes.draft.value = { id: null, text: '' };
			this.notes.at.value = null;
			this.tab.value = 'notes';
		});
		this.commit();
	}

	editNote(n: Note): void {
		this.goToNote(n);
		this.notes.draft.value = { id: n.id, text: n.text };
	}

	async saveNote(): Promise<void> {
		const r = this.range.value;
		const n = r && (await this.notes.save(r));
		if (n) this.goToNote(n);
	}

	/** Selects a note with its range, and brings the range into view. */
	goToNote(n: Note): void {
		batch(() => {
			this.notes.draft.value = null;
			this.notes.at.value = n.id;
			this.range.value = { t0: n.t0, t1: Math.max(n.t1, n.t0 + 1) };
			this.tab.value = 'notes';
			this.view.value = reveal(this.view.value, n.t0, n.t1, this.width.value, this.lim);
		});
		this.commit();
	}

	// ---- tracks ----

	toggle(key: string, now: boolean): void {
		const m = new Map(this.open.value);
		m.set(key, !now);
		this.open.value = m;
	}

	openTrack(id: number): void {
		const m = new Map(this.open.value);
		m.set(trackKey(id), true);
		this.open.value = m;
	}

	pin(id: number): void {
		const p = this.pins.value;
		this.pins.value = p.includes(id) ? p.filter((x) => x !== id) : [...p, id];
		this.commit();
	}

	// ---- selection ----

	/** `ref` may carry the slice's number; without it the server looks it up by track, start and name. */
	select(sel: Selection | null, id: number | null, commit: boolean): void {
		this.detailsCtl?.abort();
		this.sel.value = sel;
		this.detailsError.value = null;
		if (!sel) {
			this.details.value = null;
		} else {
			const ctl = (this.detailsCtl = new AbortController());
			const path = id !== null ? `/traces/${this.trace.id}/slices/${id}` : `/traces/${this.trace.id}/slices/find`;
			getJson<Details>(path, id !== null ? undefined : { track: sel.track, ts: sel.ts, name: sel.name }, ctl.signal)
				.then((d) => {
					this.details.value = d;
					const cur = this.sel.peek();
					if (cur && (cur.track !== d.track || cur.ts !== d.ts || cur.name !== d.name)) this.sel.value = { track: d.track, ts: d.ts, name: d.name };
				})
				.catch((e: unknown) => {
					if (isAbort(e)) return;
					this.details.value = null;
					this.detailsError.value = e as Error;
				});
		}
		if (commit) this.commit();
	}

	/** Selects a slice and brings it into view. */
	goTo(ref: SliceRef | { id: number; track: number; depth?: number; ts: number; dur: number; name: string }): void {
		batch(() => {
			this.view.value = reveal(this.view.value, ref.ts, ref.ts + ref.dur, this.width.value, this.lim);
			this.showTrack(ref.track, ref.depth ?? 0);
			this.select({ track: ref.track, ts: ref.ts, name: ref.name }, ref.id, true);
		});
	}

	/** Opens what hides a track and scrolls to it. */
	showTrack(id: number, depth: number): void {
		const row = () => this.layout.value.rows.find((r) => r.track?.id === id && r.type === 'track');
		const t = this.byId.get(id);
		if (!t) return;
		let r = row();
		if (!r) {
			const m = new Map(this.open.value);
			for (const [k, v] of m) if (!v && !k.startsWith('t')) m.delete(k);
			m.set(trackKey(id), true);
			this.open.value = m;
			r = row();
		}
		if (r && depth >= r.depths) this.openTrack(id);
		this.scrollTo.value = { track: id, depth };
	}

	/** Along the launch or the flow of the selected slice; stays where there is none. */
	follow(dir: 'prev' | 'next'): void {
		const ref = follow(this.details.value, dir);
		if (ref) this.goTo(ref);
	}

	/** Previous or next slice of the same name. */
	async sameName(dir: 'prev' | 'next'): Promise<void> {
		const ref = this.details.value?.same_name?.[dir];
		if (ref === null || ref === undefined) return;
		if (typeof ref === 'object') return this.goTo(ref);
		this.goTo(await getJson<Details>(`/traces/${this.trace.id}/slices/${ref}`));
	}

	async goToId(id: number): Promise<void> {
		this.goTo(await getJson<Details>(`/traces/${this.trace.id}/slices/${id}`));
	}
}

function same(a: Selection | null, b: Selection | null): boolean {
	return a === b || (!!a && !!b && a.track === b.track && a.ts === b.ts && a.name === b.name);
}
