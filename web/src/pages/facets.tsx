// SPDX-License-Identifier: Apache-2.0
// Facet rail of the trace list: counts of a group add up to the list.
import { useState } from 'preact/hooks';
import { int } from '../lib/format';
import type { FacetValue } from '../lib/types';
import type { ListState } from './list_state';

const GROUPS = [['state', 'State'], ['job', 'Job'], ['host', 'Host']] as const;
const SHOWN = 8;
const STATE_ORDER = ['ready', 'indexing', 'queued', 'failed'];

type Props = { facets?: Record<string, FacetValue[]>; state: ListState; change: (s: Partial<ListState>) => void };

export function Facets(p: Props) {
	return (
		<aside class="rail" aria-label="Filters">
			{GROUPS.map(([key, title]) => <Group key={key} name={key} title={title} {...p} />)}
			<fieldset class="facet">
				<legend>Retention</legend>
				<label title="Traces that retention passes over">
					<input type="checkbox" checked={p.state.keep} onChange={() => p.change({ keep: !p.state.keep })} />
					<span class="name">Kept traces only</span>
				</label>
			</fieldset>
		</aside>
	);
}

function label(group: string, v: string): string {
	if (!v) return 'None given';
	return group === 'state' ? v.charAt(0).toUpperCase() + v.slice(1) : v;
}

function Group(p: Props & { name: 'state' | 'job' | 'host'; title: string }) {
	const [all, setAll] = useState(false);
	const ticked = p.state[p.name];
	let values = (p.facets?.[p.name] ?? []).map((f) => ({ value: f.value ?? '', count: f.count }));
	for (const t of ticked) if (!values.some((v) => v.value === t)) values.push({ value: t, count: 0 });
	if (p.name === 'state') values = values.sort((a, b) => STATE_ORDER.indexOf(a.value) - STATE_ORDER.indexOf(b.value));
	if (values.length === 0) return null;
	const shown = all ? values : values.filter((v, i) => i < SHOWN || ticked.includes(v.value));
	const rest = values.filter((v) => !shown.includes(v));
	const toggle = (v: string) => p.change({ [p.name]: ticked.includes(v) ? ticked.filter((x) => x !== v) : [...ticked, v] });
	return (
		<fieldset class="facet">
			<legend>{p.title}</legend>
			{shown.map((v) => (
				<label key={v.value}>
					<input type="checkbox" checked={ticked.includes(v.value)} onChange={() => toggle(v.value)} />
					<span class="name" title={v.value}>{label(p.name, v.value)}</span>
					<span class="count">{int(v.count)}</span>
				</label>
			))}
			{rest.length > 0 && (
				<button type="button" class="more" onClick={() => setAll(true)}>
					<span>{int(rest.length)} more</span>
					<span class="count">{int(rest.reduce((a, v) => a + v.count, 0))}</span>
				</button>
			)}
			{all && values.length > SHOWN && <button type="button" class="more" onClick={() => setAll(false)}>Show fewer</button>}
		</fieldset>
	);
}
