// SPDX-License-Identifier: Apache-2.0
// Notes on ranges of a trace: what is there, what is being written, and where their marks stand on the ruler.
import { signal } from '@preact/signals';
import { send } from '../lib/api';
import type { Note, Trace } from '../lib/types';
import { xOf } from './ruler';
import type { Window } from './viewport';

export const MAX_NOTE_BYTES = 2000;
const MARK_PX = 24; // so that each can be hit
/** The page header asks the timeline of this trace to begin a note. */
export const writeNote = signal<string | null>(null);

/** A new note (id null), or new words for an old one. Its range is the selected range. */
export type Draft = { id: string | null; text: string };

export class Notes {
	readonly items = signal<Note[]>([]);
	readonly draft = signal<Draft | null>(null);
	/** The note that is selected; its range is the selected range. */
	readonly at = signal<string | null>(null);
	readonly error = signal<Error | null>(null);
	readonly saving = signal(false);
	/** Told what the server now has: the page keeps it for when the timeline is left and opened again. */
	onSaved: (t: Trace) => void = () => {};

	constructor(private traceId: string, first: readonly Note[] | undefined) {
		this.take(first);
	}

	take(list: readonly Note[] | undefined): void {
		this.items.value = [...(list ?? [])].sort((a, b) => a.t0 - b.t0 || a.t1 - b.t1);
	}

	get current(): Note | null {
		return this.items.value.find((n) => n.id === this.at.value) ?? null;
	}

	/** The note that was added or changed; null: the draft stays and `error` says why. */
	async save(range: Window): Promise<Note | null> {
		const d = this.draft.peek();
		const text = d?.text.trim() ?? '';
		if (!d || noteFault(text)) return null;
		const [t0, t1] = [Math.round(range.t0), Math.round(range.t1)];
		const had = new Set(this.items.peek().map((n) => n.id));
		const ok = await this.patch(d.id ? { notes_update: [{ id: d.id, text, t0, t1 }] } : { notes_add: [{ t0, t1, text }] });
		if (!ok) return null;
		this.draft.value = null;
		return this.items.peek().find((n) => (d.id ? n.id === d.id : !had.has(n.id) && n.text === text)) ?? null;
	}

	async remove(id: string): Promise<void> {
		if ((await this.patch({ notes_remove: [id] })) && this.at.peek() === id) this.at.value = null;
	}

	private async patch(body: unknown): Promise<boolean> {
		this.saving.value = true;
		this.error.value = null;
		try {
			const t = await send<Trace>('PATCH', `/traces/${this.traceId}`, body);
			this.take(t?.notes);
			if (t) this.onSaved(t);
			return true;
		} catch (e) {
			this.error.value = e as Error;
			return false;
		} finally {
			this.saving.value = false;
		}
	}
}

export function noteBytes(text: string): number {
	return new TextEncoder().encode(text).length;
}

/** Why the text cannot be saved; '': it can. */
export function noteFault(text: string): string {
	if (text.trim() === '') return 'Write something first.';
	if (noteBytes(text.trim()) > MAX_NOTE_BYTES) return `At most ${MAX_NOTE_BYTES} bytes.`;
	return /[\u0000-\u0009\u000b-\u001f\u007f]/.test(text) ? 'Only letters, signs and line ends.' : '';
}

export type Mark = { x: number; w: number; notes: Note[] };

/** Marks of the notes that reach into the view; those whose flags would overlap share one. `notes` are in order of t0. */
export function placeNotes(notes: readonly Note[], view: Window, width: number): Mark[] {
	const out: Mark[] = [];
	for (const n of notes) {
		if (n.t1 < view.t0 || n.t0 > view.t1) continue;
		const a = Math.max(0, xOf(view, width, n.t0));
		const b = Math.min(width, Math.max(a + 1, xOf(view, width, n.t1)));
		const last = out[out.length - 1];
		if (last && a - last.x < MARK_PX) {
			last.notes.push(n);
			last.w = Math.max(last.w, b - last.x);
		} else {
			out.push({ x: a, w: b - a, notes: [n] });
		}
	}
	return out;
}
