// SPDX-License-Identifier: Apache-2.0
// Uploads: two at a time, with progress from XMLHttpRequest (fetch reports none for bodies), then the state of the
// bundle until it is ready or failed. Lives outside the page, so that it goes on when another page is opened.
import { signal } from '@preact/signals';
import { API, errorOf, getJson } from './api';
import type { Bundle, UploadReply } from './types';

export type Phase = 'waiting' | 'sending' | 'indexing' | 'ready' | 'failed' | 'cancelled';
export type Transfer = {
	key: number;
	file: File;
	name: string;
	size: number;
	phase: Phase;
	sent: number;
	rate: number;
	duplicate: boolean;
	problem: string;
	requestId: string | null;
	bundle: Bundle | null;
};

const AT_ONCE = 2;
const POLL_MS = 700;
export const transfers = signal<Transfer[]>([]);
const requests = new Map<number, XMLHttpRequest>();
let nextKey = 1;

function patch(key: number, p: Partial<Transfer>): void {
	transfers.value = transfers.value.map((t) => (t.key === key ? { ...t, ...p } : t));
}

function fresh(file: File): Transfer {
	return {
		key: nextKey++, file, name: file.name, size: file.size, phase: 'waiting', sent: 0, rate: 0,
		duplicate: false, problem: '', requestId: null, bundle: null,
	};
}

export function addFiles(files: File[]): void {
	transfers.value = [...transfers.value, ...files.map(fresh)];
	pump();
}

export function retry(key: number): void {
	transfers.value = transfers.value.map((t) => (t.key === key ? { ...fresh(t.file), key } : t));
	pump();
}

export function cancel(key: number): void {
	requests.get(key)?.abort();
	patch(key, { phase: 'cancelled' });
	pump();
}

export function remove(key: number): void {
	transfers.value = transfers.value.filter((t) => t.key !== key);
}

function pump(): void {
	const active = transfers.value.filter((t) => t.phase === 'sending').length;
	transfers.value.filter((t) => t.phase === 'waiting').slice(0, Math.max(0, AT_ONCE - active)).forEach(start);
}

/** Rate over about the last two seconds, so that it follows a changing network but does not flicker. */
export function smoothRate(old: number, bytesNow: number, ms: number): number {
	if (ms <= 0) return old;
	const now = (bytesNow * 1000) / ms;
	return old === 0 ? now : old + (now - old) * Math.min(1, ms / 2000);
}

function start(t: Transfer): void {
	const x = new XMLHttpRequest();
	let at = performance.now();
	let seen = 0;
	let rate = 0;
	requests.set(t.key, x);
	patch(t.key, { phase: 'sending' });
	x.open('POST', `${API}/bundles?name=${encodeURIComponent(t.name)}`);
	x.setRequestHeader('Content-Type', 'application/octet-stream');
	x.upload.onprogress = (e) => {
		const now = performance.now();
		if (now - at < 200 && e.loaded < e.total) return;
		rate = smoothRate(rate, e.loaded - seen, now - at);
		at = now;
		seen = e.loaded;
		patch(t.key, { sent: e.loaded, rate });
	};
	x.onload = () => void finished(t.key, x);
	x.onerror = () => ended(t.key, { phase: 'failed', problem: 'The connection broke before the server had the whole file' });
	x.onabort = () => ended(t.key, { phase: 'cancelled' });
	x.send(t.file);
}

function ended(key: number, p: Partial<Transfer>): void {
	requests.delete(key);
	patch(key, p);
	pump();
}

async function finished(key: number, x: XMLHttpRequest): Promise<void> {
	if (x.status < 200 || x.status > 299) {
		const e = await errorOf(x.status, x.responseText, x.getResponseHeader('x-request-id'));
		return ended(key, { phase: 'failed', problem: e.message, requestId: e.requestId });
	}
	const r = JSON.parse(x.responseText) as UploadReply;
	ended(key, { phase: 'indexing', duplicate: r.duplicate, sent: transfers.value.find((t) => t.key === key)?.size ?? 0 });
	return follow(key, r.id);
}

async function follow(key: number, id: string): Promise<void> {
	while (transfers.value.some((t) => t.key === key && t.phase === 'indexing')) {
		try {
			const bundle = await getJson<Bundle>(`/bundles/${id}`);
			const phase = bundle.state === 'ready' || bundle.state === 'failed' ? bundle.state : 'indexing';
			patch(key, { bundle, phase });
			if (phase !== 'indexing') return;
		} catch (e) {
			return patch(key, { phase: 'failed', problem: (e as Error).message });
		}
		await new Promise((done) => setTimeout(done, POLL_MS));
	}
}
