// SPDX-License-Identifier: Apache-2.0
// Hand-over to a Perfetto UI in another window: the export goes by postMessage and never leaves the two browser windows.
import { API } from './api';

export const MAX_BYTES = 200 * 1024 * 1024;
const PING_MS = 100;
const PATIENCE_MS = 60_000;

export type Range = { t0: number; t1: number; select?: { ts: number; dur: number } };

/** Some room around a range, so that its neighbours give context. */
export function padded(r: Range): { t0: number; t1: number } {
	const room = Math.max(r.t1 - r.t0, 1000) * (r.select ? 50 : 0.02);
	return { t0: Math.max(0, Math.floor(r.t0 - room)), t1: Math.ceil(r.t1 + room) };
}

export function exportUrl(traceId: string, range: Range | null): string {
	const base = `${API}/traces/${encodeURIComponent(traceId)}/export/perfetto`;
	if (!range) return base;
	const w = padded(range);
	return `${base}?t0=${w.t0}&t1=${w.t1}`;
}

/** Absolute ns go beyond 2^53, so they are added as bigint. */
export function absolute(baseNs: string | number, relative: number): string {
	return (BigInt(baseNs) + BigInt(Math.round(relative))).toString();
}

/** Address of the viewer with the part to show and the slice to select; ids are not linkable, ts and dur are. */
export function viewerUrl(origin: string, baseNs: string | number, range: Range | null): string {
	const p = new URLSearchParams();
	if (range) {
		const room = Math.max(range.t1 - range.t0, 100) * (range.select ? 4 : 0);
		p.set('visStart', absolute(baseNs, Math.max(0, range.t0 - room)));
		p.set('visEnd', absolute(baseNs, range.t1 + room));
		if (range.select) {
			p.set('ts', absolute(baseNs, range.select.ts));
			p.set('dur', String(range.select.dur));
		}
	}
	const q = p.toString();
	return `${origin.replace(/\/$/, '')}/#!/${q ? `?${q}` : ''}`;
}

/** Leads to the viewer that the server has itself, which then fetches the trace by a ticket: nothing is handed over. */
export function ownViewerUrl(traceId: string, range: Range | null): string {
	const base = `${API}/traces/${encodeURIComponent(traceId)}/perfetto`;
	if (!range) return base;
	const w = padded(range);
	const select = range.select ? `&ts=${Math.round(range.select.ts)}&dur=${Math.round(range.select.dur)}` : '';
	return `${base}?t0=${w.t0}&t1=${w.t1}${select}`;
}

/** PING until PONG, then the trace. Rejects when the viewer does not answer in a minute. */
export function handOver(w: Window, origin: string, buffer: ArrayBuffer, title: string, fileName: string): Promise<void> {
	const target = new URL(origin).origin;
	return new Promise((resolve, reject) => {
		const began = Date.now();
		const onMessage = (e: MessageEvent) => {
			if (e.source !== w || e.origin !== target || e.data !== 'PONG') return;
			end();
			w.postMessage({ perfetto: { buffer, title, fileName, localOnly: true, keepApiOpen: false } }, target);
			resolve();
		};
		const timer = setInterval(() => {
			if (w.closed) return fail('The Perfetto window was closed');
			if (Date.now() - began > PATIENCE_MS) return fail(`No Perfetto UI answered at ${target}`);
			w.postMessage('PING', '*'); // no secret; the window may still be on its blank first page
		}, PING_MS);
		const end = () => {
			clearInterval(timer);
			removeEventListener('message', onMessage);
		};
		const fail = (why: string) => {
			end();
			reject(new Error(why));
		};
		addEventListener('message', onMessage);
	});
}
