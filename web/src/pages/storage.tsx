// SPDX-License-Identifier: Apache-2.0
// What a project takes on the disk, what retention does about it, and how far a re-index is.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { who } from '../app/session';
import { Badge, Bar, Button, ErrorPanel, Panel } from '../components/basics';
import { Icon } from '../components/icons';
import { getJson, send } from '../lib/api';
import { ageLabel, bytes, dateTime, int, pct, plural } from '../lib/format';
import { useInterval, useLoad } from '../lib/load';
import type { Storage, Taken } from '../lib/types';
import { Whole } from './admin';
import { PolicyPanel } from './storage_policy';

const POLL_MS = 5000;

export function StoragePage() {
	const s = useLoad<Storage>('storage', (signal) => getJson('/storage', undefined, signal));
	const busy = (s.data?.reindex.outdated ?? 0) > 0;
	useInterval(true, busy ? POLL_MS : 6 * POLL_MS, s.reload);
	return (
		<div class="page admin">
			<div class="page-title">
				<h1>Storage</h1>
				{s.data && <Badge>project {s.data.project}</Badge>}
			</div>
			<Whole load={s} what="The figures could not be loaded">{(d) => <Body s={d} reload={s.reload} />}</Whole>
		</div>
	);
}

function Body({ s, reload }: { s: Storage; reload: () => void }) {
	return (
		<>
			{s.held && <Held held={s.held} onDone={reload} />}
			<Figures s={s} />
			<div class="columns">
				<div class="stack">
					<PolicyPanel s={s} onSaved={reload} />
					<RunPanel s={s} />
				</div>
				<div class="stack">
					<JobPanel s={s} />
					<AgePanel s={s} />
				</div>
				<div class="stack">
					<DiskPanel s={s} />
					<ReindexPanel s={s} />
				</div>
			</div>
		</>
	);
}

function Held({ held, onDone }: { held: NonNullable<Storage['held']>; onDone: () => void }) {
	const [error, setError] = useState<Error | null>(null);
	const [sure, setSure] = useState(false);
	const confirm = () => {
		send('POST', '/retention/confirm-clock').then(onDone, setError);
	};
	return (
		<div class="notice warn" role="status">
			<Icon name="warn" />
			<div>
				<b>Retention is held: nothing is deleted by age</b>
				<p>{held.why}. Since {dateTime(held.since)}.</p>
				<p class="dim">Check the date of the server ({who.value?.operator ? 'then confirm it here' : 'then an operator confirms it'}). A wrong date would delete what is not old.</p>
				{error && <ErrorPanel error={error} what="That did not work" />}
			</div>
			{who.value?.operator && (sure
				? <Button icon="check" primary onClick={confirm}>The date is right: go on deleting</Button>
				: <Button icon="clock" onClick={() => setSure(true)}>Confirm the clock</Button>)}
		</div>
	);
}

function Cell({ label, figure, sub }: { label: string; figure: ComponentChildren; sub: ComponentChildren }) {
	return <div><span class="label">{label}</span><b class="figure">{figure}</b><span class="sub">{sub}</span></div>;
}

function Figures({ s }: { s: Storage }) {
	const used = s.blob_bytes + s.segment_bytes;
	const max = s.policy.max_bytes;
	return (
		<div class="summary" role="group" aria-label="Figures">
			<Cell label="Uploads" figure={int(s.bundles)} sub={s.oldest_received_at ? `oldest ${dateTime(s.oldest_received_at).slice(0, 10)}` : 'none yet'} />
			<Cell label="Traces" figure={int(s.traces)} sub={`${int(s.kept_traces)} kept`} />
			<Cell label="Uploaded files" figure={bytes(s.blob_bytes)} sub="as sent, each file once" />
			<Cell label="Segments" figure={bytes(s.segment_bytes)} sub="what the pages read" />
			<Cell label="Database" figure={bytes(s.database_bytes)} sub="of all projects" />
			<Cell label="Files and segments" figure={bytes(used)} sub={max > 0 ? <UsedBar used={used} max={max} /> : 'no limit'} />
		</div>
	);
}

function UsedBar({ used, max }: { used: number; max: number }) {
	const share = used / max;
	return (
		<span class={`used ${share > 0.9 ? 'warn' : ''}`}>
			<Bar share={share} group="neutral" />{share > 0.9 && <Icon name="warn" size={12} />}{pct(share * 100, 0)} of {bytes(max)}
		</span>
	);
}

