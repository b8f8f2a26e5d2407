// SPDX-License-Identifier: Apache-2.0
// Every kernel of the trace, most time first: filter, sort by any column, only the rows on screen are in the page.
import { useMemo, useRef, useState } from 'preact/hooks';
import { Bar, Middle, Panel, Segmented, Swatch } from '../components/basics';
import { Icon } from '../components/icons';
import { columnUnit, durExact, fixed, int, pct, unitFor } from '../lib/format';
import { groupOf, kindLabel, kindNumber } from '../lib/kinds';
import type { Analysis, Kernel, Trace } from '../lib/types';
import { byKind, kernelHref, sortKernels } from './kernel_rows';
import type { Key } from './kernel_rows';

const ROW = 28;
const EXTRA = 8;

export function KernelPanel({ a, trace, scope }: { a: Analysis; trace: Trace; scope: string }) {
	const [text, setText] = useState('');
	const [by, setBy] = useState<'name' | 'kind'>('name');
	const [sort, setSort] = useState<{ key: Key; up: boolean }>({ key: 'sum_ns', up: false });
	const total = a.kernels.reduce((x, k) => x + k.sum_ns, 0);
	const rows = useMemo(() => {
		const needle = text.trim().toLowerCase();
		const base = by === 'kind' ? byKind(a.kernels) : a.kernels;
		return sortKernels(needle ? base.filter((k) => k.name.toLowerCase().includes(needle)) : base, sort.key, sort.up);
	}, [a.kernels, text, by, sort]);
	const uncl = a.kernels.filter((k) => groupOf(kindNumber(k.kind)) === 'uncl').reduce((x, k) => x + k.sum_ns, 0);
	const note = a.kernels.length === 0 ? '' : `${text ? `${int(rows.length)} of ` : ''}${int(by === 'kind' ? byKind(a.kernels).length : a.kernels.length)} ${by}s, not classified ${pct(total ? (100 * uncl) / total : 0)}${scope === 'all' ? '' : ', of the chosen steps'}`;
	const actions = (
		<>
			<Segmented label="Group by" value={by} onChange={setBy} options={[['name', 'name'], ['kind', 'kind']]} />
			<label class="field small"><Icon name="search" /><input type="search" value={text} placeholder="Filter" aria-label="Filter kernels" onInput={(e) => setText(e.currentTarget.value)} /></label>
		</>
	);
	return (
		<Panel title="Kernels" note={note} actions={actions} class="wide kernels">
			<Table rows={rows} sort={sort} setSort={setSort} total={total} trace={trace} by={by} />
		</Panel>
	);
}

type TableProps = { rows: Kernel[]; sort: { key: Key; up: boolean }; setSort: (s: { key: Key; up: boolean }) => void; total: number; trace: Trace; by: 'name' | 'kind' };

function Table({ rows, sort, setSort, total, trace, by }: TableProps) {
	const [top, setTop] = useState(0);
	const box = useRef<HTMLDivElement>(null);
	const max = Math.max(1, ...rows.map((k) => k.sum_ns));
	const u = unitFor(max);
	const each = columnUnit(rows.map((k) => k.mean_ns));
	const height = box.current?.clientHeight ?? 400;
	const from = Math.max(0, Math.floor(top / ROW) - EXTRA);
	const to = Math.min(rows.length, Math.ceil((top + height) / ROW) + EXTRA);
	const cols: [Key, string, boolean][] = [
		['name', 'Name', false], ['kind', 'Kind', false], ['count', 'Count', true], ['sum_ns', `Total, ${u.name}`, true], ['share', 'Share', true],
		['mean_ns', `Mean, ${each.name}`, true], ['min_ns', `Min, ${each.name}`, true], ['max_ns', `Max, ${each.name}`, true],
	];
	const n = (ns: number) => fixed(ns / each.ns, each.ns === 1 ? 0 : each.ns === 1e3 ? 1 : 2);
	return (
		<div class="table-scroll windowed" ref={box} tabIndex={0} role="region" aria-label="Kernels" onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
			<table class="data" aria-rowcount={rows.length + 1}>
				<colgroup><col /><col style={{ width: '116px' }} /><col style={{ width: '72px' }} /><col style={{ width: '190px' }} /><col style={{ width: '70px' }} /><col style={{ width: '84px' }} /><col style={{ width: '80px' }} /><col style={{ width: '84px' }} /></colgroup>
				<thead>
					<tr>
						{cols.map(([key, title, num]) => {
							const on = sort.key === key;
							return (
								<th key={key} scope="col" class={num ? 'num' : ''} aria-sort={on ? (sort.up ? 'ascending' : 'descending') : undefined}>
									<button type="button" class={on ? 'on' : ''} onClick={() => setSort({ key, up: on ? !sort.up : !num })}>
										{on && <Icon name={sort.up ? 'sortUp' : 'sortDown'} size={12} />}{title}
									</button>
								</th>
							);
						})}
					</tr>
				</thead>
				<tbody>
					{from > 0 && <tr class="pad-row" aria-hidden="true" style={{ height: `${from * ROW}px` }}><td colSpan={8} /></tr>}
					{rows.slice(from, to).map((k, i) => (
						<tr key={k.name + k.kind} aria-rowindex={from + i + 2}>
							<th scope="row" class={by === 'name' ? 'mono cut' : 'cut'} title={k.name}>
								{by === 'name' ? <a href={kernelHref(trace.id, k)} class="cell-link"><Swatch kind={k.kind} /><Middle text={k.name} tail={20} /></a> : <><Swatch kind={k.kind} />{k.name}</>}
							</th>
							<td>{kindLabel(k.kind)}</td>
							<td class="num">{int(k.count)}</td>
							<td class="num" title={durExact(k.sum_ns)}><span class="bar-cell"><Bar share={k.sum_ns / max} group={groupOf(kindNumber(k.kind))} /><span>{fixed(k.sum_ns / u.ns, u.ns === 1 ? 0 : 2)}</span></span></td>
							<td class="num">{pct(total ? (100 * k.sum_ns) / total : 0)}</td>
							<td class="num" title={durExact(k.mean_ns)}>{n(k.mean_ns)}</td>
							<td class="num" title={durExact(k.min_ns)}>{n(k.min_ns)}</td>
							<td class="num" title={durExact(k.max_ns)}>{n(k.max_ns)}</td>
						</tr>
					))}
					{to < rows.length && <tr class="pad-row" aria-hidden="true" style={{ height: `${(rows.length - to) * ROW}px` }}><td colSpan={8} /></tr>}
				</tbody>
			</table>
			{rows.length === 0 && <p class="hint dim">No kernel matches.</p>}
		</div>
	);
}
