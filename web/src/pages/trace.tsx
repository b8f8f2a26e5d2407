// SPDX-License-Identifier: Apache-2.0
// Frame of a trace's pages: breadcrumb, title, badges, actions, tabs, facts.
import { useEffect } from 'preact/hooks';
import { query } from '../app/router';
import { server } from '../app/session';
import { AnalysisPage } from '../analysis/analysis';
import { Badge, CopyButton, Empty, ErrorPanel, Skeleton } from '../components/basics';
import { ExportMenu } from '../components/export_menu';
import { LossBadge } from '../components/losses';
import { PerfettoButton } from '../components/perfetto_button';
import { getJson } from '../lib/api';
import { dateTime, durLong, int } from '../lib/format';
import { useInterval, useLoad } from '../lib/load';
import { traceTitle } from '../lib/text';
import type { Trace } from '../lib/types';
import { parseState } from '../lib/urlstate';
import { Timeline } from '../timeline/timeline';

type Tab = 'timeline' | 'analysis';

export function TracePage({ id, tab }: { id: string; tab: Tab }) {
	const t = useLoad<Trace>(id, (signal) => getJson(`/traces/${encodeURIComponent(id)}`, undefined, signal));
	const unready = !!t.data?.state && t.data.state !== 'ready';
	useInterval(unready, 2000, t.reload);
	useEffect(() => {
		if (t.data) document.title = `${traceTitle(t.data)} · Fleetscope`;
	}, [t.data]);
	if (t.error && !t.data) return <div class="page"><ErrorPanel error={t.error} what="This trace could not be loaded" retry={t.reload} /></div>;
	if (!t.data) return <div class="page"><Skeleton rows={8} /></div>;
	return (
		<div class={`trace-page ${tab}`}>
			<Head t={t.data} tab={tab} />
			{unready ? <Empty title="Not ready yet"><p>This trace is {t.data.state}. The page opens by itself when it is ready.</p></Empty>
				: tab === 'timeline' ? <Timeline trace={t.data} /> : <AnalysisPage trace={t.data} />}
		</div>
	);
}

/** The query that the other tab understands: the view of the timeline survives a visit to the analysis. */
function tabHref(id: string, tab: Tab): string {
	const q = query.value;
	return `/traces/${encodeURIComponent(id)}${tab === 'analysis' ? '/analysis' : ''}${q}`;
}

function Head({ t, tab }: { t: Trace; tab: Tab }) {
	const range = tab === 'timeline' ? parseState(query.value).range : null;
	return (
		<header class="page-head">
			<div class="page-title">
				<nav aria-label="Breadcrumb" class="crumb"><a href="/traces">Traces</a><span aria-hidden="true">/</span></nav>
				<h1 title={t.name}>{traceTitle(t)}</h1>
				{t.synthetic && <Badge title="Made by a generator, not recorded">synthetic</Badge>}
				<LossBadge losses={t.losses} />
				<span class="grow" />
				<CopyButton icon="link" text={() => location.href}>Copy link</CopyButton>
				<ExportMenu traceId={t.id} range={range} />
				{(server.value.perfetto_ui || server.value.perfetto_origin) && <PerfettoButton key={range ? 'r' : 'w'} primary trace={t} what={range}>{range ? 'Open range in Perfetto' : 'Open in Perfetto'}</PerfettoButton>}
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
