// SPDX-License-Identifier: Apache-2.0
// Rows of the trace list: ready, indexing (stage and progress) and failed (reason and place).
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Bar, Middle, Swatch } from '../components/basics';
import { can } from '../app/session';
import { Icon } from '../components/icons';
import { KeptBadge } from '../components/deletion';
import { send } from '../lib/api';
import { dayTime, dateTime, dur, int, middle, pct, short, span } from '../lib/format';
import { stageLabel, traceTitle, worldSize } from '../lib/text';
import type { TraceRow } from '../lib/types';
import { rowKey } from './list_state';
import type { ListState, SortKey } from './list_state';

type Col = { key: SortKey | null; title: ComponentChildren; num?: boolean; width?: number; asc?: boolean };
const EXPOSED_MAX = 40;

const COLS: readonly Col[] = [
	{ key: 'job', title: 'Job', asc: true, width: 168 },
	{ key: 'host', title: 'Host', asc: true, width: 92 },
	{ key: 'rank', title: 'Rank', num: true, asc: true, width: 70 },
	{ key: 'started', title: 'Started, UTC', num: true, width: 116 },
	{ key: 'duration', title: 'Duration', num: true, width: 82 },
	{ key: 'busy', title: <><Swatch group="neutral" />GPU busy, 0–100 %</>, num: true, width: 148 },
	{ key: 'exposed', title: <><Swatch group="comm" />Exposed, 0–40 %</>, num: true, width: 140 },
	{ key: 'slices', title: 'Slices', num: true, width: 86 },
	{ key: null, title: 'File' },
	{ key: 'state', title: 'State', asc: true, width: 96 },
];

type Props = {
	rows: TraceRow[];
	state: ListState;
	change: (s: Partial<ListState>, how?: 'push' | 'replace') => void;
	onDetails: (bundle: string) => void;
	onChanged: () => void;
	footer: ComponentChildren;
};

export function ListTable(p: Props) {
	const keys = p.rows.map(rowKey);
	const ticks = new Set(p.state.tick);
	const all = keys.length > 0 && keys.every((k) => ticks.has(k));
	const tick = (k: string) => p.change({ tick: ticks.has(k) ? p.state.tick.filter((x) => x !== k) : [...p.state.tick, k] }, 'replace');
	const sort = (c: Col) => {
		if (!c.key) return;
		const same = p.state.sort === c.key;
		const first = c.asc ? 'asc' : 'desc';
		p.change({ sort: c.key, order: same ? (p.state.order === 'asc' ? 'desc' : 'asc') : first });
	};
	return (
		<div class="table-box">
			<div class="table-scroll" tabIndex={0} role="region" aria-label="Traces">
				<table class="data list">
					<colgroup><col style={{ width: '34px' }} />{COLS.map((c, i) => <col key={i} style={c.width ? { width: `${c.width}px` } : undefined} />)}</colgroup>
					<thead>
						<tr>
							<th scope="col"><input type="checkbox" aria-label="All rows of this page" checked={all} onChange={() => p.change({ tick: all ? [] : keys }, 'replace')} /></th>
							{COLS.map((c, i) => {
								const on = c.key !== null && p.state.sort === c.key;
								return (
									<th key={i} scope="col" class={c.num ? 'num' : ''} aria-sort={on ? (p.state.order === 'asc' ? 'ascending' : 'descending') : undefined}>
										{c.key ? (
											<button type="button" onClick={() => sort(c)} class={on ? 'on' : ''}>
												{on && <Icon name={p.state.order === 'asc' ? 'sortUp' : 'sortDown'} size={12} />}
												{c.title}
											</button>
										) : c.title}
									</th>
								);
							})}
						</tr>
					</thead>
					<tbody>
						{p.rows.map((r) => <Row key={rowKey(r)} r={r} ticked={ticks.has(rowKey(r))} onTick={() => tick(rowKey(r))} onDetails={p.onDetails} onChanged={p.onChanged} />)}
					</tbody>
				</table>
			</div>
			<footer class="table-foot">
				{p.footer}
				<span class="grow" />
				<span class="dim">Busy: any kernel or copy running. Exposed: communication outside compute. Share of the GPU window.</span>
			</footer>
		</div>
	);
}

type RowProps = { r: TraceRow; ticked: boolean; onTick: () => void; onDetails: (b: string) => void; onChanged: () => void };

