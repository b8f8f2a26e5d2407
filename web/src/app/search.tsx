// SPDX-License-Identifier: Apache-2.0
// Search over all traces in the header: matches while typing, Enter opens the list with the same text.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../components/icons';
import { keysBlocked } from '../components/dialog';
import { getJson, isAbort } from '../lib/api';
import { traceTitle } from '../lib/text';
import { dayTime } from '../lib/format';
import type { TraceList, TraceRow } from '../lib/types';
import { navigate, path } from './router';

/** On the timeline `/` belongs to the search inside the trace. */
function isTimeline(): boolean {
	return /^\/traces\/[^/]+$/.test(path.value);
}

export function GlobalSearch() {
	const [text, setText] = useState('');
	const [rows, setRows] = useState<TraceRow[]>([]);
	const [open, setOpen] = useState(false);
	const [at, setAt] = useState(-1);
	const input = useRef<HTMLInputElement>(null);
	useEffect(() => {
		const onKey = (e: KeyboardEvent) => {
			if (e.key !== '/' || e.ctrlKey || e.metaKey || keysBlocked(e) || isTimeline()) return;
			e.preventDefault();
			input.current?.focus();
			input.current?.select();
		};
		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, []);
	useEffect(() => {
		if (!text.trim()) return setRows([]);
		const ctl = new AbortController();
		const t = setTimeout(() => {
			getJson<TraceList>('/traces', { q: text.trim(), limit: 8 }, ctl.signal)
				.then((r) => setRows(r.items.filter((x) => x.id)))
				.catch((e: unknown) => isAbort(e) || setRows([]));
		}, 120);
		return () => {
			clearTimeout(t);
			ctl.abort();
		};
	}, [text]);
	const go = (to: string) => {
		setOpen(false);
		setAt(-1);
		input.current?.blur();
		navigate(to);
	};
	const onKey = (e: KeyboardEvent) => {
		if (e.key === 'ArrowDown') setAt((i) => Math.min(rows.length - 1, i + 1));
		else if (e.key === 'ArrowUp') setAt((i) => Math.max(-1, i - 1));
		else if (e.key === 'Enter') go(at >= 0 ? `/traces/${rows[at].id}` : `/traces?q=${encodeURIComponent(text.trim())}`);
		else if (e.key === 'Escape') {
			setOpen(false);
			input.current?.blur();
		} else return;
		e.preventDefault();
	};
	const shown = open && rows.length > 0;
	return (
		<div class="global-search" role="search">
			<Icon name="search" />
			<input ref={input} type="text" value={text} placeholder="Search traces, jobs, hosts" aria-label="Search traces"
				role="combobox" aria-expanded={shown} aria-controls="global-hits" aria-autocomplete="list"
				aria-activedescendant={shown && at >= 0 ? `global-hit-${at}` : undefined}
				onInput={(e) => { setText(e.currentTarget.value); setOpen(true); setAt(-1); }}
				onFocus={() => setOpen(true)} onBlur={() => setTimeout(() => setOpen(false), 150)} onKeyDown={onKey} />
			{!isTimeline() && <kbd>/</kbd>}
			<ul id="global-hits" role="listbox" aria-label="Traces" hidden={!shown}>
				{rows.map((r, i) => (
					<li key={r.id} id={`global-hit-${i}`} role="option" aria-selected={i === at} class={i === at ? 'at' : ''}
						onMouseDown={() => go(`/traces/${r.id}`)}>
						<span>{traceTitle(r)}</span>
						<span class="dim">{r.host ?? ''} {dayTime(r.started, new Date().getUTCFullYear())}</span>
					</li>
				))}
			</ul>
		</div>
	);
}
