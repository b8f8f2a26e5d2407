// SPDX-License-Identifier: Apache-2.0
// What runs inside the selected range, by name, kind or track. Totals are clipped to the range; the last lines say
// what is not shown, and why the sum differs from busy.
import { useState } from 'preact/hooks';
import { Bar, Button, ErrorPanel, Middle, Segmented, Skeleton, Swatch } from '../components/basics';
import { can } from '../app/session';
import { getJson } from '../lib/api';
import { columnUnit, dur, fixed, int, pct, unitFor } from '../lib/format';
import { groupOf, kindLabel, kindNumber } from '../lib/kinds';
import { useLoad } from '../lib/load';
import type { Aggregate, AggRow } from '../lib/types';
import { trackLabel } from './layout';
import type { TimelineModel } from './model';
import { TimeRange } from './timerange';
import type { Window } from './viewport';

type By = 'name' | 'kind' | 'track';
type Scope = 'gpu' | 'host';
const FIRST_ROWS = 60;
const MAX_VIEW_SLICES = 2e6;

export function scopeTracks(model: TimelineModel, scope: Scope): number[] {
	return model.tracks.filter((t) => (scope === 'gpu' ? t.kind === 'stream' : t.kind === 'thread' || t.kind === 'async')).map((t) => t.id);
}

/** Without a range the visible part is summed up, unless that would be most of a huge trace. */
function viewAsRange(model: TimelineModel): Window | null {
	const v = model.view.value;
	const share = (v.t1 - v.t0) / (model.lim.t1 - model.lim.t0);
	if (model.trace.slices * share > MAX_VIEW_SLICES) return null;
	const t0 = Math.max(0, Math.round(v.t0));
	return { t0, t1: Math.max(t0 + 1, Math.round(v.t1)) };
}

export function RangeTable({ model }: { model: TimelineModel }) {
	const own = model.range.value;
	const r = own ?? viewAsRange(model);
	const [by, setBy] = useState<By>('name');
	const hasGpu = scopeTracks(model, 'gpu').length > 0;
	const [scope, setScope] = useState<Scope>(hasGpu ? 'gpu' : 'host');
	const tracks = scopeTracks(model, scope);
	const key = r ? `${Math.round(r.t0)}..${Math.round(r.t1)} ${by} ${scope}` : null;
	const agg = useLoad<Aggregate>(key, async (signal) => {
		await new Promise((done) => setTimeout(done, own ? 90 : 300)); // while it moves, only where it stops is asked for
		if (signal.aborted) throw new DOMException('', 'AbortError');
		const params = { t0: Math.round(r!.t0), t1: Math.round(r!.t1), by, tracks: tracks.length <= 256 ? tracks.join(',') : undefined };
		return getJson(`/traces/${model.trace.id}/aggregate`, params, signal);
	});
	if (!r) {
		return (
			<div class="hint">
				<p><b>No range selected.</b> Drag over the tracks to sum up what runs there, or take the part that is visible.</p>
				<Button small onClick={() => model.mark()}>Use the visible part</Button> <kbd>M</kbd>
			</div>
		);
	}
	return (
		<>
			<div class="d-tools">
				{own ? <TimeRange label="range" strong value={own} onChange={(w) => model.setRange(w, true)} /> : <span class="dim">Visible part. Drag over the tracks to select a range <kbd>M</kbd></span>}
				<span class="grow" />
				{hasGpu && <Segmented label="Tracks" value={scope} onChange={setScope} options={[['gpu', 'GPU work'], ['host', 'host']]} />}
				<Segmented label="Group by" value={by} onChange={setBy} options={[['name', 'name'], ['kind', 'kind'], ['track', 'track']]} />
				{own && can('upload') && <Button small icon="note" title="Note on this range (N)" onClick={() => model.startNote()}>Note</Button>}
				{own && <Button small quiet icon="cross" label="Clear the range" onClick={() => model.setRange(null, true)} />}
			</div>
			{agg.error && <ErrorPanel error={agg.error} what="The range could not be summed up" retry={agg.reload} />}
			{!agg.data && !agg.error && <Skeleton rows={5} />}
			{agg.data && <AggTable key={own ? 'range' : 'view'} a={agg.data} by={by} range={r} model={model} scope={scope} />}
		</>
	);
}

function keyText(row: AggRow, by: By, model: TimelineModel): string {
	if (by === 'kind') return kindLabel(row.key);
	if (by === 'track') {
		const t = model.byId.get(Number(row.key));
		if (!t) return String(row.key);
		return typeof t.device === 'number' && t.device >= 0 ? `GPU ${t.device}, ${trackLabel(t).toLowerCase()}` : trackLabel(t);
	}
	return String(row.key);
}

