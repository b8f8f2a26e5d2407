// SPDX-License-Identifier: Apache-2.0
// Flows and launches of the selected slice; each end leads to its slice.
import { Middle } from '../components/basics';
import { durExact, int } from '../lib/format';
import { trackLabel } from './layout';
import { linksOf } from './links';
import type { TimelineModel } from './model';

export function FlowsTable({ model }: { model: TimelineModel }) {
	const d = model.details.value;
	if (!model.sel.value || !d) return <div class="hint"><p><b>No slice selected.</b> Click a slice to see what launched it, what it launches and its flows.</p></div>;
	const rows = linksOf(d);
	if (rows.length === 0) return <div class="hint"><p>Nothing is connected with this slice.</p></div>;
	return (
		<div class="table-scroll" tabIndex={0} role="region" aria-label="Flows of the selected slice">
			<table class="data">
				<colgroup><col style={{ width: '150px' }} /><col /><col style={{ width: '200px' }} /><col style={{ width: '130px' }} /><col style={{ width: '130px' }} /></colgroup>
				<thead><tr><th scope="col">How</th><th scope="col">Slice</th><th scope="col">Track</th><th scope="col" class="num">Duration</th><th scope="col" class="num">Distance</th></tr></thead>
				<tbody>
					{rows.map(({ how, to: r }) => {
						const t = model.byId.get(r.track);
						return (
							<tr key={how + r.id}>
								<td>{how}</td>
								<th scope="row" class="mono cut"><button type="button" class="cell-link" title={r.name} onClick={() => model.goTo(r)}><Middle text={r.name} /></button></th>
								<td class="cut">{t ? trackLabel(t) : int(r.track)}</td>
								<td class="num">{durExact(r.dur)}</td>
								<td class="num">{durExact(Math.abs(r.ts - d.ts))}</td>
							</tr>
						);
					})}
				</tbody>
			</table>
		</div>
	);
}
