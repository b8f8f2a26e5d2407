// SPDX-License-Identifier: Apache-2.0
// Marks of the notes on the ruler: buttons, so that keyboard and screen readers reach them. One of them is in the tab
// order, arrow keys lead to the others.
import { useState } from 'preact/hooks';
import { Icon } from '../components/icons';
import { dur, int } from '../lib/format';
import type { Note } from '../lib/types';
import type { TimelineModel } from './model';
import { placeNotes } from './notes';
import type { Mark } from './notes';

const SHOWN = 3;
const TEXT_MAX = 240;

function cut(text: string, max: number): string {
	return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}

function label(m: Mark): string {
	const n = m.notes[0];
	const where = `at ${dur(n.t0)}, ${dur(n.t1 - n.t0)} long`;
	return m.notes.length > 1 ? `${int(m.notes.length)} notes from ${dur(n.t0)} on, first: ${cut(n.text, 80)}` : `Note ${where}: ${cut(n.text, 120)}`;
}

export function NotesLayer({ model }: { model: TimelineModel }) {
	const [tab, setTab] = useState(0);
	const [card, setCard] = useState<{ m: Mark; x: number; y: number } | null>(null);
	const marks = placeNotes(model.notes.items.value, model.view.value, model.width.value);
	if (marks.length === 0) return null;
	const at = model.notes.at.value;
	const reach = Math.min(tab, marks.length - 1);
	const show = (m: Mark, el: HTMLElement) => {
		const b = el.getBoundingClientRect();
		setCard({ m, x: b.left, y: b.bottom });
	};
	const onKey = (e: KeyboardEvent, i: number) => {
		const step = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
		if (step === 0) return;
		e.preventDefault();
		e.stopPropagation();
		const next = (i + step + marks.length) % marks.length;
		setTab(next);
		const all = (e.currentTarget as HTMLElement).parentElement!.querySelectorAll('button');
		all[next]?.focus();
	};
	return (
		<div class="tl-notes" role="group" aria-label="Notes in view">
			{marks.map((m, i) => {
				const on = m.notes.some((n) => n.id === at);
				return (
					<button key={m.notes[0].id} type="button" class={on ? 'on' : ''} style={{ transform: `translateX(${Math.round(m.x)}px)` }}
						tabIndex={i === reach ? 0 : -1} aria-label={label(m)} aria-pressed={on}
						onMouseDown={(e) => e.stopPropagation()} onClick={() => model.goToNote(nextOf(m, at))}
						onMouseEnter={(e) => show(m, e.currentTarget)} onMouseLeave={() => setCard(null)} onMouseMove={(e) => e.stopPropagation()}
						onFocus={(e) => { setTab(i); show(m, e.currentTarget); }} onBlur={() => setCard(null)} onKeyDown={(e) => onKey(e, i)}>
						<i class="span" style={{ width: `${Math.round(m.w)}px` }} />
						<i class="flag">{m.notes.length > 1 ? int(m.notes.length) : <Icon name="note" size={11} />}</i>
					</button>
				);
			})}
			{card && <Card {...card} />}
		</div>
	);
}

/** A mark of several notes leads to one after the other. */
function nextOf(m: Mark, at: string | null): Note {
	const i = m.notes.findIndex((n) => n.id === at);
	return m.notes[(i + 1) % m.notes.length];
}

function Card({ m, x, y }: { m: Mark; x: number; y: number }) {
	const right = x > window.innerWidth - 340;
	const more = m.notes.length - SHOWN;
	return (
		<div class={`hover-card note-card ${right ? 'right' : ''}`} role="tooltip" style={{ left: `${x}px`, top: `${y + 6}px` }}>
			{m.notes.slice(0, SHOWN).map((n) => (
				<div key={n.id}>
					<span class="words">{cut(n.text, TEXT_MAX)}</span>
					<span class="dim">{dur(n.t0)}, {dur(n.t1 - n.t0)} long{n.author ? `, ${n.author}` : ''}</span>
				</div>
			))}
			{more > 0 && <span class="dim">and {int(more)} more</span>}
		</div>
	);
}
