// SPDX-License-Identifier: Apache-2.0
// Uploads: two at a time, with progress from XMLHttpRequest (fetch reports none for bodies), then the state of the
// bundle until it is ready or failed. Large files go in pieces (pieces.ts) and go on after a cut. Lives outside the
// page, so that it goes on when another page is opened.
import { signal } from '@preact/signals';
import { API, ApiError, currentProject, errorOf, getJson } from './api';
import { passing, pauseMs, PIECES_FROM, sendPieces } from './pieces';
import type { Ports, Reply } from './pieces';
import type { Bundle, UploadReply } from './types';

export type Phase = 'waiting' | 'sending' | 'indexing' | 'ready' | 'failed' | 'cancelled';
export type Transfer = {
	key: number;
	file: File;
	name: string;
	size: number;
	/** Where it was dropped; '': the caller has one project only. A switch meanwhile does not move it. */
	project: string;
	phase: Phase;
	sent: number;
	rate: number;
	duplicate: boolean;
	note: string; // what happens instead of progress
	problem: string;
	requestId: string | null;
	bundle: Bundle | null;
};

const AT_ONCE = 2;
const POLL_MS = 700;
const ASKS = 20; // in a row without an answer
export const transfers = signal<Transfer[]>([]);
/** What runs for a transfer: its request, where its upload is, whether it was cancelled. */
type Run = { request: XMLHttpRequest | null; at: string | null; project: string; cancelled: boolean };
const runs = new Map<number, Run>();
let nextKey = 1;

function patch(key: number, p: Partial<Transfer>): void {
	transfers.value = transfers.value.map((t) => (t.key === key ? { ...t, ...p } : t));
}

function fresh(file: File): Transfer {
	return {
		key: nextKey++, file, name: file.name, size: file.size, project: currentProject() ?? '', phase: 'waiting', sent: 0, rate: 0,
		duplicate: false, note: '', problem: '', requestId: null, bundle: null,
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
	const run = runs.get(key);
	if (run) {
		run.cancelled = true;
		run.request?.abort();
		if (run.at) void ask(run, 'DELETE', run.at, {}, null, () => {}); // what it has of the file may go
	}
	ended(key, { phase: 'cancelled', note: '' });
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

/** One request; status 0 when nothing came back. */
function ask(run: Run, method: string, path: string, headers: Record<string, string>, body: Blob | null, onSent: (n: number) => void): Promise<Reply> {
	return new Promise((done) => {
		const x = new XMLHttpRequest();
		const end = () => done({ status: x.status, text: x.responseText, header: (name) => (x.status ? x.getResponseHeader(name) : null) });
		run.request = x;
		x.open(method, API + path);
		if (run.project) x.setRequestHeader('X-Fleetscope-Project', run.project);
		for (const [name, value] of Object.entries(headers)) x.setRequestHeader(name, value);
		x.upload.onprogress = (e) => onSent(e.loaded);
		x.onloadend = end; // after load, error and abort alike
		x.send(body);
	});
}

const PAINT_MS = 200;

/** Bytes that left, as progress: not more often than it is worth painting, but the last of them always. */
function meter(key: number, size: number): (sent: number) => void {
	let at = performance.now();
	let seen = 0;
	let rate = 0;
	let newest = 0;
	let later: ReturnType<typeof setTimeout> | null = null;
	const paint = () => {
		const now = performance.now();
		if (later) clearTimeout(later);
		later = null;
		rate = smoothRate(rate, Math.max(0, newest - seen), now - at);
		at = now;
		seen = newest;
		if (runs.has(key)) patch(key, { sent: newest, rate });
	};
	return (sent) => {
		newest = sent;
		if (sent >= size || performance.now() - at >= PAINT_MS) paint();
		else later ??= setTimeout(paint, PAINT_MS);
	};
}

function ports(run: Run): Ports {
	return {
		send: (method, path, headers, body, onSent) => ask(run, method, path, headers, body, onSent),
		remember: (key, path) => {
			run.at = path;
			try {
				if (path) localStorage.setItem(key, path);
				else localStorage.removeItem(key);
			} catch {
				// No storage: after a reload it begins anew.
			}
		},
		recall: (key) => {
			try {
				run.at = localStorage.getItem(key);
			} catch {
				run.at = null;
			}
			// Another file of the same name, size and time under way: its upload is not ours.
			if ([...runs.values()].some((r) => r !== run && r.at !== null && r.at === run.at)) run.at = null;
			return run.at;
		},
		pause: (ms) => new Promise((done) => setTimeout(done, ms)),
		stopped: () => run.cancelled,
	};
}

function start(t: Transfer): void {
	const run: Run = { request: null, at: null, project: t.project, cancelled: false };
	const sent = meter(t.key, t.size);
	runs.set(t.key, run);
	patch(t.key, { phase: 'sending' });
	const reply = t.size >= PIECES_FROM
		? sendPieces(t.file, run.project, ports(run), { sent, say: (note) => note !== transfers.value.find((x) => x.key === t.key)?.note && patch(t.key, { note }) })
		: ask(run, 'POST', `/bundles?name=${encodeURIComponent(t.name)}`, { 'Content-Type': 'application/octet-stream' }, t.file, sent);
	void reply.then((r) => (run.cancelled ? undefined : finished(t, r)));
}

function ended(key: number, p: Partial<Transfer>): void {
	runs.delete(key);
	patch(key, p);
	pump();
}

async function finished(t: Transfer, r: Reply): Promise<void> {
	const { key } = t;
	if (r.status === 0) return ended(key, { phase: 'failed', note: '', problem: 'The connection broke before the server had the whole file' });
	if (r.status !== 202) {
		const e = await errorOf(r.status, r.text, r.header('x-request-id'));
		return ended(key, { phase: 'failed', note: '', problem: e.message, requestId: e.requestId });
	}
	const done = JSON.parse(r.text) as UploadReply;
	ended(key, { phase: 'indexing', note: '', duplicate: done.duplicate, sent: t.size });
	return follow(t, done.id);
}

/** The server has the file: a cut, or another project on the page, does not make that a failure. */
async function follow({ key, project }: Transfer, id: string): Promise<void> {
	let lost = 0;
	while (transfers.value.some((t) => t.key === key && t.phase === 'indexing')) {
		try {
			const bundle = await getJson<Bundle>(`/bundles/${id}`, undefined, undefined, project);
			const phase = bundle.state === 'ready' || bundle.state === 'failed' ? bundle.state : 'indexing';
			patch(key, { bundle, phase, note: '' });
			lost = 0;
			if (phase !== 'indexing') return;
		} catch (e) {
			const status = e instanceof ApiError ? e.status : -1;
			if (status === 403) return patch(key, { phase: 'ready', note: 'Received. This account may not see what becomes of it.' });
			if (!passing(status) || lost >= ASKS) return patch(key, { phase: 'failed', note: '', problem: (e as Error).message });
			patch(key, { note: 'Received; connection lost, asking again' });
			lost++;
		}
		await new Promise((done) => setTimeout(done, lost > 0 ? pauseMs(lost - 1, null, Math.random()) : POLL_MS));
	}
}
