// SPDX-License-Identifier: Apache-2.0
// What can be done with a whole trace: keep it, index its upload again, delete it or what it belongs to.
import { useState } from 'preact/hooks';
import { navigate } from '../app/router';
import { can } from '../app/session';
import { Button } from '../components/basics';
import { DeleteDialog } from '../components/deletion';
import { Icon } from '../components/icons';
import { usePopover } from '../components/popover';
import { send } from '../lib/api';
import type { Target } from '../lib/deletion';
import type { Trace } from '../lib/types';

type Props = { t: Trace; onChanged: (t: Trace | null) => void; onError: (e: Error, what: string) => void };

export function TraceMenu({ t, onChanged, onError }: Props) {
	const { open, set, ref } = usePopover<HTMLSpanElement>();
	const [deleting, setDeleting] = useState<{ title: string; target: Target } | null>(null);
	const keep = (on: boolean) => {
		set(false);
		send<Trace>('PATCH', `/traces/${t.id}`, { keep: on }).then(onChanged, (e: Error) => onError(e, 'The trace could not be changed'));
	};
	const reindex = () => {
		set(false);
		send('POST', `/bundles/${t.bundle}/reindex`).then(() => onChanged(null), (e: Error) => onError(e, 'Indexing again did not start'));
	};
	const remove = (title: string, target: Target) => {
		set(false);
		setDeleting({ title, target });
	};
	if (!can('upload') && !can('admin')) return null;
	const item = (icon: string, text: string, note: string, act: () => void, off = false) => (
		<button type="button" class="item" disabled={off} onClick={act}><Icon name={icon} size={14} /><b>{text}</b> <span class="dim">{note}</span></button>
	);
	return (
		<span class="export-menu trace-menu" ref={ref}>
			<Button icon="more" label="More about this trace" title="Keep, index again, delete" expanded={open} onClick={() => set(!open)} />
			{open && (
				<div class="popover">
					{can('upload') && (t.keep
						? item('pin', 'Do not keep', 'retention may take it', () => keep(false))
						: item('pin', 'Keep', 'retention passes it over', () => keep(true)))}
					{can('upload') && t.bundle && item('retry', 'Index again', t.rebuildable === false ? 'its file was let go' : 'from the uploaded file', reindex, t.rebuildable === false)}
					{can('admin') && item('trash', 'Delete this trace', 'its upload stays', () => remove('Delete this trace?', { trace: t.id }))}
					{can('admin') && t.bundle && item('trash', 'Delete the upload', 'with all its traces', () => remove('Delete the upload?', { bundle: t.bundle! }))}
					{can('admin') && t.capture && item('trash', 'Delete the capture', t.capture, () => remove(`Delete capture ${t.capture}?`, { capture: t.capture! }))}
					{can('admin') && t.job && item('trash', 'Delete the job', t.job, () => remove(`Delete job ${t.job}?`, { job: t.job! }))}
				</div>
			)}
			{deleting && <DeleteDialog title={deleting.title} targets={[deleting.target]} onClose={() => setDeleting(null)} onDone={() => navigate('/traces')} />}
		</span>
	);
}
