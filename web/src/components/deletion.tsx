// SPDX-License-Identifier: Apache-2.0
// What a delete takes, said before it is done: the dialog of every delete, and its summary.
import { useEffect, useState } from 'preact/hooks';
import { deleteAll } from '../lib/deletion';
import type { Kept, Target } from '../lib/deletion';
import { bytes, int, plural } from '../lib/format';
import type { Deletion } from '../lib/types';
import { Button, ErrorPanel, Skeleton } from './basics';
import { Dialog } from './dialog';
import { Icon } from './icons';

const SHOWN = 100;

export function DeletionSummary({ d, verb }: { d: Deletion; verb: string }) {
	const what = [];
	if (d.bundles > 0) what.push(plural(d.bundles, 'upload'));
	if (d.traces > 0) what.push(plural(d.traces, 'trace'));
	if (d.blobs) what.push(`the files alone of ${plural(d.blobs, 'upload')}`);
	const rows = d.items.slice(0, SHOWN);
	const more = d.items.length - rows.length;
	return (
		<>
			{verb && <p><b>{verb} {what.join(' and ') || 'nothing'}.</b> {d.blob_bytes + d.segment_bytes > 0 && <>Files {bytes(d.blob_bytes)}, segments {bytes(d.segment_bytes)}.</>}</p>}
			{d.kept_skipped > 0 && <p class="dim">{plural(d.kept_skipped, 'kept trace')} {d.kept_skipped === 1 ? 'is' : 'are'} passed over.</p>}
			{rows.length > 0 && (
				<div class="table-box takes">
					<div class="table-scroll" tabIndex={0} role="region" aria-label="What goes">
						<table class="data">
							<colgroup><col /><col style={{ width: '84px' }} /><col style={{ width: '110px' }} /></colgroup>
							<thead><tr><th scope="col">Name</th><th scope="col">What</th><th scope="col" class="num">Bytes</th></tr></thead>
							<tbody>
								{rows.map((i, n) => (
									<tr key={n}>
										<th scope="row" class="cut" title={i.name}>{i.name}{i.keep && <span class="dim"> {d.kept_skipped > 0 ? 'kept, stays' : 'kept'}</span>}</th>
										<td>{i.trace ? 'trace' : 'upload'}</td>
										<td class="num">{bytes(i.bytes)}</td>
									</tr>
								))}
								{(more > 0 || d.truncated) && <tr><th scope="row" colSpan={3} class="dim">{d.truncated ? 'and more: the list is cut' : `and ${int(more)} more`}</th></tr>}
							</tbody>
						</table>
					</div>
				</div>
			)}
		</>
	);
}

type Props = { title: string; targets: readonly Target[]; onClose: () => void; onDone: (d: Deletion) => void };

export function DeleteDialog({ title, targets, onClose, onDone }: Props) {
	const [kept, setKept] = useState<Kept>('skip');
	const [found, setFound] = useState<{ kept: Kept; d: Deletion } | null>(null);
	const [error, setError] = useState<Error | null>(null);
	const [busy, setBusy] = useState(false);
	const [asksKept, setAsksKept] = useState(false);
	useEffect(() => {
		let open = true;
		setError(null);
		deleteAll(targets, true, kept).then((d) => {
			if (!open) return;
			setFound({ kept, d });
			if (d.kept_skipped > 0) setAsksKept(true);
		}, (e: Error) => open && setError(e));
		return () => {
			open = false;
		};
	}, [kept]);
	const go = () => {
		setBusy(true);
		deleteAll(targets, false, kept).then(onDone, (e: Error) => {
			setError(e);
			setBusy(false);
		});
	};
	// What was found out for the other answer to "kept too?" must not stand beside a button that does this one.
	const would = found?.kept === kept ? found.d : null;
	const none = !!would && would.bundles + would.traces === 0;
	return (
		<Dialog title={title} onClose={onClose}>
			{error && <ErrorPanel error={error} what={busy || would ? 'Not everything was deleted' : 'What would go could not be found out'} />}
			{!would && !error && <Skeleton rows={3} />}
			{would && <DeletionSummary d={would} verb="Goes for good:" />}
			{asksKept && (
				<label class="check">
					<input type="checkbox" checked={kept === 'delete'} disabled={busy} onChange={(e) => setKept(e.currentTarget.checked ? 'delete' : 'skip')} />
					Delete the kept traces too
				</label>
			)}
			{would && !none && <p class="dim">This cannot be undone. Links to it will say that it was deleted, when and by whom.</p>}
			<div class="row">
				<Button icon="trash" primary disabled={busy || !would || none} onClick={go}>{busy ? 'Deleting' : would && !none ? `Delete ${amount(would)}` : 'Delete'}</Button>
				<Button onClick={onClose}>Cancel</Button>
			</div>
		</Dialog>
	);
}

function amount(d: Deletion): string {
	return d.traces > 0 ? plural(d.traces, 'trace') : plural(d.bundles, 'upload');
}

/** "Keep" is what retention passes over. */
export function KeptBadge() {
	return <span class="badge kept" title="Kept: retention passes it over"><Icon name="pin" size={12} />kept</span>;
}
