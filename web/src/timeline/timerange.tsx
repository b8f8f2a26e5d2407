// SPDX-License-Identifier: Apache-2.0
// A window of time as three numbers: start, end, length. Each can be typed, with or without a unit.
import { useEffect, useRef, useState } from 'preact/hooks';
import { inUnit, parseTime } from '../lib/format';
import { axisUnit, decimalsForStep, niceStep } from '../lib/ticks';
import type { Window } from './viewport';

/** Unit and digits with which 1/1000 of the window is visible, and never less than the window needs. */
export function rangeUnit(w: Window): { name: string; ns: number; decimals: number } {
	const step = Math.max(1, niceStep((w.t1 - w.t0) / 2000));
	const u = axisUnit(Math.max(Math.abs(w.t0), Math.abs(w.t1)), Math.max(step, 1));
	return { ...u, decimals: decimalsForStep(step / u.ns) };
}

type Part = 't0' | 't1' | 'len';

/** The window after `part` was set to `ns`; null when it would be empty. */
export function withPart(w: Window, part: Part, ns: number): Window | null {
	const out = part === 't0' ? { t0: ns, t1: w.t1 } : part === 't1' ? { t0: w.t0, t1: ns } : { t0: w.t0, t1: w.t0 + ns };
	return out.t1 > out.t0 ? out : null;
}

export function TimeRange({ label, value, onChange, strong }: { label: string; value: Window; onChange: (w: Window) => void; strong?: boolean }) {
	const u = rangeUnit(value);
	const set = (part: Part) => (ns: number) => {
		const w = withPart(value, part, ns);
		if (w) onChange(w);
		return w !== null;
	};
	const text = (ns: number) => inUnit(ns, u.ns, u.decimals);
	return (
		<div class={`time-range ${strong ? 'strong' : ''}`} role="group" aria-label={label}>
			<span class="dim">{label}</span>
			<Field name={`${label} from`} text={text(value.t0)} unit={u.ns} onSet={set('t0')} />
			<span class="dim">to</span>
			<Field name={`${label} to`} text={text(value.t1)} unit={u.ns} onSet={set('t1')} />
			<span class="unit">{u.name}</span>
			<span class="dim">length</span>
			<Field name={`${label} length`} text={text(value.t1 - value.t0)} unit={u.ns} onSet={set('len')} />
			<span class="unit">{u.name}</span>
		</div>
	);
}

function Field({ name, text, unit, onSet }: { name: string; text: string; unit: number; onSet: (ns: number) => boolean }) {
	const [draft, setDraft] = useState<string | null>(null);
	const [bad, setBad] = useState(false);
	const skip = useRef(false);
	useEffect(() => setBad(false), [text]);
	const apply = () => {
		if (draft === null || skip.current) return;
		const ns = parseTime(draft, unit);
		const ok = draft === text || (ns !== null && onSet(ns));
		setBad(!ok);
		if (ok) setDraft(null);
	};
	const onKey = (e: KeyboardEvent) => {
		const el = e.currentTarget as HTMLInputElement;
		if (e.key === 'Enter') apply();
		else if (e.key === 'Escape') {
			skip.current = true;
			setDraft(null);
			el.blur();
			skip.current = false;
		}
	};
	const shown = draft ?? text;
	return (
		<input type="text" value={shown} size={Math.max(4, shown.length)} inputMode="decimal" aria-label={name} aria-invalid={bad} spellcheck={false}
			onFocus={(e) => e.currentTarget.select()} onInput={(e) => setDraft(e.currentTarget.value)} onBlur={() => { apply(); setDraft(null); }} onKeyDown={onKey} />
	);
}
