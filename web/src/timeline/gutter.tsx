// SPDX-License-Identifier: Apache-2.0
// Names of the rows at the left: only those on screen are in the page. Sections and tracks fold, tracks pin.
import { Icon } from '../components/icons';
import { bytes, int, short } from '../lib/format';
import { trackKey } from './layout';
import type { Row } from './layout';
import type { TimelineModel } from './model';
import { Scene } from './scene';

export function Gutter({ model, scroll }: { model: TimelineModel; scroll: number }) {
	const height = model.height.value;
	const top = Math.min(model.pinned.value.height, height / 2);
	const f = { rows: model.layout.value.rows, top: top - scroll, clipTop: top, clipBottom: height + 40 };
	return (
		<div class="gutter-rows" style={{ top: `${top}px` }}>
			{Scene.visible(f).map((r) => <GutterRow key={r.key} r={r} y={r.y - scroll} model={model} />)}
		</div>
	);
}

export function PinnedGutter({ model }: { model: TimelineModel }) {
	const { rows, height } = model.pinned.value;
	if (height === 0) return null;
	return (
		<div class="gutter-rows pinned" style={{ height: `${Math.min(height, model.height.value / 2)}px` }}>
			{rows.map((r) => <GutterRow key={r.key} r={r} y={r.y} model={model} />)}
		</div>
	);
}

function GutterRow({ r, y, model }: { r: Row; y: number; model: TimelineModel }) {
	const key = r.track ? trackKey(r.track.id) : r.key;
	const hidden = r.track && r.open ? r.track.depths - r.depths : 0;
	const use = r.track && r.track.kind !== 'counter' ? `${int(r.track.slices)} slices` : '';
	return (
		<div class={`g-row ${r.type}`} style={{ transform: `translateY(${y}px)`, height: `${r.h}px` }}>
			{r.foldable ? (
				<button type="button" class="chev" aria-expanded={r.open} aria-label={`${r.open ? 'Fold' : 'Unfold'} ${r.title}`} onClick={() => model.toggle(key, r.open)}>
					<Icon name={r.open ? 'down' : 'right'} size={13} />
				</button>
			) : <span class="chev" />}
			<span class="g-title" title={[r.title, use].filter(Boolean).join(', ')}>{r.title}</span>
			{hidden > 0 && r.track!.kind !== 'counter' && (
				<button type="button" class="g-more" onClick={() => model.openTrack(r.track!.id)} title={`Show ${int(hidden)} deeper rows`}>+{hidden}</button>
			)}
			<span class="g-note">{r.note}{r.track?.kind === 'counter' && counterNote(r, model.counterTops.value.get(r.track.id))}</span>
			{r.track && (
				<button type="button" class={`g-pin ${r.pinned ? 'on' : ''}`} aria-pressed={r.pinned} aria-label={`Pin ${r.title}`} title={r.pinned ? 'Unpin' : 'Pin on top'}
					onClick={() => model.pin(r.track!.id)}>
					<Icon name="pin" size={13} />
				</button>
			)}
		</div>
	);
}

/** The axis of a counter: it starts at 0. */
function counterNote(r: Row, top: number | undefined): string {
	const unit = r.track?.unit ?? '';
	if (top === undefined) return unit;
	return unit === 'bytes' ? `0–${bytes(top)}` : `0–${short(top)} ${unit}`.trim();
}
