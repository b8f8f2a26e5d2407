// SPDX-License-Identifier: Apache-2.0
// The same slices that the canvas shows, as a table: for screen readers, for copying, for exact numbers.
import { useEffect, useState } from 'preact/hooks';
import { Middle, Swatch } from '../components/basics';
import { durExact, fixed, int } from '../lib/format';
import { kindLabel } from '../lib/kinds';
import { mergedText } from '../lib/merged';
import { trackLabel } from './layout';
import type { TimelineModel } from './model';
import type { Hit } from './scene';
import type { Stage } from './stage';

const MAX_ROWS = 300;

export function SlicesTable({ model, stage }: { model: TimelineModel; stage: Stage | null }) {
	const [rows, setRows] = useState<Hit[]>([]);
	const [total, setTotal] = useState(0);
	const view = model.view.value;
	const track = model.sel.value?.track ?? null;
	useEffect(() => {
		const read = () => {
			const list = stage ? [...stage.main.list(track)] : [];
			setTotal(list.length);
			setRows(list.sort((a, b) => a.t0 - b.t0 || a.depth - b.depth).slice(0, MAX_ROWS));
		};
		const t = setTimeout(read, 250);
		return () => clearTimeout(t);
	}, [view, track, stage, stage?.tiles.loading]);
	return (
		<div class="table-scroll" tabIndex={0} role="region" aria-label="Slices in view">
			<table class="data">
				<colgroup><col /><col style={{ width: '130px' }} /><col style={{ width: '170px' }} /><col style={{ width: '60px' }} /><col style={{ width: '130px' }} /><col style={{ width: '130px' }} /></colgroup>
				<thead><tr><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Track</th><th scope="col" class="num">Depth</th><th scope="col" class="num">Start, ms</th><th scope="col" class="num">Duration</th></tr></thead>
				<tbody>
					{rows.map((h) => {
						const t = model.byId.get(h.track);
						return (
							<tr key={`${h.track}.${h.id}.${h.t0}`} class={model.sel.value?.ts === h.t0 && model.sel.value.track === h.track && model.sel.value.name === h.name ? 'selected' : ''}>
								<th scope="row" class="mono cut">
									{h.merged && h.count > 1 ? <span class="dim">{mergedText(h)}</span> : (
										<button type="button" class="cell-link" title={h.name}
											onClick={() => model.select({ track: h.track, ts: h.t0, name: h.name }, h.id, true)}><Middle text={h.name} /></button>
									)}
								</th>
								<td><Swatch kind={h.kind} />{kindLabel(h.kind)}</td>
								<td class="cut">{t ? trackLabel(t) : ''}</td>
								<td class="num">{h.depth}</td>
								<td class="num">{fixed(h.t0 / 1e6, 6)}</td>
								<td class="num">{durExact(h.t1 - h.t0)}</td>
							</tr>
						);
					})}
				</tbody>
				<tfoot><tr><th scope="row" colSpan={6}>{int(rows.length)} of {int(total)} drawn in view{track !== null ? ', track of the selected slice' : ''}. Merged rows stand for slices narrower than a pixel.</th></tr></tfoot>
			</table>
		</div>
	);
}
