// SPDX-License-Identifier: Apache-2.0
// Mouse, wheel and keys of the timeline.
import { can } from '../app/session';
import { keysBlocked } from '../components/dialog';
import type { TimelineModel } from './model';
import { timeOf, xOf } from './ruler';
import type { Hit } from './scene';
import type { Stage } from './stage';
import { pan, zoom } from './viewport';
import type { Window } from './viewport';

const DRAG_PX = 4;
const EDGE_PX = 5;
const KEY_ZOOM = 1.35;
const KEY_PAN = 0.15;

type Drag =
	| { how: 'range'; from: number; x: number; y: number; moved: boolean }
	| { how: 'edge'; fixed: number }
	| { how: 'pan'; view: Window; x: number }
	| { how: 'minimap'; grab: number };

export class Input {
	/** Last place of the pointer over the tracks, 0..1: where the keys zoom. */
	private at = 0.5;
	private drag: Drag | null = null;
	private stops: (() => void)[] = [];

	/** `canvas` is where x and y count from; `area` takes the events of everything beside it too. */
	constructor(private model: TimelineModel, private stage: Stage, private canvas: HTMLElement, area: HTMLElement, private minimap: HTMLElement, private onHover: (h: Hit | null, x: number, y: number) => void, private focusSearch: () => void) {
		this.on(area, 'wheel', (e) => this.wheel(e as WheelEvent), { passive: false });
		this.on(area, 'mousedown', (e) => this.down(e as MouseEvent));
		this.on(area, 'mousemove', (e) => this.move(e as MouseEvent, area));
		this.on(area, 'mouseleave', () => onHover(null, 0, 0));
		this.on(area, 'dblclick', () => model.fit());
		this.on(minimap, 'mousedown', (e) => this.minimapDown(e as MouseEvent, minimap));
		this.on(window, 'mousemove', (e) => this.dragMove(e as MouseEvent, minimap));
		this.on(window, 'mouseup', (e) => this.up(e as MouseEvent));
		this.on(window, 'keydown', (e) => this.key(e as KeyboardEvent));
	}

	private on(t: EventTarget, type: string, f: (e: Event) => void, opt?: AddEventListenerOptions): void {
		t.addEventListener(type, f, opt);
		this.stops.push(() => t.removeEventListener(type, f, opt));
	}

	stop(): void {
		this.stops.forEach((f) => f());
	}

