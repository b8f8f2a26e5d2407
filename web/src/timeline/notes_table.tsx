// SPDX-License-Identifier: Apache-2.0
// Notes of the trace in the drawer: write, change, delete, go to, link.
import { useEffect, useRef, useState } from 'preact/hooks';
import { can, shareUrl } from '../app/session';
import { Button, copyText, ErrorPanel } from '../components/basics';
import { Icon } from '../components/icons';
import { dateTime, dayTime, dur, durExact, fixed, int, plural } from '../lib/format';
import type { Note } from '../lib/types';
import type { TimelineModel } from './model';
import { MAX_NOTE_BYTES, noteBytes, noteFault } from './notes';
import { TimeRange } from './timerange';

const ROW = 28;
const EXTRA = 6;

export function NotesTable({ model }: { model: TimelineModel }) {
	const { notes } = model;
	const list = notes.items.value;
	const draft = notes.draft.value;
	const now = notes.current;
	const may = can('upload');
	return (
		<>
			<div class="d-tools">
				<span class="dim">{list.length === 0 ? 'No notes yet' : plural(list.length, 'note')}</span>
				<span class="grow" />
				{may && !draft && <Button small icon="note" onClick={() => model.startNote()}>Add note <kbd>N</kbd></Button>}
			</div>
			{notes.error.value && <ErrorPanel error={notes.error.value} what="The note was not saved" />}
			{draft && <Editor model={model} />}
			{now && !draft && <Selected n={now} model={model} may={may} />}
			{list.length === 0 && !draft && <div class="hint"><p><b>Nothing is noted on this trace.</b> {may ? 'Drag over the tracks to select a range, then press N.' : 'Who may upload may write notes.'}</p></div>}
			{list.length > 0 && !draft && <Table list={list} model={model} />}
		</>
	);
}

function Editor({ model }: { model: TimelineModel }) {
	const { notes } = model;
	const d = notes.draft.value!;
	const r = model.range.value;
	const fault = noteFault(d.text);
	const box = useRef<HTMLTextAreaElement>(null);
	useEffect(() => box.current?.focus(), []);
	const save = () => {
		if (r && !fault && !notes.saving.value) void model.saveNote();
	};
	const onKey = (e: KeyboardEvent) => {
		if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) save();
		else if (e.key === 'Escape') notes.draft.value = null;
		else return;
		e.preventDefault();
	};
	return (
		<div class="note-form" role="group" aria-label={d.id ? 'Change the note' : 'New note'}>
			<div class="row wrap">
				{r ? <TimeRange label="note on" strong value={r} onChange={(w) => model.setRange(w, true)} /> : <span class="field-error"><Icon name="warn" size={13} />Drag over the tracks to say what it is about.</span>}
				<span class="dim">Drag over the tracks to change it.</span>
			</div>
			<textarea ref={box} rows={4} value={d.text} aria-label="Text of the note" aria-describedby="note-room" placeholder="What is there to see here?"
				onInput={(e) => (notes.draft.value = { ...d, text: e.currentTarget.value })} onKeyDown={onKey} />
			<div class="row">
				<Button small primary disabled={!r || fault !== '' || notes.saving.value} onClick={save}>{notes.saving.value ? 'Saving' : 'Save'}</Button>
				<Button small onClick={() => (notes.draft.value = null)}>Cancel</Button>
				<span id="note-room" class="dim">{d.text.trim() !== '' && fault ? fault : `${int(noteBytes(d.text))} of ${int(MAX_NOTE_BYTES)} bytes`}, <kbd>Ctrl</kbd> <kbd>Enter</kbd> saves</span>
			</div>
		</div>
	);
}

function Selected({ n, model, may }: { n: Note; model: TimelineModel; may: boolean }) {
	const [sure, setSure] = useState(false);
	const [copied, setCopied] = useState(false);
	useEffect(() => setSure(false), [n.id]);
	const link = () => void copyText(shareUrl()).then(setCopied);
	return (
		<div class="note-now" role="region" aria-label="Selected note">
			<p class="words" tabIndex={0}>{n.text}</p>
			<div class="row">
				<span class="dim">{n.author}{n.created_at && ` on ${dateTime(n.created_at)}`}{n.updated_at && n.updated_at !== n.created_at && `, changed ${dateTime(n.updated_at)}`}</span>
				<span class="grow" />
				<Button small quiet icon={copied ? 'check' : undefined} onClick={link}>Copy link</Button>
				{may && <Button small quiet onClick={() => model.editNote(n)}>Edit</Button>}
				{may && (sure ? <Button small icon="trash" onClick={() => void model.notes.remove(n.id)}>Really delete</Button> : <Button small quiet onClick={() => setSure(true)}>Delete</Button>)}
			</div>
		</div>
	);
}

function Table({ list, model }: { list: Note[]; model: TimelineModel }) {
	const [top, setTop] = useState(0);
	const box = useRef<HTMLDivElement>(null);
	const height = box.current?.clientHeight ?? 300;
	const from = Math.max(0, Math.floor(top / ROW) - EXTRA);
	const to = Math.min(list.length, Math.ceil((top + height) / ROW) + EXTRA);
	const year = new Date().getUTCFullYear();
	return (
		<div class="table-scroll" ref={box} tabIndex={0} role="region" aria-label="Notes" onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
			<table class="data notes" aria-rowcount={list.length + 1}>
				<colgroup><col /><col style={{ width: '130px' }} /><col style={{ width: '90px' }} /><col style={{ width: '130px' }} /><col style={{ width: '104px' }} /></colgroup>
				<thead><tr><th scope="col">Note</th><th scope="col" class="num">From, ms</th><th scope="col" class="num">Length</th><th scope="col">By</th><th scope="col" class="num">When, UTC</th></tr></thead>
				<tbody>
					{from > 0 && <tr class="pad-row"><td colSpan={5} style={{ height: `${from * ROW}px` }} /></tr>}
					{list.slice(from, to).map((n, i) => (
						<tr key={n.id} aria-rowindex={from + i + 2} class={n.id === model.notes.at.value ? 'selected' : ''}>
							<th scope="row" class="cut"><button type="button" class="cell-link cut" title={n.text} onClick={() => model.goToNote(n)}>{n.text}</button></th>
							<td class="num">{fixed(n.t0 / 1e6, 6)}</td>
							<td class="num" title={durExact(n.t1 - n.t0)}>{dur(n.t1 - n.t0)}</td>
							<td class="cut" title={n.author}>{n.author}</td>
							<td class="num" title={dateTime(n.updated_at ?? n.created_at)}>{dayTime(n.updated_at ?? n.created_at, year)}</td>
						</tr>
					))}
					{to < list.length && <tr class="pad-row"><td colSpan={5} style={{ height: `${(list.length - to) * ROW}px` }} /></tr>}
				</tbody>
			</table>
		</div>
	);
}
