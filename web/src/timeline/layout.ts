// SPDX-License-Identifier: Apache-2.0
// Which rows the timeline shows and where. Pure: tracks and what is folded in, rows with y and height (CSS px) out.
import { KIND, kindNumber } from '../lib/kinds';
import type { Process, Track } from '../lib/types';

export const SECTION_H = 20;
export const HOST_H = 16;
export const COUNTER_H = 34;
const FOLD_H = 20;
/** Threads deeper than this start cut to it; "+ n rows" opens them. */
export const MAX_DEPTHS = 8;
/** Processes with more threads than this start with the small ones folded together. */
const MAX_THREADS = 4;

export type Row = {
	key: string;
	type: 'section' | 'track' | 'fold';
	y: number;
	h: number;
	title: string;
	note: string;
	/** Track of a `track` row; tracks behind a `fold` row. */
	track: Track | null;
	folded: Track[];
	open: boolean;
	foldable: boolean;
	pinned: boolean;
	/** Rows of slices shown, and how many the track has. */
	depths: number;
	/** y of depth 0 inside the row, height of depth 0 and of the others, without the gap of 1 px. */
	pad: number;
	first: number;
	rest: number;
};

export type Folds = {
	/** Keys of sections and tracks that the user closed or opened; absent = as it comes. */
	open: ReadonlyMap<string, boolean>;
	pins: readonly number[];
};

export type Layout = { rows: Row[]; height: number };

export function trackKey(id: number): string {
	return `t${id}`;
}

export function depthTop(r: Row, depth: number): number {
	return r.y + r.pad + (depth === 0 ? 0 : r.first + (depth - 1) * r.rest);
}

export function depthHeight(r: Row, depth: number): number {
	return (depth === 0 ? r.first : r.rest) - 1;
}

/** The depth at `y` of row `r`, or -1 in its padding. */
export function depthAt(r: Row, y: number): number {
	const d = y - r.y - r.pad;
	if (d < 0) return -1;
	const depth = d < r.first ? 0 : 1 + Math.floor((d - r.first) / r.rest);
	return depth < r.depths ? depth : -1;
}

export function rowAt(rows: readonly Row[], y: number): Row | null {
	let lo = 0;
	let hi = rows.length - 1;
	while (lo <= hi) {
		const m = (lo + hi) >> 1;
		const r = rows[m];
		if (y < r.y) hi = m - 1;
		else if (y >= r.y + r.h) lo = m + 1;
		else return r;
	}
	return null;
}

export function trackLabel(t: Track): string {
	switch (t.kind) {
		case 'stream':
			return `Stream ${t.stream ?? t.tid ?? '?'}${streamUse(t)}`;
		case 'annotation':
			return t.stream !== null && t.stream !== undefined ? `Annotations, stream ${t.stream}` : 'Annotations';
		case 'counter':
			return t.name || 'Counter';
		case 'async':
			return t.name || `Async ${t.tid ?? ''}`;
		default:
			return threadLabel(t);
	}
}

function streamUse(t: Track): string {
	switch (kindNumber(t.main_kind)) {
		case KIND.COMPUTE: return ', compute';
		case KIND.COMM: return ', communication';
		case KIND.MEMCPY: case KIND.MEMSET: return ', copies';
		case KIND.SYNC: return ', sync';
		default: return '';
	}
}

function threadLabel(t: Track): string {
	const name = (t.name ?? '').replace(/^thread\s+/i, '').trim();
	const tid = t.tid === null || t.tid === undefined ? '' : String(t.tid);
	if (!name) return `Thread ${tid}`;
	if (!tid || name === tid) return `Thread ${name}`;
	return name.startsWith(tid) ? `Thread ${name.replace(/\s*\(/, ', ').replace(/\)$/, '')}` : `Thread ${tid}, ${name}`;
}

function processLabel(p: Process | undefined): string {
	if (!p) return 'Process';
	const name = p.name?.trim();
	const pid = p.pid === null || p.pid === undefined ? '' : String(p.pid);
	const head = name ? (pid && !name.includes(pid) ? `${name} ${pid}` : name) : `Process ${pid}`;
	return p.labels && p.labels.trim() ? `${head}, ${p.labels.trim()}` : head;
}

type Group = { key: string; title: string; gpu: boolean; tracks: Track[] };

