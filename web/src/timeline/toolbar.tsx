// SPDX-License-Identifier: Apache-2.0
// Zoom buttons, the visible window as numbers that can be typed, legend, search.
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button, Swatch } from '../components/basics';
import { Icon } from '../components/icons';
import { int } from '../lib/format';
import type { TimelineModel } from './model';
import { TimeRange } from './timerange';
import { zoom } from './viewport';

const LEGEND = [['compute', 'compute'], ['comm', 'communication'], ['copy', 'copy'], ['sync', 'sync'], ['uncl', 'unclassified'], ['op', 'host']] as const;

export function Toolbar({ model, search, step }: { model: TimelineModel; search: RefObject<HTMLInputElement | null>; step: (d: 1 | -1) => void }) {
	const by = (f: number) => {
		model.setView(zoom(model.view.value, f, 0.5, model.lim));
		model.commit();
	};
	return (
		<div class="tl-toolbar" role="toolbar" aria-label="Timeline">
			<Button small icon="minus" label="Zoom out" title="Zoom out (S)" onClick={() => by(2)} />
			<Button small icon="plus" label="Zoom in" title="Zoom in (W)" onClick={() => by(0.5)} />
			<Button small icon="fit" title="Whole trace (0)" onClick={() => { model.whole(); model.commit(); }}>Whole trace</Button>
			<TimeRange label="view" value={model.view.value} onChange={(w) => { model.setView(w); model.commit(); }} />
			<span class="grow" />
			<ul class="legend" aria-label="Colours">
				{LEGEND.map(([g, text]) => <li key={g}><Swatch group={g} />{text}</li>)}
				<li><i class="swatch shade" />merged, shade = busy</li>
				{model.hits.q.value && <li><i class="hit-line" />hit</li>}
			</ul>
			<SearchBox model={model} input={search} step={step} />
		</div>
	);
}

function SearchBox({ model, input, step }: { model: TimelineModel; input: RefObject<HTMLInputElement | null>; step: (d: 1 | -1) => void }) {
	const { hits } = model;
	const [text, setText] = useState(hits.q.value);
	useEffect(() => setText(hits.q.value), [hits.q.value]);
	const total = hits.total.value;
	const note = !hits.q.value ? '' : total === null ? 'searching' : total === 0 ? 'no hit' : hits.at.value < 0 ? `${int(total)} ${total === 1 ? 'hit' : 'hits'}` : `hit ${int(hits.at.value + 1)} of ${int(total)}`;
	const onKey = (e: KeyboardEvent) => {
		if (e.key === 'Enter') {
			hits.set(text);
			step(e.shiftKey ? -1 : 1);
		} else if (e.key === 'Escape') {
			hits.set('');
			setText('');
			input.current?.blur();
		} else return;
		e.preventDefault();
	};
	return (
		<div class="tl-search">
			<Icon name="search" />
			<input ref={input} type="text" value={text} placeholder="Search slices" aria-label="Search slices of this trace"
				onInput={(e) => { setText(e.currentTarget.value); hits.set(e.currentTarget.value); }} onKeyDown={onKey} />
			<span class="note" role="status">{note}</span>
			{!hits.q.value && <kbd>/</kbd>}
			{hits.q.value && (
				<>
					<button type="button" class="btn quiet only tiny" aria-label="Dim slices that do not match" aria-pressed={model.dimOthers.value} title="Dim the others"
						onClick={() => (model.dimOthers.value = !model.dimOthers.value)}><Icon name="moon" size={13} /></button>
					<button type="button" class="btn quiet only tiny" aria-label="Previous hit" onClick={() => step(-1)}><Icon name="left" size={13} /></button>
					<button type="button" class="btn quiet only tiny" aria-label="Next hit" onClick={() => step(1)}><Icon name="right" size={13} /></button>
				</>
			)}
		</div>
	);
}
