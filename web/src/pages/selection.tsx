// SPDX-License-Identifier: Apache-2.0
// What can be done with the ticked rows of the list, or with a whole job or capture that it is filtered by.
import { useState } from 'preact/hooks';
import { can } from '../app/session';
import { Button, ErrorPanel } from '../components/basics';
import { DeleteDialog } from '../components/deletion';
import { send } from '../lib/api';
import type { Target } from '../lib/deletion';
import { int, plural } from '../lib/format';
import type { TraceRow } from '../lib/types';
import { rowKey } from './list_state';
import type { ListState } from './list_state';

type Props = { rows: TraceRow[]; state: ListState; change: (s: Partial<ListState>, how?: 'push' | 'replace') => void; onChanged: () => void };

export function ticked(rows: readonly TraceRow[], tick: readonly string[]): TraceRow[] {
	const set = new Set(tick);
	return rows.filter((r) => set.has(rowKey(r)));
}

export function SelectionBar({ rows, state, change, onChanged }: Props) {
	const [deleting, setDeleting] = useState<{ title: string; targets: Target[] } | null>(null);
	const [error, setError] = useState<Error | null>(null);
	const [busy, setBusy] = useState(false);
	const chosen = ticked(rows, state.tick);
	const traces = chosen.filter((r) => r.id);
	const keep = async (on: boolean) => {
		setBusy(true);
		setError(null);
		try {
			for (const r of traces) if (!!r.keep !== on) await send('PATCH', `/traces/${r.id}`, { keep: on });
			change({ tick: [] }, 'replace');
		} catch (e) {
			setError(e as Error);
		}
		setBusy(false);
		onChanged();
	};
	const whole = wholeOf(state);
	return (
		<>
			<span class="grow" />
			{chosen.length > 0 && (
				<div class="row selection" role="group" aria-label="Ticked rows">
					<b aria-live="polite">{int(chosen.length)} selected</b>
					{can('upload') && <Button icon="pin" disabled={busy || traces.length === 0 || traces.every((r) => r.keep)} title="Retention passes kept traces over" onClick={() => void keep(true)}>Keep</Button>}
					{can('upload') && traces.some((r) => r.keep) && <Button disabled={busy} onClick={() => void keep(false)}>Do not keep</Button>}
					{can('admin') && <Button icon="trash" onClick={() => setDeleting({ title: `Delete ${plural(chosen.length, 'row')}?`, targets: chosen.map(targetOf) })}>Delete</Button>}
					<Button quiet onClick={() => change({ tick: [] }, 'replace')}>Clear</Button>
				</div>
			)}
			{chosen.length === 0 && whole && can('admin') && rows.length > 0 && <Button icon="trash" onClick={() => setDeleting({ title: `Delete ${whole.title}?`, targets: [whole.target] })}>Delete {whole.title}</Button>}
			{error && <ErrorPanel error={error} what="Not every trace was changed" />}
			{deleting && (
				<DeleteDialog title={deleting.title} targets={deleting.targets} onClose={() => { setDeleting(null); onChanged(); }} onDone={() => {
					setDeleting(null);
					change({ tick: [] }, 'replace');
					onChanged();
				}} />
			)}
		</>
	);
}

function targetOf(r: TraceRow): Target {
	return r.id ? { trace: r.id } : { bundle: r.bundle };
}

/** The job or capture that the list is filtered by and nothing else: it can be deleted as a whole. */
export function wholeOf(s: ListState): { title: string; target: Target } | null {
	if (s.q !== '' || s.keep || s.state.length + s.host.length > 0) return null;
	if (s.capture && s.job.length === 0) return { title: `capture ${s.capture}`, target: { capture: s.capture } };
	if (!s.capture && s.job.length === 1 && s.job[0]) return { title: `job ${s.job[0]}`, target: { job: s.job[0] } };
	return null;
}
