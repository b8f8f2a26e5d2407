// SPDX-License-Identifier: Apache-2.0
// A window of time as three numbers: start, end, length. Each can be typed, with or without a unit.
import { useEffect, useRef, useState } from 'preact/hooks';
import { inUnit, parseTime } from '../lib/format';
import { rangeUnit, withPart } from '../lib/timeunit';
import type { Part } from '../lib/timeunit';
import type { Window } from './viewport';

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
	const typed = useRef<string | null>(null); // what `draft` will be once it is drawn: Enter may come before
	const type = (to: string | null) => {
		typed.current = to;
		setDraft(to);
	};
	useEffect(() => setBad(false), [text]);
	const apply = () => {
		const now = typed.current;
		if (now === null || skip.current) return;
		const ns = parseTime(now, unit);
		const ok = now === text || (ns !== null && onSet(ns));
		setBad(!ok);
		if (ok) type(null);
	};
	const onKey = (e: KeyboardEvent) => {
		const el = e.currentTarget as HTMLInputElement;
		if (e.key === 'Enter') apply();
		else if (e.key === 'Escape') {
			skip.current = true;
			type(null);
			el.blur();
			skip.current = false;
		}
	};
	const shown = draft ?? text;
	return (
		<input type="text" value={shown} size={Math.max(4, shown.length)} inputMode="decimal" aria-label={name} aria-invalid={bad} spellcheck={false}
			onFocus={(e) => e.currentTarget.select()} onInput={(e) => type(e.currentTarget.value)} onBlur={() => { apply(); type(null); }} onKeyDown={onKey} />
	);
}
