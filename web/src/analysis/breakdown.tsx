// SPDX-License-Identifier: Apache-2.0
// One stacked bar per device. Parts add up to the window, and the printed numbers to 100.0 %.
import { useState } from 'preact/hooks';
import { durExact, durLong, fixed, pct } from '../lib/format';
import type { Analysis, Device } from '../lib/types';
import { mainIdle, partsOf, percents } from './parts';

const INSIDE_FROM = 5;

export function Breakdown({ a }: { a: Analysis }) {
	const [marked, mark] = useState(0);
	const rows = a.devices.map((d) => {
		const parts = partsOf(d, mainIdle(d, a.idle));
		return { d, parts, share: percents(parts, d.window_ns) };
	});
	const m = rows[Math.min(marked, rows.length - 1)];
	return (
		<div class="breakdown">
			<div class="table-scroll" tabIndex={0} role="region" aria-label="Breakdown">
				<table class="plain-table">
					<thead><tr><th scope="col"><span class="offscreen">Device</span></th><th scope="col" class="bar-col"><span class="offscreen">Parts</span></th><th scope="col" class="num">Busy</th><th scope="col" class="num">Overlap</th><th scope="col" class="num">Sum</th></tr></thead>
					<tbody>
						{rows.map((r, i) => (
							<tr key={i} class={rows.length > 1 && i === marked ? 'marked' : ''} onMouseEnter={() => mark(i)}>
								<th scope="row">{deviceName(r.d)}</th>
								<td class="bar-col"><Stack parts={r.parts} share={r.share} d={r.d} /></td>
								<td class="num">{pct((100 * r.d.busy_ns) / r.d.window_ns)}</td>
								<td class="num" title="Share of communication that runs beside compute">{r.d.comm_ns > 0 ? pct(r.d.comm_overlap_pct ?? (100 * r.d.comm_overlap_ns) / r.d.comm_ns) : 'none'}</td>
								<td class="num">{pct(r.share.reduce((x, v) => x + v, 0))}</td>
							</tr>
						))}
					</tbody>
					<tfoot aria-hidden="true"><tr><td /><td class="bar-col"><Axis /></td><td colSpan={3} /></tr></tfoot>
				</table>
			</div>
			<ul class="legend" aria-label={`Parts of ${deviceName(m.d)}`}>
				{rows.length > 1 && <li class="dim">{deviceName(m.d)}:</li>}
				{m.parts.map((p, i) => <li key={p.key} title={durExact(p.ns)}><i class={`swatch k-${p.group}`} />{p.label} <b>{fixed(m.share[i], 1)}</b></li>)}
			</ul>
			{rows.length <= 4 && <div class="an-tables"><Parts parts={m.parts} share={m.share} /><IdleTable a={a} device={m.d.device} /></div>}
		</div>
	);
}

/** The same parts as times. */
function Parts({ parts, share }: { parts: ReturnType<typeof partsOf>; share: number[] }) {
	return (
		<table class="plain-table">
			<thead><tr><th scope="col">Part of the window</th><th scope="col" class="num">Time</th><th scope="col" class="num">Share</th></tr></thead>
			<tbody>
				{parts.map((p, i) => <tr key={p.key}><th scope="row"><i class={`swatch k-${p.group}`} />{p.label}</th><td class="num" title={durExact(p.ns)}>{durLong(p.ns)}</td><td class="num">{fixed(share[i], 1)} %</td></tr>)}
			</tbody>
		</table>
	);
}

/** Why each stream of the device was idle between its kernels. */
function IdleTable({ a, device }: { a: Analysis; device: number | null }) {
	const rows = (a.idle ?? []).filter((i) => i.device === device);
	if (rows.length === 0) return null;
	return (
		<table class="plain-table">
			<thead><tr><th scope="col">Idle between kernels</th><th scope="col" class="num">Host wait</th><th scope="col" class="num">Kernel wait</th><th scope="col" class="num">Other</th></tr></thead>
			<tbody>
				{rows.slice(0, 8).map((r) => (
					<tr key={String(r.stream)}>
						<th scope="row">Stream {r.stream ?? '?'}</th>
						{[r.host_wait_ns, r.kernel_wait_ns, r.other_ns].map((ns, i) => <td key={i} class="num" title={durExact(ns)}>{durLong(ns)}</td>)}
					</tr>
				))}
			</tbody>
		</table>
	);
}

function deviceName(d: Device): string {
	return d.device === null || d.device < 0 ? 'GPU' : `GPU ${d.device}`;
}

function Stack({ parts, share, d }: { parts: ReturnType<typeof partsOf>; share: number[]; d: Device }) {
	return (
		<span class="stack-bar">
			{parts.map((p, i) => (
				<i key={p.key} class={`k-${p.group}`} style={{ flexGrow: p.ns / d.window_ns, display: p.ns > 0 ? undefined : 'none' }} title={`${p.label} ${fixed(share[i], 1)} %, ${durExact(p.ns)}`}>
					{share[i] >= INSIDE_FROM ? fixed(share[i], 1) : ''}
				</i>
			))}
		</span>
	);
}

function Axis() {
	return <span class="pct-axis">{[0, 20, 40, 60, 80, 100].map((v) => <i key={v} style={{ left: `${v}%` }}>{v}{v === 100 ? ' %' : ''}</i>)}</span>;
}
