// SPDX-License-Identifier: Apache-2.0
// Frame of a trace's pages: breadcrumb, title, badges, actions, tabs, facts.
import { useEffect, useState } from 'preact/hooks';
import { query } from '../app/router';
import { can, server, shareUrl } from '../app/session';
import { AnalysisPage } from '../analysis/analysis';
import { Badge, Button, CopyButton, Empty, ErrorPanel, Skeleton } from '../components/basics';
import { KeptBadge } from '../components/deletion';
import { ExportMenu } from '../components/export_menu';
import { Failure } from '../components/failure';
import { Icon } from '../components/icons';
import { LossBadge } from '../components/losses';
import { PerfettoButton } from '../components/perfetto_button';
import { getJson } from '../lib/api';
import { dateTime, durLong, int } from '../lib/format';
import { useInterval, useLoad } from '../lib/load';
import { formatLabel, traceTitle } from '../lib/text';
import { tombstoneOf } from '../lib/tombstone';
import type { Storage, Trace } from '../lib/types';
import { parseState } from '../lib/urlstate';
import { writeNote } from '../timeline/notes';
import { Timeline } from '../timeline/timeline';
import { TraceMenu } from './trace_menu';

type Tab = 'timeline' | 'analysis';
const OUTDATED_MS = 5000;

export function TracePage({ id, tab }: { id: string; tab: Tab }) {
	const t = useLoad<Trace>(id, (signal) => getJson(`/traces/${encodeURIComponent(id)}`, undefined, signal));
	const unready = !!t.data?.state && t.data.state !== 'ready';
	useInterval(unready, 2000, t.reload);
	useEffect(() => {
		if (t.data) document.title = `${traceTitle(t.data)} · Fleetscope`;
	}, [t.data]);
	const [patched, setPatched] = useState<Trace | null>(null);
	const [fault, setFault] = useState<{ error: Error; what: string } | null>(null);
	const changed = (x: Trace | null) => {
		setFault(null);
		setPatched(x);
		if (!x) t.reload();
	};
	useEffect(() => setPatched(null), [t.data]);
	const gone = tombstoneOf(t.error) !== null;
	if (t.error && (!t.data || gone)) return <div class="page"><Failure error={t.error} what="This trace could not be loaded" retry={t.reload} /></div>;
	if (!t.data) return <div class="page"><Skeleton rows={8} /></div>;
	const now = patched ?? t.data;
	return (
		<div class={`trace-page ${tab}`}>
			<Head t={now} tab={tab} onChanged={changed} onError={(error, what) => setFault({ error, what })} />
			{fault && <ErrorPanel error={fault.error} what={fault.what} />}
			{now.outdated && <Outdated t={now} onDone={t.reload} />}
			{unready ? <Empty title="Not ready yet"><p>This trace is {t.data.state}. The page opens by itself when it is ready.</p></Empty>
				: tab === 'timeline' ? <Timeline trace={now} onChanged={changed} /> : <AnalysisPage trace={t.data} />}
		</div>
	);
}

/** The query that the other tab understands: the view of the timeline survives a visit to the analysis. */
function tabHref(id: string, tab: Tab): string {
	const q = query.value;
	return `/traces/${encodeURIComponent(id)}${tab === 'analysis' ? '/analysis' : ''}${q}`;
}

/** An older version wrote its segment: it is shown as it is, and replaced in its turn. */
function Outdated({ t, onDone }: { t: Trace; onDone: () => void }) {
	const s = useLoad<Storage>('storage', (signal) => getJson('/storage', undefined, signal));
	const again = () => {
		s.reload();
		onDone();
	};
	useInterval(true, OUTDATED_MS, again);
	const r = s.data?.reindex;
	return (
		<div class="strip warn" role="status">
			<Icon name="clock" />
			<span>
				{t.rebuildable === false
					? <><b>Written by an older version</b> and not rebuildable: the uploaded file was let go. It is shown as it is.</>
					: <><b>Outdated.</b> An older version wrote this trace; it is shown as it is until it is indexed again{r ? <>: re-indexing {int(r.done_since_start)} of {int(r.done_since_start + r.outdated)}</> : null}. <a href="/storage">Progress</a></>}
			</span>
		</div>
	);
}

type HeadProps = { t: Trace; tab: Tab; onChanged: (t: Trace | null) => void; onError: (e: Error, what: string) => void };

function Head({ t, tab, onChanged, onError }: HeadProps) {
	const range = tab === 'timeline' ? parseState(query.value).range : null;
	return (
		<header class="page-head">
			<div class="page-title">
				<nav aria-label="Breadcrumb" class="crumb"><a href="/traces">Traces</a><span aria-hidden="true">/</span></nav>
				<h1 title={t.name}>{traceTitle(t)}</h1>
				{t.synthetic && <Badge title="Made by a generator, not recorded">synthetic</Badge>}
				<LossBadge losses={t.losses} />
				{t.keep && <KeptBadge />}
				{t.rebuildable === false && <Badge tone="dim" title="The uploaded file was let go: a newer version cannot index it again">not rebuildable</Badge>}
				<span class="grow" />
				{tab === 'timeline' && can('upload') && <Button icon="note" title="Note on the selected range (N)" onClick={() => (writeNote.value = t.id)}>Note</Button>}
				<CopyButton icon="link" text={shareUrl}>Copy link</CopyButton>
				<ExportMenu traceId={t.id} range={range} />
				{(server.value.perfetto_ui || server.value.perfetto_origin) && <PerfettoButton key={range ? 'r' : 'w'} primary trace={t} what={range}>{range ? 'Open range in Perfetto' : 'Open in Perfetto'}</PerfettoButton>}
				<TraceMenu t={t} onChanged={onChanged} onError={onError} />
			</div>
			<div class="page-tabs">
				<nav class="tabs" aria-label="Pages of this trace">
					<a href={tabHref(t.id, 'timeline')} aria-current={tab === 'timeline' ? 'page' : undefined}>Timeline</a>
					<a href={tabHref(t.id, 'analysis')} aria-current={tab === 'analysis' ? 'page' : undefined}>Analysis</a>
				</nav>
				<span class="grow" />
				<Facts t={t} />
			</div>
		</header>
	);
}

/** Name of the graphics card, where the file tells. */
function gpuName(t: Trace): string {
	const props = t.meta?.deviceProperties;
	if (!Array.isArray(props) || props.length === 0) return '';
	const name = (props[0] as { name?: unknown }).name;
	return typeof name === 'string' ? name.replace(/^NVIDIA /, '') : '';
}

function Facts({ t }: { t: Trace }) {
	const gpu = gpuName(t);
	const facts: [string, string][] = [];
	if (t.format) facts.push(['format', formatLabel(t.format)]);
	if (t.host) facts.push(['host', t.host]);
	if (gpu) facts.push(['GPU', gpu]);
	if (t.started) facts.push(['started', dateTime(t.started)]);
	facts.push(['duration', durLong(t.t_max_ns - t.t_min_ns)]);
	return (
		<ul class="head-facts">
			{facts.map(([k, v]) => <li key={k}>{k} <b>{v}</b></li>)}
			<li><b>{int(t.slices)}</b> slices</li>
		</ul>
	);
}
