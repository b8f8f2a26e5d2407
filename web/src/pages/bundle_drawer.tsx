// SPDX-License-Identifier: Apache-2.0
// Everything known about one upload: progress, error, members that failed or were skipped, losses, its traces.
import { useState } from 'preact/hooks';
import { Button, ErrorPanel, Skeleton } from '../components/basics';
import { can } from '../app/session';
import { DeleteDialog } from '../components/deletion';
import { Dialog } from '../components/dialog';
import { Failure } from '../components/failure';
import { LossTable } from '../components/losses';
import { getJson, send } from '../lib/api';
import { bytes, dateTime, int } from '../lib/format';
import { useInterval, useLoad } from '../lib/load';
import { formatLabel } from '../lib/text';
import type { Bundle } from '../lib/types';
import { Working } from './list_table';

export function BundleDrawer({ id, onClose, onChanged }: { id: string; onClose: () => void; onChanged: () => void }) {
	const b = useLoad<Bundle>(id, (signal) => getJson(`/bundles/${id}`, undefined, signal));
	const running = b.data?.state === 'indexing' || b.data?.state === 'queued';
	useInterval(running, 1500, b.reload);
	return (
		<Dialog title="Upload" drawer onClose={onClose}>
			{b.error && <Failure error={b.error} what="This upload could not be loaded" retry={b.reload} />}
			{!b.data && !b.error && <Skeleton rows={6} />}
			{b.data && <Body b={b.data} onChanged={() => { b.reload(); onChanged(); }} onDeleted={() => { onChanged(); onClose(); }} />}
		</Dialog>
	);
}

/** Does every file of it stand here as a trace? Only then "no losses" says something. */
function whole(b: Bundle): boolean {
	return b.state === 'ready' && (b.traces?.length ?? 0) > 0 && (b.failures?.length ?? 0) === 0;
}

function Body({ b, onChanged, onDeleted }: { b: Bundle; onChanged: () => void; onDeleted: () => void }) {
	const [error, setError] = useState<Error | null>(null);
	const [deleting, setDeleting] = useState(false);
	const again = () => {
		send('POST', `/bundles/${b.id}/reindex`).then(onChanged, setError);
	};
	return (
		<div class="stack">
			<dl class="facts">
				<div><dt>File</dt><dd class="wrap">{b.name}</dd></div>
				<div><dt>State</dt><dd>{b.state}</dd></div>
				{b.bytes !== undefined && <div><dt>Size</dt><dd>{bytes(b.bytes)}</dd></div>}
				<div><dt>Received</dt><dd>{dateTime(b.received_at)}</dd></div>
				{b.sha256 && <div><dt>SHA-256</dt><dd class="wrap mono">{b.sha256}</dd></div>}
			</dl>
			{(b.state === 'indexing' || b.state === 'queued') && <Working r={b} />}
			{b.error && (
				<div class="notice err">
					<div>
						<b>{b.error.message}</b>
						<p class="dim">{b.error.file && <>in {b.error.file} </>}{typeof b.error.offset === 'number' && b.error.offset >= 0 && <>at byte {int(b.error.offset)} </>}code <code>{b.error.code}</code></p>
					</div>
				</div>
			)}
			{(b.traces?.length ?? 0) > 0 && (
				<section>
					<h3>{int(b.traces!.length)} {b.traces!.length === 1 ? 'trace' : 'traces'}</h3>
					<ul class="plain">{b.traces!.map((t) => <li key={t.id}><a href={`/traces/${t.id}`}>{t.name}</a> <span class="dim">{formatLabel(t.format)}</span></li>)}</ul>
				</section>
			)}
			{(b.failures?.length ?? 0) > 0 && <Failures b={b} />}
			{b.losses && (whole(b) || b.losses.some((l) => l.count > 0)) && <LossTable losses={b.losses} />}
			{error && <ErrorPanel error={error} what="That did not work" />}
			<div class="row">
				{can('upload') && <Button icon="retry" onClick={again}>Re-index</Button>}
				{can('admin') && <Button icon="trash" onClick={() => setDeleting(true)}>Delete</Button>}
				{deleting && <DeleteDialog title={`Delete ${b.name}?`} targets={[{ bundle: b.id }]} onClose={() => setDeleting(false)} onDone={onDeleted} />}
			</div>
		</div>
	);
}

function Failures({ b }: { b: Bundle }) {
	return (
		<section>
			<h3>Files that gave no trace</h3>
			<table class="data">
				<thead><tr><th scope="col">File</th><th scope="col">Outcome</th><th scope="col">Reason</th><th scope="col" class="num">Byte</th></tr></thead>
				<tbody>
					{b.failures!.map((f, i) => (
						<tr key={i}>
							<td class="wrap">{f.file}</td>
							<td>{f.outcome}</td>
							<td class="wrap">{f.message} <span class="dim">{f.code}</span></td>
							<td class="num">{typeof f.offset === 'number' && f.offset >= 0 ? int(f.offset) : ''}</td>
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}
