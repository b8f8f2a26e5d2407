// SPDX-License-Identifier: Apache-2.0
// The drawer under the tracks: tables of the range and of what is visible at the left, the selected slice at the right.
import { useEffect, useState } from 'preact/hooks';
import { Button } from '../components/basics';
import type { TimelineModel } from './model';
import { DetailsPane } from './details';
import { RangeTable } from './range_table';
import { SlicesTable } from './slices_table';
import type { Stage } from './stage';
import { FlowsTable } from './flows_table';
import { HitsTable } from './hits_table';
import { NotesTable } from './notes_table';

const TABS = [['', 'Range'], ['flows', 'Flows'], ['hits', 'Search hits'], ['notes', 'Notes'], ['slices', 'Slices in view']] as const;
const KEY = 'fleetscope.drawer';

function startHeight(): number {
	try {
		return Number(localStorage.getItem(KEY)) || 270;
	} catch {
		return 270;
	}
}

export function Drawer({ model, stage }: { model: TimelineModel; stage: Stage | null }) {
	const [height, setHeight] = useState(startHeight);
	const [shut, setShut] = useState(false);
	const tab = TABS.some(([k]) => k === model.tab.value) ? model.tab.value : '';
	const writing = model.notes.draft.value !== null;
	useEffect(() => {
		if (writing || model.notes.at.value) setShut(false);
	}, [writing, model.notes.at.value]);
	const keep = (h: number) => {
		const v = Math.round(Math.min(window.innerHeight * 0.7, Math.max(120, h)));
		setHeight(v);
		try {
			localStorage.setItem(KEY, String(v));
		} catch {
			// The height then lasts as long as the page.
		}
	};
	const drag = (e: MouseEvent) => {
		e.preventDefault();
		const from = e.clientY + height;
		const move = (x: MouseEvent) => keep(from - x.clientY);
		const up = () => {
			removeEventListener('mousemove', move);
			removeEventListener('mouseup', up);
		};
		addEventListener('mousemove', move);
		addEventListener('mouseup', up);
	};
	const pick = (k: string) => {
		model.tab.value = k;
		setShut(false);
		model.commit();
	};
	const arrows = (e: KeyboardEvent) => {
		const step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
		if (step === 0) return;
		e.preventDefault();
		e.stopPropagation();
		const keys = TABS.map(([k]) => k as string);
		const next = keys[(keys.indexOf(tab) + step + keys.length) % keys.length];
		pick(next);
		document.getElementById(`d-tab-${next}`)?.focus();
	};
	return (
		<section class="tl-drawer" aria-label="Tables and details" style={{ height: `${shut ? 37 : height}px` }}>
			<div class="splitter" role="separator" aria-orientation="horizontal" aria-label="Height of the drawer" aria-valuenow={height} aria-valuemin={120} aria-valuemax={900} tabIndex={0}
				onMouseDown={drag} onKeyDown={(e) => {
					if (e.key !== 'ArrowUp' && e.key !== 'ArrowDown') return;
					e.stopPropagation();
					keep(height + (e.key === 'ArrowUp' ? 24 : -24));
				}} />
			<div class="d-left">
				<div class="d-head">
					<div class="tabs small" role="tablist" aria-label="Tables" onKeyDown={arrows}>
						{TABS.map(([k, text]) => <button key={k} type="button" role="tab" id={`d-tab-${k}`} aria-controls="d-panel" aria-selected={k === tab} tabIndex={k === tab ? 0 : -1} onClick={() => pick(k)}>{text}{k === 'notes' && model.notes.items.value.length > 0 && <span class="count">{model.notes.items.value.length}</span>}</button>)}
					</div>
					<span class="grow" />
					<div class="d-actions" id="d-actions" />
					<Button small quiet icon={shut ? 'up' : 'down'} label={shut ? 'Open the drawer' : 'Close the drawer'} expanded={!shut} onClick={() => setShut(!shut)} />
				</div>
				<div id="d-panel" role="tabpanel" aria-labelledby={`d-tab-${tab}`} class="d-body">
					{!shut && tab === '' && <RangeTable model={model} />}
					{!shut && tab === 'flows' && <FlowsTable model={model} />}
					{!shut && tab === 'hits' && <HitsTable model={model} />}
					{!shut && tab === 'notes' && <NotesTable model={model} />}
					{!shut && tab === 'slices' && <SlicesTable model={model} stage={stage} />}
				</div>
			</div>
			<DetailsPane model={model} shut={shut} />
		</section>
	);
}
