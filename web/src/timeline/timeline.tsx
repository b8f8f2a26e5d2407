// SPDX-License-Identifier: Apache-2.0
// The timeline of one trace: toolbar, strips, gutter and canvas, drawer.
import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Empty, ErrorPanel, Skeleton } from '../components/basics';
import { Failure } from '../components/failure';
import { getJson } from '../lib/api';
import { dur, int, plural } from '../lib/format';
import { useLoad } from '../lib/load';
import type { Trace, TrackList } from '../lib/types';
import { Drawer } from './drawer';
import { Gutter, PinnedGutter } from './gutter';
import { HoverCard } from './hover';
import type { HoverState } from './hover';
import { Input } from './input';
import { writeNote } from './notes';
import { NotesLayer } from './notes_layer';
import { TimelineModel } from './model';
import { Stage } from './stage';
import { expose } from './testhook';
import { Toolbar } from './toolbar';

type Props = { trace: Trace; onChanged: (t: Trace) => void };

export function Timeline({ trace, onChanged }: Props) {
	const tracks = useLoad<TrackList>(`tracks ${trace.id}`, (s) => getJson(`/traces/${trace.id}/tracks`, undefined, s));
	if (tracks.error && !tracks.data) return <div class="page"><Failure error={tracks.error} what="The tracks could not be loaded" retry={tracks.reload} /></div>;
	if (!tracks.data) return <Skeleton rows={10} />;
	if (tracks.data.tracks.length === 0) return <Empty title="This trace has no tracks"><p>Its file holds metadata only.</p></Empty>;
	return <Loaded trace={trace} list={tracks.data} onChanged={onChanged} />;
}

function Loaded({ trace, list, onChanged }: Props & { list: TrackList }) {
	const model = useMemo(() => new TimelineModel(trace, list), [trace.id]);
	const hover = useMemo(() => signal<HoverState | null>(null), []);
	const scroll = useMemo(() => signal(0), []);
	const stage = useMemo(() => signal<Stage | null>(null), []);
	const input = useRef<Input | null>(null);
	const refs = {
		minimap: useRef<HTMLCanvasElement>(null), strip: useRef<HTMLCanvasElement>(null), ruler: useRef<HTMLCanvasElement>(null),
		band: useRef<HTMLCanvasElement>(null), tracks: useRef<HTMLCanvasElement>(null),
	};
	const area = useRef<HTMLDivElement>(null);
	const scroller = useRef<HTMLDivElement>(null);
	const search = useRef<HTMLInputElement>(null);

	useEffect(() => () => model.stop(), [model]);
	useEffect(() => model.notes.take(trace.notes), [trace]);
	model.notes.onSaved = onChanged;
	const asked = writeNote.value === trace.id;
	useEffect(() => {
		if (!asked) return;
		writeNote.value = null;
		model.startNote();
	}, [asked]);
	useEffect(() => {
		const el = Object.fromEntries(Object.entries(refs).map(([k, r]) => [k, r.current!])) as Record<keyof typeof refs, HTMLCanvasElement>;
		const s = new Stage(model, el, () => expose(model, s, scroller.current!));
		stage.value = s;
		const box = scroller.current!;
		const fit = () => {
			const gutter = parseFloat(getComputedStyle(box).getPropertyValue('--gutter')) || 240;
			box.style.setProperty('--fixed', `${box.clientHeight}px`);
			s.resize(box.clientWidth - gutter, box.clientHeight);
		};
		const watch = new ResizeObserver(fit);
		watch.observe(box);
		fit();
		const onScroll = () => {
			s.scrollTop = box.scrollTop;
			scroll.value = box.scrollTop;
			hover.value = null;
			s.redraw();
		};
		box.addEventListener('scroll', onScroll, { passive: true });
		input.current = new Input(model, s, el.tracks, area.current!, el.minimap, (h, x, y) => (hover.value = h && { hit: h, x, y }),
			() => { search.current?.focus(); search.current?.select(); });
		const follow = model.scrollTo.subscribe((to) => to && bring(model, s, box, to.track, to.depth));
		return () => {
			follow();
			watch.disconnect();
			box.removeEventListener('scroll', onScroll);
			input.current?.stop();
			s.stop();
		};
	}, [model]);

	const label = `Timeline of ${int(model.tracks.length)} tracks, ${dur(trace.t_max_ns - trace.t_min_ns)}. `
		+ 'Arrow keys select slices, W S A D zoom and pan; the table below lists the same slices.';
	return (
		<div class="timeline">
			<Toolbar model={model} search={search} step={(d) => void input.current?.stepHit(d)} />
			<Failures model={model} stage={stage.value} />
			<div class="tl-area" ref={area}>
				<div class="tl-strip mini">
					<div class="tl-label"><span>Whole trace{model.steps.value.length > 0 && `, ${plural(model.steps.value.length, 'step')}`}</span><span class="dim">{model.gpuWork.value ? 'GPU busy, 0–100 %' : 'no GPU work'}</span></div>
					<canvas ref={refs.minimap} role="img" aria-label="GPU busy over the whole trace; the frame marks the visible part" />
				</div>
				<div class="tl-strip hits">
					<div class="tl-label dim">Search hits</div>
					<canvas ref={refs.strip} role="img" aria-label="Where the search hits are" />
				</div>
				<div class="tl-strip ruler">
					<div class="tl-label dim">Time in trace</div>
					<canvas ref={refs.ruler} aria-hidden="true" />
					<NotesLayer model={model} />
				</div>
				<div class="tl-strip band">
					<div class="tl-label dim">{model.steps.value.length > 0 ? 'Steps' : 'No steps'}</div>
					<canvas ref={refs.band} aria-hidden="true" />
				</div>
				<div class="tl-scroll" ref={scroller}>
					<div class="tl-fixed">
						<div class="tl-gutter">
							<PinnedGutter model={model} />
							<Gutter model={model} scroll={scroll.value} />
						</div>
						<canvas ref={refs.tracks} tabIndex={0} role="application" aria-label={label} aria-describedby="tl-selected" />
					</div>
					<Spacer model={model} />
				</div>
			</div>
			<div id="tl-selected" class="offscreen" aria-live="polite">{model.details.value ? `${model.details.value.name}, ${dur(model.details.value.dur)}` : ''}</div>
			<Drawer model={model} stage={stage.value} />
			<HoverCard state={hover} />
		</div>
	);
}

function Spacer({ model }: { model: TimelineModel }) {
	return <div aria-hidden="true" style={{ height: `${model.layout.value.height + model.pinned.value.height + 24}px` }} />;
}

function Failures({ model, stage }: { model: TimelineModel; stage: Stage | null }) {
	const e = model.hits.error.value ?? stage?.tiles.error.value ?? null;
	return e ? <ErrorPanel error={e} what="Part of the timeline could not be loaded" retry={() => stage?.redraw()} /> : null;
}

/** Scrolls a row into the middle when it is not visible. */
function bring(model: TimelineModel, s: Stage, box: HTMLElement, track: number, depth: number): void {
	const row = model.layout.peek().rows.find((r) => r.type === 'track' && r.track?.id === track);
	if (!row) return;
	const y = row.y + row.pad + depth * row.rest;
	const room = s.height - s.pinnedHeight;
	if (y >= box.scrollTop + 8 && y + 24 <= box.scrollTop + room) return;
	requestAnimationFrame(() => (box.scrollTop = Math.max(0, y - room / 2)));
}
