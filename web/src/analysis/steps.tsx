// SPDX-License-Identifier: Apache-2.0
// One bar per step, from 0, split into busy and idle; each leads to that step in the timeline.
import { useEffect, useRef, useState } from 'preact/hooks';
import { navigate } from '../app/router';
import { dur, durExact, fixed, pct, unitFor } from '../lib/format';
import { valueTicks } from '../lib/ticks';
import type { Step } from '../lib/types';
import { stepTitle } from '../timeline/ruler';
import { quantile, slowSteps } from './parts';
import { stepNumber } from './scope';

const H = 172;
const TOP = 30;
const LEFT = 44;

export function stepHref(traceId: string, s: Step): string {
	const room = Math.round(s.dur_ns * 0.05);
	return `/traces/${encodeURIComponent(traceId)}?t0=${Math.max(0, s.t0 - room)}&t1=${s.t0 + s.dur_ns + room}&range=${s.t0}..${s.t0 + s.dur_ns}`;
}

function useWidth(): [{ current: HTMLDivElement | null }, number] {
	const ref = useRef<HTMLDivElement>(null);
	const [w, set] = useState(560);
	useEffect(() => {
		const o = new ResizeObserver(() => set(ref.current?.clientWidth ?? 560));
		o.observe(ref.current!);
		return () => o.disconnect();
	}, []);
	return [ref, w];
}

export function StepChart({ steps, traceId }: { steps: Step[]; traceId: string }) {
	const [ref, width] = useWidth();
	const durations = steps.map((s) => s.dur_ns);
	const ticks = valueTicks(Math.max(...durations) * 1.02, 4);
	const top = ticks[ticks.length - 1];
	const u = unitFor(top);
	const y = (ns: number) => TOP + H * (1 - ns / top);
	const room = width - LEFT - 8;
	const slot = room / steps.length;
	const gap = slot > 4 ? 1 : 0;
	const median = quantile(durations, 0.5);
	const slow = slowSteps(durations);
	const split = steps.every((s) => typeof s.busy_ns === 'number');
	const every = Math.max(1, Math.ceil(48 / slot));
	return (
		<div class="steps">
			<div ref={ref} />
			<svg width={width} height={TOP + H + 22} role="group" aria-label={`Duration of ${steps.length} steps, median ${dur(median)}`}>
				{ticks.map((t) => (
					<g key={t}>
						<line x1={LEFT} x2={width - 8} y1={y(t)} y2={y(t)} class="grid" />
						<text x={LEFT - 6} y={y(t) + 4} class="tick end">{fixed(t / u.ns, t / u.ns < 10 && u.ns > 1 && top / u.ns < 5 ? 1 : 0)}</text>
					</g>
				))}
				<text x={LEFT - 6} y={TOP - 14} class="tick end">{u.name}</text>
				{steps.map((s, i) => {
					const x = LEFT + i * slot;
					const busy = split ? Math.min(s.busy_ns!, s.dur_ns) : 0;
					const go = stepHref(traceId, s);
					const label = `${stepTitle(s.name)}, ${durExact(s.dur_ns)}${split ? `, GPU busy ${pct((100 * busy) / s.dur_ns)}` : ''}`;
					return (
						<a key={i} href={go} aria-label={label} class="step" onClick={(e) => { if (e.ctrlKey || e.metaKey || e.shiftKey) return; e.preventDefault(); navigate(go); }}>
							<title>{label}</title>
							<rect x={x} y={TOP} width={slot} height={H} class="catch" />
							<rect x={x} y={y(s.dur_ns)} width={Math.max(0.5, slot - gap)} height={y(busy) - y(s.dur_ns)} class={split ? 'k-i-host' : 'k-neutral'} />
							{split && <rect x={x} y={y(busy)} width={Math.max(0.5, slot - gap)} height={TOP + H - y(busy)} class="k-neutral" />}
						</a>
					);
				})}
				<line x1={LEFT} x2={width - 8} y1={y(median)} y2={y(median)} class="median" />
				{slow.slice(0, 2).map((i) => <SlowMark key={i} x={LEFT + (i + 0.5) * slot} y={y(durations[i])} text={`${stepTitle(steps[i].name)}, ${dur(durations[i])}`} width={width} />)}
				<line x1={LEFT} x2={width - 8} y1={TOP + H} y2={TOP + H} class="axis" />
				{steps.map((s, i) => (i % every === 0 ? <text key={i} x={LEFT + (i + 0.5) * slot} y={TOP + H + 16} class="tick mid">{stepNumber(s, i)}</text> : null))}
			</svg>
			<ul class="legend">
				{split && <li><i class="swatch k-neutral" />GPU busy</li>}
				<li><i class={`swatch ${split ? 'k-i-host' : 'k-neutral'}`} />{split ? 'idle' : 'step'}</li>
				<li><i class="dash" />median</li>
				{slow.length > 0 && <li><span class="slow">▼</span>slow, above 1.2 × median</li>}
			</ul>
		</div>
	);
}

function SlowMark({ x, y, text, width }: { x: number; y: number; text: string; width: number }) {
	const anchor = x > width - 110 ? 'end' : x < 150 ? 'start' : 'middle';
	return (
		<g class="slow-mark">
			<path d={`M${x - 4} ${y - 10}h8l-4 6z`} />
			<text x={x} y={y - 15} text-anchor={anchor}>{text}</text>
		</g>
	);
}
