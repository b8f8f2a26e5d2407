// SPDX-License-Identifier: Apache-2.0
// Strip of figures above the list. Each cell says what it covers: the whole list, or the rows of this page.
import { Bar } from '../components/basics';
import { Icon } from '../components/icons';
import { getJson } from '../lib/api';
import { bytes, int, pct, short } from '../lib/format';
import { useInterval, useLoad } from '../lib/load';
import { median } from '../lib/stats';
import type { Storage, TraceList, TraceRow } from '../lib/types';

function numbers(rows: TraceRow[], f: (r: TraceRow) => number | null | undefined): number[] {
	return rows.map(f).filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
}

/** One bar per trace, from 0 to `max`. */
function Spark({ values, max, group }: { values: number[]; max: number; group: string }) {
	const shown = values.slice(0, 64);
	if (shown.length < 2) return null;
	const w = 66;
	const step = w / shown.length;
	return (
		<svg class={`spark k-${group}`} width={w} height="18" aria-hidden="true">
			<rect x="0" y="0" width={w} height="18" class="ground" />
			{shown.map((v, i) => {
				const h = Math.max(1, Math.min(18, (v / max) * 18));
				return <rect key={i} x={i * step} y={18 - h} width={Math.max(0.6, step - (step > 2.5 ? 1 : 0))} height={h} />;
			})}
		</svg>
	);
}

export function Summary({ list }: { list: TraceList }) {
	const rows = list.items;
	const busy = numbers(rows, (r) => r.gpu_busy_pct);
	const exposed = numbers(rows, (r) => r.exposed_comm_pct);
	const states = new Map((list.facets?.state ?? []).map((f) => [f.value ?? '', f.count]));
	const parts = ['ready', 'indexing', 'queued', 'failed'].filter((s) => states.get(s)).map((s) => `${int(states.get(s)!)} ${s}`);
	const here = (n: number) => `of ${int(n)} listed`;
	const b = median(busy);
	const e = median(exposed);
	const top = Math.max(10, Math.ceil(Math.max(0, ...exposed) / 10) * 10);
	return (
		<div class="summary" role="group" aria-label="Summary">
			<div>
				<span class="label">Traces</span>
				<b class="figure">{int(list.total ?? rows.length)}</b>
				<span class="sub">{parts.join(', ') || 'in this list'}</span>
			</div>
			<div>
				<span class="label">GPU busy, median</span>
				<b class="figure">{b === null ? 'none' : pct(b)}</b>
				<span class="sub">{here(busy.length)}, bars 0–100 %</span>
				<Spark values={busy} max={100} group="neutral" />
			</div>
			<div>
				<span class="label">Exposed comm, median</span>
				<b class="figure">{e === null ? 'none' : pct(e)}</b>
				<span class="sub">{here(exposed.length)}, bars 0–{top} %</span>
				<Spark values={exposed} max={top} group="comm" />
			</div>
			<div>
				<span class="label">Slices</span>
				<b class="figure">{short(numbers(rows, (r) => r.slices).reduce((a, v) => a + v, 0))}</b>
				<span class="sub">{here(numbers(rows, (r) => r.slices).length)}</span>
			</div>
			<StorageCell />
		</div>
	);
}

const STORAGE_MS = 60_000;

/** What the project takes on the disk; the whole cell leads to the storage page. */
function StorageCell() {
	const s = useLoad<Storage>('storage', (signal) => getJson('/storage', undefined, signal));
	useInterval(true, STORAGE_MS, s.reload);
	const d = s.data;
	const used = d ? d.blob_bytes + d.segment_bytes : 0;
	const max = d?.policy.max_bytes ?? 0;
	const full = max > 0 && used > 0.9 * max;
	return (
		<a class="storage-cell" href="/storage">
			<span class="label">Storage{max > 0 && d && <>, {pct((100 * used) / max, 0)} of {bytes(max)}</>}</span>
			<b class="figure">{d ? bytes(used) : s.error ? 'not known' : ''}{full && <Icon name="warn" size={15} />}</b>
			<span class="sub">{d && <>files {bytes(d.blob_bytes)}, segments {bytes(d.segment_bytes)}</>}{s.error && 'open for the reason'}</span>
			{max > 0 && d && <Bar share={used / max} group="neutral" />}
		</a>
	);
}
