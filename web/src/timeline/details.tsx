// SPDX-License-Identifier: Apache-2.0
// Everything about the selected slice.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { shareUrl } from '../app/session';
import { Badge, Button, CopyButton, ErrorPanel, Skeleton, Swatch } from '../components/basics';
import { Dialog } from '../components/dialog';
import { Icon } from '../components/icons';
import { bytes, dur, durExact, fixed, int } from '../lib/format';
import { kindLabel } from '../lib/kinds';
import type { Details, SliceRef, Trace } from '../lib/types';
import { PerfettoButton } from '../components/perfetto_button';
import { trackLabel } from './layout';
import type { TimelineModel } from './model';

type Row = readonly [string, ComponentChildren];

export function DetailsPane({ model, shut }: { model: TimelineModel; shut: boolean }) {
	const sel = model.sel.value;
	const d = model.details.value;
	const fresh = d && sel && d.ts === sel.ts && d.name === sel.name;
	return (
		<div class="d-right">
			<div class="d-head">
				<h2>{sel ? 'Slice' : 'Trace'}</h2>
				{d && sel && <Badge><Swatch kind={d.kind} />{kindLabel(d.kind)}</Badge>}
				{d?.flags?.overlap && <Badge tone="warn" title="It partly overlaps another slice of its track">overlaps</Badge>}
				{d?.flags?.open && <Badge tone="warn" title="Its end is not in the file">no end</Badge>}
				<span class="grow" />
				{d && sel && <Button small icon="fit" onClick={() => { model.fit(); model.commit(); }}>Fit <kbd>F</kbd></Button>}
				{d && sel && <PerfettoButton small trace={model.trace} what={{ t0: d.ts, t1: d.ts + d.dur, select: { ts: d.ts, dur: d.dur } }}>Perfetto</PerfettoButton>}
			</div>
			{!shut && (
				<div class="d-body pad">
					{model.detailsError.value && <ErrorPanel error={model.detailsError.value} what="This slice could not be loaded" retry={() => model.select(sel, null, false)} />}
					{!sel && <Overview t={model.trace} />}
					{sel && !d && !model.detailsError.value && <Skeleton rows={5} />}
					{sel && d && <div class={fresh ? '' : 'stale'}><Body d={d} model={model} /></div>}
				</div>
			)}
		</div>
	);
}

/** Without a selection: what the trace holds. */
function Overview({ t }: { t: Trace }) {
	const left: Row[] = [['Format', t.format ?? ''], ['Events in the file', int(t.events ?? 0)], ['Slices', int(t.slices)], ['Instants', int(t.instants ?? 0)], ['Flows', int(t.flows ?? 0)], ['Counter samples', int(t.counters ?? 0)]];
	if (t.launch) left.push(['Launch to kernel', `${int(t.launch.pairs)} pairs`]);
	const cats = [...(t.categories ?? [])].sort((a, b) => b.count - a.count).slice(0, 7).map((c): Row => [c.name, <span title={dur(c.sum_ns)}>{int(c.count)}</span>]);
	return (
		<>
			<p class="dim slice-note">Click a slice, or press an arrow key, to see its launch and arguments.</p>
			<div class="kv-columns even"><Pairs rows={left.filter(([, v]) => v !== '')} /><Pairs rows={cats} /></div>
		</>
	);
}

function Ref({ r, model }: { r: SliceRef; model: TimelineModel }) {
	return <button type="button" class="as-link" title={r.name} onClick={() => model.goTo(r)}>{r.name.length > 34 ? r.name.slice(0, 33) + '…' : r.name}</button>;
}

function Body({ d, model }: { d: Details; model: TimelineModel }) {
	const [all, setAll] = useState(false);
	const nArgs = Object.keys(d.args ?? {}).length;
	return (
		<>
			<h3 class="mono wrap slice-name">{d.name}</h3>
			<div class="kv-columns">
				<Pairs rows={timing(d, model)} />
				<Pairs rows={launchRows(d)} />
			</div>
			<div class="row links">
				<CopyButton quiet small text={() => d.name}>Copy name</CopyButton>
				<CopyButton quiet small text={shareUrl}>Copy link to slice</CopyButton>
				{nArgs > 0 && <Button quiet small onClick={() => setAll(true)}>All {int(nArgs)} args</Button>}
			</div>
			{all && <ArgsDialog d={d} onClose={() => setAll(false)} />}
		</>
	);
}