function AggTable({ a, by, range, model, scope }: { a: Aggregate; by: By; range: Window; model: TimelineModel; scope: Scope }) {
	const [all, setAll] = useState(false);
	// Host slices nest and run side by side, so their share is of their sum; GPU work is compared with the range.
	const len = scope === 'gpu' ? range.t1 - range.t0 : Math.max(1, a.total_ns);
	const rows = all ? a.rows : a.rows.slice(0, FIRST_ROWS);
	const rest = a.rows.slice(rows.length);
	const top = Math.max(1, ...a.rows.map((r) => r.total_ns));
	const u = unitFor(top);
	const each = columnUnit(a.rows.map((r) => r.mean_ns));
	const more = { keys: rest.length + (a.other?.keys ?? 0), count: sum(rest, 'count') + (a.other?.count ?? 0), total: sum(rest, 'total_ns') + (a.other?.total_ns ?? 0) };
	const sel = model.sel.value?.name;
	const n3 = (ns: number) => fixed(ns / u.ns, u.ns === 1 ? 0 : 3);
	const n = (ns: number) => fixed(ns / each.ns, each.ns === 1 ? 0 : each.ns >= 1e6 || ns < 100 * each.ns ? 2 : 1);
	return (
		<div class="table-scroll" tabIndex={0} role="region" aria-label="Range table">
			<table class="data agg">
				<colgroup><col /><col style={{ width: '122px' }} /><col style={{ width: '58px' }} /><col style={{ width: '138px' }} /><col style={{ width: '66px' }} /><col style={{ width: '76px' }} /><col style={{ width: '72px' }} /><col style={{ width: '78px' }} /></colgroup>
				<thead>
					<tr>
						<th scope="col">{by === 'track' ? 'Track' : by === 'kind' ? 'Kind' : 'Name'}, clipped to the {model.range.value ? 'range' : 'visible part'}</th>
						<th scope="col">{by === 'name' ? 'Kind' : ''}</th><th scope="col" class="num">Count</th>
						<th scope="col" class="num on">Total, {u.name}</th><th scope="col" class="num" title={scope === 'gpu' ? 'of the range' : 'of the sum of slices'}>{scope === 'gpu' ? 'Share' : 'Of sum'}</th>
						<th scope="col" class="num">Mean, {each.name}</th><th scope="col" class="num">Min, {each.name}</th><th scope="col" class="num">Max, {each.name}</th>
					</tr>
				</thead>
				<tbody>
					{rows.map((r) => {
						const text = keyText(r, by, model);
						const group = groupOf(kindNumber(by === 'kind' ? r.key : r.kind));
						return (
							<tr key={String(r.key)} class={by === 'name' && r.key === sel ? 'selected' : ''}>
								<th scope="row" class={by === 'name' ? 'mono cut' : 'cut'} title={text}>
									{by === 'name' ? <button type="button" class="cell-link" onClick={() => model.hits.set(text)} title={`${text}\nClick to search for it`}><Middle text={text} tail={16} /></button> : text}
								</th>
								<td>{by === 'name' ? <><Swatch kind={r.kind} />{kindLabel(r.kind)}</> : <Swatch group={group} />}</td>
								<td class="num">{int(r.count)}</td>
								<td class="num"><span class="bar-cell"><Bar share={r.total_ns / top} group={group} /><span>{n3(r.total_ns)}</span></span></td>
								<td class="num">{pct((100 * r.total_ns) / len)}</td>
								<td class="num">{n(r.mean_ns)}</td><td class="num">{n(r.min_ns)}</td><td class="num">{n(r.max_ns)}</td>
							</tr>
						);
					})}
					{more.keys > 0 && (
						<tr>
							<th scope="row"><button type="button" class="as-link" onClick={() => setAll(true)} disabled={rest.length === 0}>{int(more.keys)} more {by}s</button></th><td />
							<td class="num">{int(more.count)}</td><td class="num">{n3(more.total)}</td><td class="num">{pct((100 * more.total) / len)}</td><td /><td /><td />
						</tr>
					)}
				</tbody>
				<tfoot>
					<tr>
						<th scope="row">Sum of slices</th><td />
						<td class="num">{int(a.count)}</td><td class="num">{n3(a.total_ns)}</td>
						<td colSpan={4} class="num">
							{scope === 'gpu' ? <>Busy <b>{dur(a.busy_ns)}</b>, <b>{pct((100 * a.busy_ns) / len)}</b> {a.overlap_ns !== undefined && <>overlap <b>{dur(a.overlap_ns)}</b></>}</> : <span class="dim">nested slices count in each of their parents</span>}
						</td>
					</tr>
				</tfoot>
			</table>
		</div>
	);
}

function sum(rows: AggRow[], k: 'count' | 'total_ns'): number {
	return rows.reduce((a, r) => a + r[k], 0);
}