function JobPanel({ s }: { s: Storage }) {
	const top = Math.max(1, ...s.by_job.map((j) => j.bytes));
	const sum = s.by_job.reduce((a, j) => a + j.bytes, 0);
	return (
		<Panel title="By job" note="files and segments">
			{s.by_job.length === 0 ? <p class="pad dim">Nothing is stored yet.</p> : (
				<div class="table-scroll by-job" tabIndex={0} role="region" aria-label="By job">
					<table class="data">
						<colgroup><col /><col style={{ width: '62px' }} /><col style={{ width: '62px' }} /><col style={{ width: '170px' }} /></colgroup>
						<thead><tr><th scope="col">Job</th><th scope="col" class="num">Uploads</th><th scope="col" class="num">Traces</th><th scope="col" class="num">Bytes, 0–{bytes(top)}</th></tr></thead>
						<tbody>
							{s.by_job.map((j, i) => (
								<tr key={i}>
									<th scope="row" class="cut" title={j.job ?? ''}>{jobName(j.job, i === s.by_job.length - 1 && s.by_job.length > 50)}</th>
									<td class="num">{int(j.bundles)}</td><td class="num">{int(j.traces)}</td>
									<td class="num"><span class="bar-cell"><Bar share={j.bytes / top} group="neutral" /><span>{bytes(j.bytes)}</span></span></td>
								</tr>
							))}
						</tbody>
						<tfoot><tr><th scope="row">Sum</th><td class="num">{int(s.by_job.reduce((a, j) => a + j.bundles, 0))}</td><td class="num">{int(s.by_job.reduce((a, j) => a + j.traces, 0))}</td><td class="num">{bytes(sum)}</td></tr></tfoot>
					</table>
				</div>
			)}
		</Panel>
	);
}

/** The rest of a long list is summed up as "other": no job that could be opened. */
function jobName(job: string | null, rest: boolean): ComponentChildren {
	if (rest && job === 'other') return <span class="dim">other jobs</span>;
	return <a href={`/traces?job=${encodeURIComponent(job ?? '')}`}>{job || 'no job given'}</a>;
}

function AgePanel({ s }: { s: Storage }) {
	const top = Math.max(1, ...s.by_age.map((a) => a.bytes));
	return (
		<Panel title="By age" note="days since the upload">
			<table class="data by-age">
				<colgroup><col style={{ width: '140px' }} /><col style={{ width: '66px' }} /><col /></colgroup>
				<thead><tr><th scope="col">Age</th><th scope="col" class="num">Uploads</th><th scope="col" class="num">Bytes, 0–{bytes(top)}</th></tr></thead>
				<tbody>
					{s.by_age.map((a) => (
						<tr key={a.days}>
							<th scope="row">{ageLabel(a.days)}</th><td class="num">{int(a.bundles)}</td>
							<td class="num"><span class="bar-cell"><Bar share={a.bytes / top} group="neutral" /><span>{bytes(a.bytes)}</span></span></td>
						</tr>
					))}
				</tbody>
			</table>
		</Panel>
	);
}

function DiskPanel({ s }: { s: Storage }) {
	const { total_bytes: total, free_bytes: free, min_free_bytes: min } = s.disk;
	const low = free < min * 2;
	return (
		<Panel title="Disk" note="of the data folder">
			<div class="pad stack tight">
				<span class="bar-cell"><Bar share={total > 0 ? 1 - free / total : 0} group="neutral" /><span>{total > 0 ? pct((100 * (total - free)) / total, 0) : ''} used</span></span>
				<dl class="facts">
					<div><dt>Free</dt><dd>{bytes(free)} of {bytes(total)}</dd></div>
					<div><dt>Kept free</dt><dd>{bytes(min)}: below it uploads are refused</dd></div>
				</dl>
				{low && <p class="field-error"><Icon name="warn" />{free < min ? 'Uploads are refused until there is room.' : 'Little room is left.'}</p>}
			</div>
		</Panel>
	);
}

export function takenText(t: Taken): string {
	const parts = [];
	if (t.bundles > 0) parts.push(`${plural(t.bundles, 'upload')} with ${plural(t.traces, 'trace')}, ${bytes(t.bytes)}`);
	if (t.blobs > 0) parts.push(`the files of ${plural(t.blobs, 'upload')}, ${bytes(t.blob_bytes)}`);
	return parts.join('; ') || 'nothing';
}

function RunPanel({ s }: { s: Storage }) {
	return (
		<Panel title="Retention at work">
			<dl class="facts pad">
				<div><dt>Next pass takes</dt><dd>{takenText(s.next)}</dd></div>
				<div><dt>Last pass that took something</dt><dd>{s.last_run ? <>{takenText(s.last_run)} <span class="dim">{dateTime(s.last_run.at)}</span></> : 'none yet'}</dd></div>
				<div><dt>Kept traces</dt><dd>{s.kept_traces > 0 ? `${int(s.kept_traces)}; their uploads are passed over` : 'none'}</dd></div>
			</dl>
		</Panel>
	);
}

function ReindexPanel({ s }: { s: Storage }) {
	const r = s.reindex;
	const all = r.outdated + r.done_since_start;
	return (
		<Panel title="Re-index" note={r.segment_version ? `segments of version ${r.segment_version}, analyses of version ${r.analysis_version}` : undefined}>
			<div class="pad stack tight">
				{r.outdated > 0 ? (
					<>
						<span class="working"><progress value={r.done_since_start} max={Math.max(1, all)} aria-label="Re-index" /><span>{int(r.done_since_start)} of {int(all)} traces</span></span>
						<p class="dim">{plural(r.running, 'upload')} at work, {int(r.waiting)} waiting. Until then the old ones are served. It goes on when nothing else waits.</p>
					</>
				) : <p>Every trace that can be rebuilt is up to date{r.done_since_start > 0 && `; ${plural(r.done_since_start, 'trace')} since the server started`}.</p>}
				{r.not_rebuildable > 0 && <p class="dim">{plural(r.not_rebuildable, 'trace')} cannot be rebuilt: the uploaded file was let go. What is shown of them stays as it is.</p>}
			</div>
		</Panel>
	);
}
