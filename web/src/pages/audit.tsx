// SPDX-License-Identifier: Apache-2.0
// Who did what to the project: newest first, filter by action, pages.
import { useState } from 'preact/hooks';
import { query, setQuery } from '../app/router';
import { who } from '../app/session';
import { Badge, Button, Empty } from '../components/basics';
import { getJson } from '../lib/api';
import { dateTime, int } from '../lib/format';
import { useLoad } from '../lib/load';
import type { AuditRow, List } from '../lib/types';
import { AdminsOnly, Whole } from './admin';

const PAGE = 100;

export function AuditPage() {
	return <AdminsOnly what="its audit"><Audit /></AdminsOnly>;
}

function Audit() {
	const action = new URLSearchParams(query.value).get('action') ?? '';
	const [pages, setPages] = useState<{ action: string; cursors: string[] }>({ action, cursors: [] });
	const cursors = pages.action === action ? pages.cursors : [];
	const cursor = cursors[cursors.length - 1];
	const list = useLoad<List<AuditRow>>(`audit ${action} ${cursor ?? ''}`, (signal) => getJson('/audit', { action, limit: PAGE, cursor }, signal));
	const set = (a: string) => {
		const p = new URLSearchParams(location.search);
		if (a) p.set('action', a);
		else p.delete('action');
		setQuery(p.size ? `?${p}` : '', 'replace');
	};
	return (
		<div class="page admin">
			<div class="page-title">
				<h1>Audit</h1>
				{who.value?.project && <Badge>project {who.value.project}</Badge>}
				<span class="grow" />
				<Filter value={action} onChange={set} />
			</div>
			<Whole load={list} what="The audit could not be loaded">
				{(d) => (d.items.length === 0
					? <Empty title={action ? 'Nothing of this kind' : 'Nothing yet'}><p>{action ? <>No entry with the action <b>{action}</b>.</> : 'Deletes, policies, tokens and other acts of administration will stand here.'}</p>{action && <Button onClick={() => set('')}>Show all</Button>}</Empty>
					: <Table list={d} page={cursors.length} back={() => setPages({ action, cursors: cursors.slice(0, -1) })} next={() => setPages({ action, cursors: [...cursors, d.next!] })} />)}
			</Whole>
		</div>
	);
}

/** A value that ends with a dot takes all actions that begin so. */
const ACTIONS = [
	['', 'All actions'], ['bundle.', 'Uploads'], ['trace.', 'Traces'], ['job.', 'Jobs'], ['capture.', 'Captures'],
	['retention.', 'Retention'], ['token.', 'Tokens'], ['project.', 'Projects'], ['bundle.delete', 'Uploads deleted'], ['trace.delete', 'Traces deleted'],
] as const;

function Filter({ value, onChange }: { value: string; onChange: (v: string) => void }) {
	const known = ACTIONS.some(([v]) => v === value);
	return (
		<label class="row">
			<span class="dim">Show</span>
			<select aria-label="Filter by action" value={value} onChange={(e) => onChange(e.currentTarget.value)}>
				{!known && <option value={value}>{value}</option>}
				{ACTIONS.map(([v, text]) => <option key={v} value={v}>{text}</option>)}
			</select>
		</label>
	);
}

function Table({ list, page, back, next }: { list: List<AuditRow>; page: number; back: () => void; next: () => void }) {
	return (
		<div class="table-box">
			<div class="table-scroll" tabIndex={0} role="region" aria-label="Audit">
				<table class="data audit">
					<colgroup><col style={{ width: '196px' }} /><col style={{ width: '150px' }} /><col style={{ width: '150px' }} /><col style={{ width: '200px' }} /><col /><col style={{ width: '120px' }} /></colgroup>
					<thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">Action</th><th scope="col">What</th><th scope="col">Detail</th><th scope="col">From</th></tr></thead>
					<tbody>
						{list.items.map((a) => (
							<tr key={a.id}>
								<td>{dateTime(a.at)}</td>
								<td class="cut" title={a.actor}>{a.actor}</td>
								<td class="mono">{a.action}</td>
								<th scope="row" class="cut" title={a.subject}>{a.subject}</th>
								<td class="wrap">{a.detail ?? ''}</td>
								<td class="cut" title={a.remote ?? ''}>{a.remote ?? ''}</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
			<footer class="table-foot">
				<span>Rows {int(page * PAGE + 1)}–{int(page * PAGE + list.items.length)}{list.total !== null && <> of {int(list.total)}</>}</span>
				{(page > 0 || list.next) && (
					<span class="pager">
						<Button small icon="left" label="Previous page" disabled={page === 0} onClick={back} />
						<Button small icon="right" label="Next page" disabled={!list.next} onClick={next} />
					</span>
				)}
			</footer>
		</div>
	);
}