	private wheel(e: WheelEvent): void {
		const m = this.model;
		const unit = e.deltaMode === 1 ? 16 : 1;
		const x = Math.min(this.stage.width, Math.max(0, this.place(e).x));
		if (e.ctrlKey || e.metaKey) {
			e.preventDefault();
			m.setView(zoom(m.view.value, Math.pow(1.0022, e.deltaY * unit), x / this.stage.width, m.lim));
		} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			e.preventDefault();
			const d = (Math.abs(e.deltaX) > Math.abs(e.deltaY) ? e.deltaX : e.deltaY) * unit;
			m.setView(pan(m.view.value, d / this.stage.width, m.lim));
		}
	}

	private place(e: MouseEvent, from = this.canvas): { x: number; y: number } {
		const b = from.getBoundingClientRect();
		return { x: e.clientX - b.left, y: e.clientY - b.top };
	}

	/** 't0' or 't1' when the pointer is on an edge of the range. */
	private edgeAt(x: number): 't0' | 't1' | null {
		const r = this.model.range.value;
		if (!r) return null;
		const { view } = this.model;
		const d0 = Math.abs(xOf(view.value, this.stage.width, r.t0) - x);
		const d1 = Math.abs(xOf(view.value, this.stage.width, r.t1) - x);
		if (Math.min(d0, d1) > EDGE_PX) return null;
		return d0 < d1 ? 't0' : 't1';
	}

	private down(e: MouseEvent): void {
		if (e.button !== 0 && e.button !== 1) return;
		if (e.target instanceof Node && this.minimap.contains(e.target)) return;
		const p = this.place(e);
		if (p.x < 0 || p.x > this.stage.width) return;
		const t = timeOf(this.model.view.value, this.stage.width, p.x);
		const edge = this.edgeAt(p.x);
		const r = this.model.range.value;
		if (e.button === 1 || e.shiftKey) this.drag = { how: 'pan', view: this.model.view.value, x: e.clientX };
		else if (edge && r) this.drag = { how: 'edge', fixed: edge === 't0' ? r.t1 : r.t0 };
		else this.drag = { how: 'range', from: t, x: p.x, y: p.y, moved: false };
		e.preventDefault();
		(document.activeElement as HTMLElement | null)?.blur(); // so that the keys act on the timeline again
	}

	private move(e: MouseEvent, area: HTMLElement): void {
		const p = this.place(e);
		this.at = Math.min(1, Math.max(0, p.x / this.stage.width));
		if (this.drag) return;
		area.style.cursor = this.edgeAt(p.x) ? 'ew-resize' : 'default';
		this.onHover(p.y >= 0 && p.x >= 0 ? this.stage.hit(p.x, p.y) : null, e.clientX, e.clientY);
	}

	private dragMove(e: MouseEvent, minimap: HTMLElement): void {
		const d = this.drag;
		const m = this.model;
		if (!d) return;
		const x = Math.min(this.stage.width, Math.max(0, this.place(e).x));
		if (d.how === 'pan') {
			m.setView(pan(d.view, (d.x - e.clientX) / this.stage.width, m.lim));
		} else if (d.how === 'minimap') {
			const t = timeOf(m.lim, this.stage.width, this.place(e, minimap).x) - d.grab;
			m.setView({ t0: t, t1: t + m.view.value.t1 - m.view.value.t0 });
		} else {
			const from = d.how === 'edge' ? d.fixed : d.from;
			if (d.how === 'range') {
				if (!d.moved && Math.abs(x - d.x) < DRAG_PX) return;
				d.moved = true;
			}
			const t = timeOf(m.view.value, this.stage.width, x);
			const [a, b] = [Math.max(0, Math.round(Math.min(from, t))), Math.round(Math.max(from, t))];
			if (b > a) m.setRange({ t0: a, t1: b }, false);
			this.onHover(null, 0, 0);
		}
	}

	private up(e: MouseEvent): void {
		const d = this.drag;
		this.drag = null;
		if (!d) return;
		if (d.how === 'edge' || (d.how === 'range' && d.moved)) return this.model.setRange(this.model.range.value, true);
		if (d.how !== 'range') return;
		const p = this.place(e);
		this.pick(p.y >= 0 ? this.stage.hit(p.x, p.y) : null);
	}

	/** A slice is selected; a merged bucket is zoomed into, since it stands for many. */
	pick(h: Hit | null): void {
		const m = this.model;
		if (!h) {
			if (m.sel.value) m.select(null, null, true);
			return;
		}
		if (h.merged && h.count > 1) {
			const len = h.t1 - h.t0;
			m.setView({ t0: h.t0 - len, t1: h.t1 + len });
			m.commit();
		} else if (h.before) {
			m.select({ track: h.track, ts: h.t0, name: h.name }, h.id, true); // clipped start: the answer knows the real one
		} else {
			m.select({ track: h.track, ts: h.t0, name: h.name }, h.id, true);
		}
	}

	private minimapDown(e: MouseEvent, el: HTMLElement): void {
		if (e.button !== 0) return;
		e.preventDefault();
		const m = this.model;
		const t = timeOf(m.lim, this.stage.width, this.place(e, el).x);
		const v = m.view.value;
		const slack = ((m.lim.t1 - m.lim.t0) / this.stage.width) * 5;
		const inside = t >= v.t0 - slack && t <= v.t1 + slack;
		const grab = inside ? t - v.t0 : (v.t1 - v.t0) / 2;
		this.drag = { how: 'minimap', grab };
		m.setView({ t0: t - grab, t1: t - grab + v.t1 - v.t0 });
	}

	private key(e: KeyboardEvent): void {
		if (keysBlocked(e) || e.ctrlKey || e.metaKey || e.altKey) return;
		if (!this.run(e)) return;
		e.preventDefault();
		this.onHover(null, 0, 0);
	}

	private run(e: KeyboardEvent): boolean {
		const m = this.model;
		const onControl = (e.target as HTMLElement | null)?.closest?.('button,a,summary') !== null && e.target !== document.body;
		switch (e.code) {
			case 'KeyW': m.setView(zoom(m.view.value, 1 / KEY_ZOOM, this.at, m.lim)); return true;
			case 'KeyS': m.setView(zoom(m.view.value, KEY_ZOOM, this.at, m.lim)); return true;
			case 'KeyA': m.setView(pan(m.view.value, -KEY_PAN, m.lim)); return true;
			case 'KeyD': m.setView(pan(m.view.value, KEY_PAN, m.lim)); return true;
			case 'KeyF': m.fit(); m.commit(); return true;
			case 'KeyM': m.mark(); return true;
			case 'KeyN': if (!can('upload')) return false; m.startNote(); return true;
			case 'KeyP': if (m.sel.value) m.pin(m.sel.value.track); return true;
			case 'Digit0': case 'Numpad0': m.whole(); m.commit(); return true;
			default: break;
		}
		switch (e.key) {
			case '/': this.focusSearch(); return true;
			case '[': m.follow('prev'); return true;
			case ']': m.follow('next'); return true;
			case '{': void m.sameName('prev'); return true;
			case '}': void m.sameName('next'); return true;
			case 'Escape': m.clear(); return true;
			case 'Enter': if (onControl || !m.hits.needle) return false; void this.stepHit(e.shiftKey ? -1 : 1); return true;
			case 'ArrowLeft': case 'ArrowRight': case 'ArrowUp': case 'ArrowDown':
				return this.neighbour(e.key);
			default: return false;
		}
	}

	async stepHit(dir: 1 | -1): Promise<void> {
		const h = await this.model.hits.step(dir, Math.max(0, Math.round(this.model.view.value.t0)));
		if (h) this.model.goTo(h);
	}

	/** The keyboard's way through the slices that are on screen. */
	private neighbour(key: string): boolean {
		const m = this.model;
		const sel = m.sel.value;
		const d = m.details.value;
		if (!sel || !d) return key.startsWith('Arrow') && this.firstVisible();
		const row = [...this.stage.main.list(sel.track)].filter((h) => !h.merged);
		const same = row.filter((h) => h.depth === d.depth).sort((a, b) => a.t0 - b.t0);
		const at = same.findIndex((h) => h.t0 === d.ts);
		let next: Hit | undefined;
		if (key === 'ArrowLeft') next = same.filter((h) => h.t0 < d.ts).pop();
		else if (key === 'ArrowRight') next = same.find((h) => h.t0 > d.ts);
		else if (key === 'ArrowUp') next = row.find((h) => h.depth === d.depth - 1 && h.t0 <= d.ts && h.t1 >= d.ts + d.dur);
		else next = row.find((h) => h.depth === d.depth + 1 && h.t0 >= d.ts && h.t1 <= d.ts + d.dur);
		if (next) m.goTo({ id: next.id, track: next.track, depth: next.depth, ts: next.t0, dur: next.t1 - next.t0, name: next.name });
		else if (at < 0 && key !== 'ArrowUp' && key !== 'ArrowDown') return this.firstVisible();
		return true;
	}

	private firstVisible(): boolean {
		for (const h of this.stage.main.list(null)) {
			if (h.merged || h.t0 < this.model.view.value.t0) continue;
			this.pick(h);
			return true;
		}
		return true;
	}
}
