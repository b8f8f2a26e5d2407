// SPDX-License-Identifier: Apache-2.0
// The card at the pointer: a slice with its exact time, or a merged bucket with count and busy share.
import type { Signal } from '@preact/signals';
import { dur, durExact } from '../lib/format';
import { kindLabel } from '../lib/kinds';
import { mergedText } from '../lib/merged';
import { Swatch } from '../components/basics';
import type { Hit } from './scene';

export type HoverState = { hit: Hit; x: number; y: number };

export function HoverCard({ state }: { state: Signal<HoverState | null> }) {
	const s = state.value;
	if (!s) return null;
	const right = s.x > window.innerWidth - 340;
	const style = { left: `${right ? s.x - 12 : s.x + 14}px`, top: `${Math.min(s.y + 16, window.innerHeight - 90)}px` };
	const h = s.hit;
	return (
		<div class={`hover-card ${right ? 'right' : ''}`} style={style} role="tooltip">
			{h.merged && h.count > 1 ? (
				<>
					<b>{mergedText(h)}</b>
					<span class="dim mono name">mostly {h.name}</span>
					<span class="dim">in {dur(h.t1 - h.t0)}, click to zoom in</span>
				</>
			) : (
				<>
					<b class="name mono">{h.name}</b>
					<span class="dim"><Swatch kind={h.kind} />{kindLabel(h.kind)}{h.t1 > h.t0 ? `, ${durExact(h.t1 - h.t0)}` : ', below one tick'}{h.before ? ' from before the loaded part' : ''}</span>
				</>
			)}
		</div>
	);
}