function Pairs({ rows }: { rows: Row[] }) {
	if (rows.length === 0) return null;
	return <dl class="kv">{rows.map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>;
}

function timing(d: Details, model: TimelineModel): Row[] {
	const t = model.byId.get(d.track);
	const rows: Row[] = [
		['Start', `${fixed(d.ts / 1e6, 6)} ms`],
		['Duration', d.flags?.instant ? 'instant' : durExact(d.dur)],
	];
	if (t) {
		const where = typeof t.device === 'number' && t.device >= 0 ? `GPU ${t.device}, ${trackLabel(t).split(',')[0].toLowerCase()}` : trackLabel(t);
		rows.push(['Track', where]);
	}
	if (d.launched_by) {
		const by = d.launched_by;
		rows.push(['Launched by', <Ref r={by} model={model} />]);
		if (by.delay_ns !== undefined) rows.push(['Launch to start', durExact(by.delay_ns)]);
	}
	const l = d.launches ?? [];
	if (l.length === 1) rows.push(['Launches', <><Ref r={l[0]} model={model} />{l[0].delay_ns !== undefined && <span class="dim"> after {dur(l[0].delay_ns)}</span>}</>]);
	if (l.length > 1) rows.push(['Launches', <button type="button" class="as-link" onClick={() => { model.tab.value = 'flows'; model.commit(); }}>{int(l.length)} kernels</button>]);
	const a = d.ancestors ?? [];
	if (a.length > 0) {
		const shown = a.slice(-3);
		rows.push(['Inside', <span class="crumbs">{a.length > shown.length && '… '}{shown.map((r, i) => <span key={r.id}>{i > 0 && ' › '}<button type="button" class="as-link" title={r.name} onClick={() => model.goTo({ ...r, track: d.track })}>{r.name.length > 26 ? r.name.slice(0, 25) + '…' : r.name}</button></span>)}</span>]);
	}
	if (typeof d.correlation === 'number') rows.push(['Correlation', int(d.correlation)]);
	const s = d.same_name;
	if (s && s.count > 1) rows.push(['Same name', <SameName d={d} model={model} />]);
	return rows;
}

function SameName({ d, model }: { d: Details; model: TimelineModel }) {
	const s = d.same_name!;
	const has = (x: unknown) => x !== null && x !== undefined;
	return (
		<span class="same">
			<button type="button" class="btn quiet only tiny" aria-label="Previous of the same name" disabled={!has(s.prev)} onClick={() => void model.sameName('prev')}><Icon name="left" size={13} /></button>
			{int(s.count)} in trace
			<button type="button" class="btn quiet only tiny" aria-label="Next of the same name" disabled={!has(s.next)} onClick={() => void model.sameName('next')}><Icon name="right" size={13} /></button>
		</span>
	);
}

const LAUNCH_LABELS: Record<string, string> = {
	registers: 'registers / thread', shared_bytes: 'shared memory', occupancy_pct: 'est. occupancy', blocks_per_sm: 'blocks / SM',
	warps_per_sm: 'warps / SM', queued_ns: 'queued', bandwidth_gbs: 'bandwidth', graph_id: 'graph', graph_node_id: 'graph node', bytes: 'bytes',
};

function launchValue(k: string, v: unknown): string {
	if (Array.isArray(v)) return `[${v.join(', ')}]`;
	if (typeof v !== 'number') return String(v);
	if (k.endsWith('bytes')) return bytes(v);
	if (k === 'occupancy_pct') return `${fixed(v, 0)} %`;
	if (k === 'bandwidth_gbs') return `${fixed(v, 1)} GB/s`;
	return Number.isInteger(v) ? int(v) : fixed(v, 2);
}

const ARGS_SHOWN = 8;

/** Typed launch and collective fields first; a host slice shows its first args instead. */
function launchRows(d: Details): Row[] {
	const rows: Row[] = [];
	for (const part of [d.launch, d.collective]) {
		for (const [k, v] of Object.entries(part ?? {})) {
			if (v === null || v === undefined || v === -1 || k === 'queued_ns') continue;
			rows.push([LAUNCH_LABELS[k] ?? k.replace(/_/g, ' '), launchValue(k, v)]);
		}
	}
	if (rows.length === 0) for (const [k, v] of Object.entries(d.args ?? {})) rows.push([k, argText(v, 40)]);
	return rows.slice(0, ARGS_SHOWN);
}

function argText(v: unknown, max: number): string {
	const s = typeof v === 'string' ? v : JSON.stringify(v);
	return s.length > max ? s.slice(0, max - 1) + '…' : s;
}

function ArgsDialog({ d, onClose }: { d: Details; onClose: () => void }) {
	return (
		<Dialog title="Arguments" drawer onClose={onClose}>
			<p class="mono wrap">{d.name}</p>
			<table class="data args">
				<thead><tr><th scope="col">Key</th><th scope="col">Value</th></tr></thead>
				<tbody>{Object.entries(d.args ?? {}).map(([k, v]) => <tr key={k}><th scope="row">{k}</th><td class="mono wrap">{argText(v, 20000)}</td></tr>)}</tbody>
			</table>
			<CopyButton icon="copy" text={() => JSON.stringify(d.args, null, 2)}>Copy as JSON</CopyButton>
		</Dialog>
	);
}
