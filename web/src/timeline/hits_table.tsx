// SPDX-License-Identifier: Apache-2.0
// Search hits around the current one as a table; each leads to its slice.
import { Middle, Swatch } from '../components/basics';
import { durExact, fixed, int } from '../lib/format';
import { kindLabel } from '../lib/kinds';
import { trackLabel } from './layout';
import type { TimelineModel } from './model';

const MAX_ROWS = 500;

export function HitsTable({ model }: { model: TimelineModel }) {
	const { hits } = model;
	const total = hits.total.value;
	const rows = hits.page.value.slice(0, MAX_ROWS);
	if (!hits.needle) return <div class="hint"><p><b>Nothing is searched for.</b> Press <kbd>/</kbd> and type a part of a name.</p></div>;
	if (total === 0) return <div class="hint"><p>No slice of this trace has <b>{hits.q.value}</b> in its name.</p></div>;
	const first = hits.first.value;
	return (
		<div class="table-scroll" tabIndex={0} role="region" aria-label="Search hits">
			<table class="data">
				<colgroup><col style={{ width: '76px' }} /><col /><col style={{ width: '130px' }} /><col style={{ width: '200px' }} /><col style={{ width: '130px' }} /><col style={{ width: '130px' }} /></colgroup>
				<thead><tr><th scope="col" class="num">Hit</th><th scope="col">Name</th><th scope="col">Kind</th><th scope="col">Track</th><th scope="col" class="num">Start, ms</th><th scope="col" class="num">Duration</th></tr></thead>
				<tbody>
					{rows.map((h, i) => {
						const t = model.byId.get(h.track);
						return (
							<tr key={h.id} class={first + i === hits.at.value ? 'selected' : ''}>
								<td class="num">{int(first + i + 1)}</td>
								<th scope="row" class="mono cut"><button type="button" class="cell-link" title={h.name} onClick={() => { hits.at.value = first + i; model.goTo(h); }}><Middle text={h.name} /></button></th>
								<td><Swatch kind={h.kind} />{kindLabel(h.kind)}</td>
								<td class="cut">{t ? trackLabel(t) : int(h.track)}</td>
								<td class="num">{fixed(h.ts / 1e6, 6)}</td>
								<td class="num">{durExact(h.dur)}</td>
							</tr>
						);
					})}
				</tbody>
				<tfoot><tr><th scope="row" colSpan={6}>{total === null ? 'Searching' : `Hits ${int(first + 1)} to ${int(first + rows.length)} of ${int(total)}`}. Enter and Shift + Enter in the search field go on.</th></tr></tfoot>
			</table>
		</div>
	);
}
