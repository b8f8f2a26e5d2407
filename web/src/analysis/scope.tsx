// SPDX-License-Identifier: Apache-2.0
// Which steps the figures cover: all, all but the last (often cut short by the profiler), or a range of step numbers.
import { useState } from 'preact/hooks';
import { Segmented } from '../components/basics';
import type { Step } from '../lib/types';

/** Numbers as in the names of the steps ("ProfilerStep#1224" → 1224), else their positions. */
export function stepNumber(s: Step, i: number): number {
	if (typeof s.number === 'number') return s.number;
	const m = /#(\d+)\s*$/.exec(s.name);
	return m ? Number(m[1]) : i;
}

export function ScopePicker({ steps, value, onChange }: { steps: Step[]; value: string; onChange: (v: string) => void }) {
	const first = stepNumber(steps[0], 0);
	const last = stepNumber(steps[steps.length - 1], steps.length - 1);
	const m = /^(\d+)-(\d+)$/.exec(value);
	const [from, setFrom] = useState(m ? m[1] : String(first));
	const [to, setTo] = useState(m ? m[2] : String(last));
	const [own, setOwn] = useState(!!m);
	const mode = own ? 'range' : value === 'no_last' ? 'no_last' : 'all';
	const apply = (a: string, b: string) => {
		if (/^\d+$/.test(a) && /^\d+$/.test(b) && Number(a) <= Number(b)) onChange(`${a}-${b}`);
	};
	const pick = (v: 'all' | 'no_last' | 'range') => {
		setOwn(v === 'range');
		if (v === 'range') apply(from, to);
		else onChange(v);
	};
	const wrong = own && !(Number(from) <= Number(to));
	return (
		<div class="scope" role="group" aria-label="Steps">
			<span class="dim">Steps</span>
			<Segmented label="Steps" value={mode} onChange={pick} options={[['all', `all ${steps.length}`], ['no_last', 'without the last'], ['range', 'from–to']]} />
			{own && (
				<span class="time-range">
					<input type="text" inputMode="numeric" size={5} value={from} aria-label="First step" aria-invalid={wrong} onInput={(e) => setFrom(e.currentTarget.value)}
						onChange={(e) => apply(e.currentTarget.value, to)} />
					<span class="dim">to</span>
					<input type="text" inputMode="numeric" size={5} value={to} aria-label="Last step" aria-invalid={wrong} onInput={(e) => setTo(e.currentTarget.value)}
						onChange={(e) => apply(from, e.currentTarget.value)} />
				</span>
			)}
		</div>
	);
}
