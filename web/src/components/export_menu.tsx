// SPDX-License-Identifier: Apache-2.0
// The downloads of a trace: each format for the selected range and for the whole trace.
import { downloadUrl, FORMATS } from '../lib/exports';
import { Button } from './basics';
import { usePopover } from './popover';

type Range = { t0: number; t1: number };

export function ExportMenu({ traceId, range }: { traceId: string; range: Range | null }) {
	const { open, set, ref } = usePopover<HTMLSpanElement>();
	const group = (title: string, r: Range | null) => (
		<section aria-label={title}>
			<h3>{title}</h3>
			{FORMATS.map((f) => <a key={f.name} href={downloadUrl(traceId, f.name, r)} download onClick={() => set(false)}><b>{f.title}</b> <span class="dim">{f.what}</span></a>)}
		</section>
	);
	return (
		<span class="export-menu" ref={ref}>
			<Button icon="download" expanded={open} onClick={() => set(!open)}>Export</Button>
			{open && <div class="popover">{range && group('Selected range', range)}{group('Whole trace', null)}</div>}
		</span>
	);
}
