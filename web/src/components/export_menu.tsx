// SPDX-License-Identifier: Apache-2.0
// The downloads of a trace: each format for the selected range and for the whole trace.
import { useEffect, useRef, useState } from 'preact/hooks';
import { downloadUrl, FORMATS } from '../lib/exports';
import { Button } from './basics';

type Range = { t0: number; t1: number };

export function ExportMenu({ traceId, range }: { traceId: string; range: Range | null }) {
	const [open, set] = useState(false);
	const ref = useRef<HTMLSpanElement>(null);
	useEffect(() => {
		if (!open) return;
		const outside = (e: Event) => {
			if (!ref.current?.contains(e.target as Node)) set(false);
		};
		// Before the page's own Esc, which clears what is selected.
		const key = (e: KeyboardEvent) => {
			if (e.key !== 'Escape') return;
			e.stopPropagation();
			set(false);
			ref.current?.querySelector('button')?.focus();
		};
		addEventListener('mousedown', outside, true);
		addEventListener('focusin', outside, true);
		addEventListener('keydown', key, true);
		return () => {
			removeEventListener('mousedown', outside, true);
			removeEventListener('focusin', outside, true);
			removeEventListener('keydown', key, true);
		};
	}, [open]);
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
