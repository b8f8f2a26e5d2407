// SPDX-License-Identifier: Apache-2.0
// Named counters of everything that was repaired or left out while reading a trace, in the words of docs/losses.md.
import { useState } from 'preact/hooks';
import { int } from '../lib/format';
import { useLoad } from '../lib/load';
import { splitLosses, wordsOf, type LossWords } from '../lib/losses';
import { lossLabel, lossSummary } from '../lib/text';
import type { Loss } from '../lib/types';
import { Badge } from './basics';
import { Dialog } from './dialog';

async function readWords(signal: AbortSignal): Promise<LossWords> {
	const r = await fetch('/guide/losses.json', { signal });
	return r.ok ? ((await r.json()) as LossWords) : {};
}

/** Text with parts in backquotes. */
function Words({ text }: { text: string }) {
	return <>{text.split('`').map((t, i) => (i % 2 ? <code key={i}>{t}</code> : t))}</>;
}

function Counters({ list, words, head }: { list: Loss[]; words: LossWords | null; head: string }) {
	return (
		<table class="data" title="Bytes count in the file as it is when unpacked. A dash: found when the trace was put in order, so it has no one place.">
			<thead><tr><th scope="col">{head}</th><th scope="col">Still in the trace</th><th scope="col" class="num">Times</th><th scope="col" class="num">First at byte</th></tr></thead>
			<tbody>
				{list.map((l) => {
					const w = wordsOf(words, l.code);
					return (
						<tr key={l.code}>
							<td class="wrap"><Words text={w?.what ?? lossLabel(l.code)} /> <code class="dim">{l.code}</code></td>
							<td class="wrap"><Words text={w?.kept ?? ''} /></td>
							<td class="num">{int(l.count)}</td>
							<td class="num">{l.first_offset === undefined ? '–' : int(l.first_offset)}</td>
						</tr>
					);
				})}
			</tbody>
		</table>
	);
}

export function LossTable({ losses }: { losses: Loss[] }) {
	const { repairs, remarks } = splitLosses(losses);
	const words = useLoad(repairs.length + remarks.length > 0 ? 'losses' : null, readWords).data;
	return (
		<>
			{repairs.length === 0 ? <p class="dim">No losses: every event of the file is in this trace as it was.</p> : <Counters list={repairs} words={words} head="Repair or loss" />}
			{remarks.length > 0 && <Counters list={remarks} words={words} head="Remark: normal in sound files" />}
		</>
	);
}

export function LossBadge({ losses }: { losses: Loss[] | undefined }) {
	const [open, set] = useState(false);
	const some = splitLosses(losses).repairs.length > 0;
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