function Row({ r, ticked, onTick, onDetails, onChanged }: RowProps) {
	const year = new Date().getUTCFullYear();
	const name = r.job || r.name;
	const link = r.id ? <a href={`/traces/${r.id}`} title={traceTitle(r)}><Middle text={name} tail={10} /></a> : <Middle text={name} tail={10} />;
	const ready = r.state === 'ready';
	return (
		<tr class={`s-${r.state} ${ticked ? 'selected' : ''}`}>
			<td><input type="checkbox" aria-label={`Tick ${traceTitle(r)}`} checked={ticked} onChange={onTick} /></td>
			<th scope="row" class="cut">{link}</th>
			<td class="cut" title={r.host ?? ''}>{r.host ?? ''}</td>
			<td class="num">{rank(r)}</td>
			<td class="num" title={r.started ? dateTime(r.started) : `received ${dateTime(r.received_at)}; the file has no date`}>{dayTime(r.started, year)}</td>
			<td class="num">{r.dur_ns ? dur(r.dur_ns) : ''}</td>
			{ready ? <Measures r={r} /> : <td colSpan={4} class="wide">{r.state === 'failed' ? <Failed r={r} onDetails={onDetails} onChanged={onChanged} /> : <Working r={r} />}</td>}
			<td><StateCell r={r} onDetails={onDetails} /></td>
		</tr>
	);
}

function rank(r: TraceRow) {
	if (r.rank === null || r.rank === undefined || r.rank < 0) return '';
	return <>{r.rank}{worldSize(r) > 0 && <span class="dim"> of {worldSize(r)}</span>}</>;
}

function Measures({ r }: { r: TraceRow }) {
	const share = (v: number | null | undefined, max: number, group: string) =>
		typeof v === 'number' ? <span class="bar-cell"><Bar share={v / max} group={group} /><span>{pct(v)}</span></span> : <span class="dim">no GPU work</span>;
	return (
		<>
			<td class="num">{share(r.gpu_busy_pct, 100, 'neutral')}</td>
			<td class="num">{typeof r.gpu_busy_pct === 'number' ? share(r.exposed_comm_pct, EXPOSED_MAX, 'comm') : ''}</td>
			<td class="num">{r.slices !== undefined ? int(r.slices) : ''}</td>
			<td class="dim file" title={r.rebuildable === false ? `${r.name}: the uploaded file was let go, so the trace cannot be rebuilt` : r.name}>
				<span><Middle text={r.name} tail={12} />{r.keep && <KeptBadge />}{r.rebuildable === false && <span class="badge dim">no file</span>}</span>
			</td>
		</>
	);
}

export function Working({ r }: { r: Pick<TraceRow, 'state' | 'stage' | 'progress'> }) {
	if (r.state === 'queued') return <span class="dim">Waiting for a free indexer</span>;
	const g = r.progress;
	const share = g && g.total > 0 ? Math.min(1, g.done / g.total) : 0;
	const left = g?.elapsed_ms && share > 0.05 && share < 1 ? (g.elapsed_ms / 1000) * (1 / share - 1) : null;
	return (
		<span class="working">
			<span class="stage">{stageLabel(r.stage)}</span>
			<progress value={share} max={1} aria-label={stageLabel(r.stage)} />
			<span>{g && g.total > 0 ? pct(share * 100, 0) : ''}</span>
			<span class="dim">{g?.events ? `${short(g.events)} events` : ''}{left !== null ? `, about ${span(left)} left` : ''}</span>
		</span>
	);
}

function Failed({ r, onDetails, onChanged }: { r: TraceRow; onDetails: (b: string) => void; onChanged: () => void }) {
	const [note, setNote] = useState('');
	const again = () => {
		send('POST', `/bundles/${r.bundle}/reindex`).then(onChanged, (e: Error) => setNote(e.message));
	};
	const e = r.error;
	return (
		<span class="failure">
			<span class="reason" title={e?.message}>{note || e?.message || 'No reason was given'}{typeof e?.offset === 'number' && e.offset >= 0 ? `, at byte ${int(e.offset)}` : ''}</span>
			{e?.file && <span class="dim">in {middle(e.file, 36)}</span>}
			{can('upload') && <button type="button" class="as-link" onClick={again}>Re-index</button>}
			<button type="button" class="as-link" onClick={() => onDetails(r.bundle)}>Details</button>
		</span>
	);
}

const STATES: Record<string, [string, string]> = {
	ready: ['check', 'Ready'],
	indexing: ['clock', 'Indexing'],
	queued: ['clock', 'Queued'],
	failed: ['failed', 'Failed'],
};

function StateCell({ r, onDetails }: { r: TraceRow; onDetails: (b: string) => void }) {
	const [icon, text] = STATES[r.state] ?? ['help', r.state];
	return (
		<button type="button" class={`state s-${r.state}`} onClick={() => onDetails(r.bundle)} title="Details of this upload">
			<Icon name={icon} size={14} />{text}
		</button>
	);
}
