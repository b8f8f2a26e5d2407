// SPDX-License-Identifier: Apache-2.0
// Named counters of everything that was repaired or left out while reading a trace.
import { useState } from 'preact/hooks';
import { int } from '../lib/format';
import { lossLabel, lossSummary } from '../lib/text';
import type { Loss } from '../lib/types';
import { Badge } from './basics';
import { Dialog } from './dialog';

export function LossTable({ losses }: { losses: Loss[] }) {
	const list = losses.filter((l) => l.count > 0).sort((a, b) => b.count - a.count);
	if (list.length === 0) return <p class="dim">No losses: every event of the file is in this trace as it was.</p>;
	return (
		<table class="data" title="Bytes count in the file as it is when unpacked. A dash: found when the trace was put in order, so it has no one place.">
			<thead><tr><th scope="col">Repair or loss</th><th scope="col">Counter</th><th scope="col" class="num">Events</th><th scope="col" class="num">First at byte</th></tr></thead>
			<tbody>
				{list.map((l) => (
					<tr key={l.code}><td>{lossLabel(l.code)}</td><td><code>{l.code}</code></td><td class="num">{int(l.count)}</td><td class="num">{l.first_offset === undefined ? '–' : int(l.first_offset)}</td></tr>
				))}
			</tbody>
		</table>
	);
}

export function LossBadge({ losses }: { losses: Loss[] | undefined }) {
	const [open, set] = useState(false);
	const some = (losses ?? []).some((l) => l.count > 0);
	return (
		<>
			<Badge tone={some ? 'warn' : 'dim'} icon={some ? 'warn' : 'check'} onClick={() => set(true)}>{lossSummary(losses)}</Badge>
			{open && (
				<Dialog title="Repairs and losses" drawer onClose={() => set(false)}>
					<p>What the reader had to repair or leave out. Each kind has its counter; nothing is dropped without one.</p>
					<LossTable losses={losses ?? []} />
				</Dialog>
			)}
		</>
	);
}
