// SPDX-License-Identifier: Apache-2.0
// The timeline's view state in the query of the URL. Pure. Parameters that this page does not know are kept.

export type Selection = { track: number; ts: number; name: string };
export type TimelineState = {
	t0: number | null;
	t1: number | null;
	sel: Selection | null;
	q: string;
	pin: number[];
	range: { t0: number; t1: number } | null;
	tab: string;
	/** Sections and tracks that were opened (true) or closed. */
	open: [string, boolean][];
	/** The selected note. */
	note: string | null;
};
export const EMPTY_STATE: TimelineState = { t0: null, t1: null, sel: null, q: '', pin: [], range: null, tab: '', open: [], note: null };

function intOrNull(s: string | null): number | null {
	if (s === null || !/^-?\d{1,16}$/.test(s)) return null;
	const n = Number(s);
	return Number.isSafeInteger(n) ? n : null;
}

export function parseState(query: string): TimelineState {
	const p = new URLSearchParams(query);
	let t0 = intOrNull(p.get('t0'));
	let t1 = intOrNull(p.get('t1'));
	if (t0 === null || t1 === null || t1 <= t0) t0 = t1 = null;
	return {
		t0,
		t1,
		sel: parseSelection(p.get('sel')),
		q: p.get('q') ?? '',
		pin: (p.get('pin') ?? '').split(',').filter((s) => /^\d{1,9}$/.test(s)).map(Number),
		range: parseRange(p.get('range')),
		tab: p.get('tab') ?? '',
		open: parseOpen(p.get('open')),
		note: /^\d{1,19}$/.test(p.get('note') ?? '') ? p.get('note') : null,
	};
}

/** "track.ts.name": the name is last, since it may hold dots. */
export function parseSelection(s: string | null): Selection | null {
	const m = s === null ? null : /^(\d{1,9})\.(-?\d{1,16})\.([\s\S]*)$/.exec(s);
	return m ? { track: Number(m[1]), ts: Number(m[2]), name: m[3] } : null;
}

/** "t5,-p0": t5 is open, p0 is closed. */
export function parseOpen(s: string | null): [string, boolean][] {
	return (s ?? '').split(',').filter((k) => /^-?[gpt]-?\d{1,9}(:small)?$/.test(k))
		.map((k) => (k.startsWith('-') ? [k.slice(1), false] : [k, true]));
}

export function parseRange(s: string | null): { t0: number; t1: number } | null {
	const m = s === null ? null : /^(-?\d{1,16})\.\.(-?\d{1,16})$/.exec(s);
	if (!m) return null;
	const t0 = Number(m[1]);
	const t1 = Number(m[2]);
	return t1 > t0 ? { t0, t1 } : null;
}

/** The query of `state` on top of the parameters of `query`. */
export function writeState(query: string, s: TimelineState): string {
	const p = new URLSearchParams(query);
	const put = (k: string, v: string | null) => (v === null || v === '' ? p.delete(k) : p.set(k, v));
	put('t0', s.t0 === null ? null : String(Math.round(s.t0)));
	put('t1', s.t1 === null ? null : String(Math.round(s.t1)));
	put('sel', s.sel ? `${s.sel.track}.${s.sel.ts}.${s.sel.name}` : null);
	put('q', s.q);
	put('pin', s.pin.join(','));
	put('range', s.range ? `${Math.round(s.range.t0)}..${Math.round(s.range.t1)}` : null);
	put('tab', s.tab);
	put('note', s.note);
	put('open', s.open.map(([key, on]) => (on ? key : `-${key}`)).join(','));
	const out = p.toString();
	return out ? `?${out}` : '';
}
