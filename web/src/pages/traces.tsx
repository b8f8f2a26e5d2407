// SPDX-License-Identifier: Apache-2.0
// List of traces: facets, search, sort, pages. Everything that selects lives in the URL.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { query, setQuery } from '../app/router';
import { canUpload, server } from '../app/session';
import { Badge, Button, Command, Empty, ErrorPanel, LinkButton, Skeleton } from '../components/basics';
import { Icon } from '../components/icons';
import { getJson } from '../lib/api';
import { int } from '../lib/format';
import { useInterval, useLoad } from '../lib/load';
import type { TraceList } from '../lib/types';
import { BundleDrawer } from './bundle_drawer';
import { Facets } from './facets';
import { ListTable } from './list_table';
import { apiParams, isFiltered, listState, PAGE_SIZE, withState } from './list_state';
import type { ListState } from './list_state';
import { SelectionBar } from './selection';
import { Summary } from './summary';

const RUNNING_MS = 1500;
const CALM_MS = 20000;

export function pushCommand(): string {
	return `fleetscope-collector push trace.json.gz --server ${location.origin} --wait`;
}

function useCursors(key: string): [string[], (f: (c: string[]) => string[]) => void] {
	const [state, set] = useState<{ key: string; cursors: string[] }>({ key, cursors: [] });
	const cursors = state.key === key ? state.cursors : [];
	return [cursors, (f) => set({ key, cursors: f(cursors) })];
}

export function TracesPage() {
	const state = listState(query.value);
	const base = JSON.stringify(apiParams(state));
	const [cursors, setCursors] = useCursors(base);
	const cursor = cursors[cursors.length - 1];
	const [details, setDetails] = useState<string | null>(null);
	const list = useLoad<TraceList>(base + '|' + (cursor ?? ''), (signal) =>
		getJson('/traces', { ...apiParams(state), limit: PAGE_SIZE, cursor }, signal),
	);
	const items = list.data?.items ?? [];
	const running = items.some((r) => r.state === 'indexing' || r.state === 'queued');
	useInterval(running, RUNNING_MS, list.reload);
	useInterval(!running && !cursor, CALM_MS, list.reload);
	useEffect(() => {
		document.title = 'Traces · Fleetscope';
	}, []);
	const change = (s: Partial<ListState>, how: 'push' | 'replace' = 'push') => setQuery(withState(query.value, { ...state, ...s }), how);
	const synthetic = items.length > 0 && items.every((r) => r.synthetic || !r.id);
	return (
		<div class="list-page">
			<Facets facets={list.data?.facets} state={state} change={change} />
			<div class="list-main">
				<div class="page-title">
					<h1>Traces</h1>
					{synthetic && <Badge title="Every trace listed here was made by a generator">synthetic</Badge>}
					{server.value.demo && !synthetic && <Badge>demo</Badge>}
					<span class="grow" />
					{canUpload() && <LinkButton href="/upload" icon="upload" primary>Upload</LinkButton>}
				</div>
				{list.data && items.length > 0 && <Summary list={list.data} />}
				<Toolbar state={state} change={change}>
					<SelectionBar rows={items} state={state} change={change} onChanged={list.reload} />
				</Toolbar>
				{list.error && <ErrorPanel error={list.error} what="The list could not be loaded" retry={list.reload} />}
				{!list.data && !list.error && <Skeleton rows={14} />}
				{list.data && items.length === 0 && <Nothing state={state} change={change} />}
				{items.length > 0 && (
					<ListTable rows={items} state={state} change={change} onDetails={setDetails} onChanged={list.reload}
						footer={<Pager list={list.data!} page={cursors.length} back={() => setCursors((c) => c.slice(0, -1))}
							next={() => setCursors((c) => [...c, list.data!.next!])} />} />
				)}
			</div>
			{details && <BundleDrawer id={details} onClose={() => setDetails(null)} onChanged={list.reload} />}
		</div>
	);
}

type Change = (s: Partial<ListState>, how?: 'push' | 'replace') => void;

function Toolbar({ state, change, children }: { state: ListState; change: Change; children: ComponentChildren }) {
	const [text, setText] = useState(state.q);
	const shown = useRef(state.q);
	useEffect(() => {
		if (shown.current !== state.q) setText((shown.current = state.q));
	}, [state.q]);
	useEffect(() => {
		if (text === shown.current) return undefined;
		const t = setTimeout(() => change({ q: (shown.current = text) }, 'replace'), 200);
		return () => clearTimeout(t);
	}, [text]);
	const chips = (['state', 'job', 'host'] as const).flatMap((g) => state[g].map((v) => ({ g, v })));
	return (
		<div class="toolbar">
			<label class="field search">
				<Icon name="search" />
				<input type="search" value={text} placeholder="Filter by job, host, file" aria-label="Filter traces"
					onInput={(e) => setText(e.currentTarget.value)} />
			</label>
			{chips.map(({ g, v }) => (
				<button type="button" class="chip" key={g + v} onClick={() => change({ [g]: state[g].filter((x) => x !== v) })}
					aria-label={`Remove filter ${g}: ${v}`}>
					{g}: {v || 'none'} <Icon name="cross" size={11} />
				</button>
			))}
			{state.capture && (
				<button type="button" class="chip" onClick={() => change({ capture: '' })} aria-label={`Remove filter capture: ${state.capture}`}>
					capture: {state.capture} <Icon name="cross" size={11} />
				</button>
			)}
			{state.keep && <button type="button" class="chip" onClick={() => change({ keep: false })} aria-label="Remove filter kept">kept <Icon name="cross" size={11} /></button>}
			{chips.length > 1 && <Button quiet onClick={() => change({ state: [], job: [], host: [], capture: '', keep: false })}>Clear all</Button>}
			{children}
		</div>
	);
}

function Pager({ list, page, back, next }: { list: TraceList; page: number; back: () => void; next: () => void }) {
	const from = page * PAGE_SIZE + 1;
	const to = page * PAGE_SIZE + list.items.length;
	return (
		<>
			<span>Rows {int(from)}–{int(to)}{list.total !== null && <> of {int(list.total)}</>}</span>
			{(page > 0 || list.next) && (
				<span class="pager">
					<Button small icon="left" label="Previous page" disabled={page === 0} onClick={back} />
					<Button small icon="right" label="Next page" disabled={!list.next} onClick={next} />
				</span>
			)}
		</>
	);
}

function Nothing({ state, change }: { state: ListState; change: Change }) {
	if (isFiltered(state)) {
		return (
			<Empty title="No trace matches">
				<p>Nothing fits this search and these filters.</p>
				<Button onClick={() => change({ q: '', state: [], job: [], host: [] })}>Clear search and filters</Button>
			</Empty>
		);
	}
	return (
		<Empty title="No traces yet">
			<p>Send one from any host, or drop files on the upload page.</p>
			<Command text={pushCommand()} />
			{canUpload() && <LinkButton href="/upload" icon="upload" primary>Upload</LinkButton>}
		</Empty>
	);
}
