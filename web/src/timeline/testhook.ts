// SPDX-License-Identifier: Apache-2.0
// What browser tests may look at: only when the URL has the parameter `test`.
import type { TimelineModel } from './model';
import { placeNotes } from './notes';
import { depthHeight, depthTop } from './layout';
import type { Stage } from './stage';

export function expose(model: TimelineModel, stage: Stage, box: HTMLElement): void {
	if (!new URLSearchParams(location.search).has('test')) return;
	Object.assign(window, {
		__ui: {
			view: () => model.view.peek(),
			range: () => model.range.peek(),
			details: () => model.details.peek(),
			frames: () => stage.frames,
			drawMs: () => stage.drawMs,
			loading: () => stage.tiles.loading,
			size: () => ({ width: stage.width, height: stage.height, dpr: stage.dpr, scrollTop: box.scrollTop, pinned: stage.pinnedHeight }),
			hit: (x: number, y: number) => stage.hit(x, y),
			slices: () => [...stage.main.list(null)],
			rows: () => model.layout.peek().rows.map((r) => ({
				type: r.type, title: r.title, track: r.track?.id ?? null, y: r.y, h: r.h, depths: r.depths,
				top: r.depths ? depthTop(r, 0) : r.y, first: r.depths ? depthHeight(r, 0) : 0,
			})),
			notes: () => model.notes.items.peek(),
			marks: () => placeNotes(model.notes.items.peek(), model.view.peek(), model.width.peek()).map((m) => ({ x: m.x, w: m.w, ids: m.notes.map((n) => n.id) })),
			timeToX: (t: number) => stage.main.x(t),
		},
	});
}