function groups(tracks: readonly Track[], processes: readonly Process[]): Group[] {
	const out = new Map<string, Group>();
	const byIndex = new Map(processes.map((p) => [p.index, p]));
	for (const t of tracks) {
		const gpu = t.kind !== 'thread' && t.kind !== 'async' && typeof t.device === 'number' && t.device >= 0;
		const key = gpu ? `g${t.device}` : `p${t.process ?? -1}`;
		let g = out.get(key);
		if (!g) {
			g = { key, gpu, title: gpu ? `GPU ${t.device}` : processLabel(byIndex.get(t.process ?? -1)), tracks: [] };
			out.set(key, g);
		}
		g.tracks.push(t);
	}
	// Host sections first, then devices; counters close their section.
	const list = [...out.values()];
	for (const g of list) g.tracks = [...g.tracks.filter((t) => t.kind !== 'counter'), ...g.tracks.filter((t) => t.kind === 'counter')];
	// Sections that hold next to nothing (the profiler's own marks) come last.
	const slight = (g: Group) => g.tracks.reduce((a, t) => a + t.slices + (t.samples ?? 0), 0) < 2;
	const host = list.filter((g) => !g.gpu);
	return [...host.filter((g) => !slight(g)), ...list.filter((g) => g.gpu), ...host.filter(slight)];
}

function trackRow(t: Track, y: number, folds: Folds, key: string): Row {
	const gpu = t.kind === 'stream';
	const big = gpu && kindNumber(t.main_kind) === KIND.COMPUTE;
	const first = gpu ? (big ? 23 : 19) : HOST_H;
	const pad = gpu ? 3 : 2;
	const all = Math.max(1, t.depths);
	const closed = folds.open.get(trackKey(t.id)) === false;
	const full = folds.open.get(trackKey(t.id)) === true;
	const depths = t.kind === 'counter' ? 0 : closed ? 1 : full ? all : Math.min(all, MAX_DEPTHS);
	const h = t.kind === 'counter' ? COUNTER_H : first + (depths - 1) * HOST_H + 2 * pad - 1 + (gpu ? 0 : 1);
	return {
		key, type: 'track', y, h, title: trackLabel(t), note: '', track: t, folded: [], open: !closed,
		foldable: all > 1 && t.kind !== 'counter', pinned: folds.pins.includes(t.id), depths, pad, first, rest: HOST_H,
	};
}

function plainRow(key: string, type: 'section' | 'fold', y: number, title: string, open: boolean): Row {
	return {
		key, type, y, h: type === 'fold' ? FOLD_H : SECTION_H, title, note: '', track: null, folded: [], open, foldable: true,
		pinned: false, depths: type === 'fold' ? 1 : 0, pad: 4, first: 12, rest: HOST_H,
	};
}

function splitSmall(g: Group, folds: Folds): [Track[], Track[]] {
	const threads = g.tracks.filter((t) => t.kind === 'thread');
	if (g.gpu || threads.length <= MAX_THREADS) return [g.tracks, []];
	const biggest = new Set([...threads].sort((a, b) => b.slices - a.slices).slice(0, MAX_THREADS - 1).map((t) => t.id));
	const isSmall = (t: Track) => t.kind === 'thread' && !biggest.has(t.id) && !folds.open.get(trackKey(t.id));
	const small = g.tracks.filter(isSmall);
	return small.length < 2 ? [g.tracks, []] : [g.tracks.filter((t) => !isSmall(t)), small];
}

/** All rows below the pinned ones. */
export function buildLayout(tracks: readonly Track[], processes: readonly Process[], folds: Folds): Layout {
	const rows: Row[] = [];
	let y = 0;
	const push = (r: Row) => {
		rows.push(r);
		y += r.h;
	};
	for (const g of groups(tracks, processes)) {
		const open = folds.open.get(g.key) !== false;
		const section = plainRow(g.key, 'section', y, g.title, open);
		section.note = `${g.tracks.length} ${g.tracks.length === 1 ? 'track' : 'tracks'}`;
		push(section);
		if (!open) continue;
		const [shown, small] = splitSmall(g, folds);
		const foldKey = `${g.key}:small`;
		for (const t of shown) push(trackRow(t, y, folds, trackKey(t.id)));
		if (small.length === 0) continue;
		const smallOpen = folds.open.get(foldKey) === true;
		const fold = plainRow(foldKey, 'fold', y, `${small.length} more threads`, smallOpen);
		fold.folded = smallOpen ? [] : small;
		push(fold);
		if (smallOpen) for (const t of small) push(trackRow(t, y, folds, trackKey(t.id)));
	}
	return { rows, height: y };
}

/** The rows that repeat pinned tracks on top; their y starts at 0 of their own area. */
export function buildPinned(tracks: readonly Track[], folds: Folds): Layout {
	const rows: Row[] = [];
	const pinned = folds.pins.map((id) => tracks.find((t) => t.id === id)).filter((t): t is Track => !!t);
	if (pinned.length === 0) return { rows, height: 0 };
	const head = plainRow('pinned', 'section', 0, 'Pinned', true);
	head.note = String(pinned.length);
	head.foldable = false;
	rows.push(head);
	let y = head.h;
	for (const t of pinned) {
		const r = trackRow(t, y, folds, `pin${t.id}`);
		r.note = typeof t.device === 'number' && t.device >= 0 ? `GPU ${t.device}` : '';
		rows.push(r);
		y += r.h;
	}
	return { rows, height: y };
}
