// SPDX-License-Identifier: Apache-2.0
// Start of the page. Each page with weight is its own chunk.
import { render } from 'preact';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty, ErrorPanel, Skeleton } from '../components/basics';
import { GuidePage } from '../pages/guide';
import { LoginPage } from '../pages/login';
import { TracesPage } from '../pages/traces';
import { UploadPage } from '../pages/upload';
import { navigate, path, startRouter } from './router';
import { startSession } from './session';
import { Shell } from './shell';
import { startTheme } from './theme';

type Props = { id: string; tab: 'timeline' | 'analysis' };

function TracePage(props: Props) {
	const [page, set] = useState<{ C?: ComponentType<Props>; error?: Error }>({});
	useEffect(() => {
		import('../pages/trace').then((m) => set({ C: m.TracePage }), (error: Error) => set({ error }));
	}, []);
	if (page.error) return <ErrorPanel error={page.error} what="This page could not be loaded" retry={() => location.reload()} />;
	return page.C ? <page.C {...props} /> : <Skeleton rows={8} />;
}

function Page() {
	const p = path.value;
	const trace = /^\/traces\/([^/]+)(\/analysis)?\/?$/.exec(p);
	const help = /^\/help(?:\/([a-z0-9-]+))?\/?$/.exec(p);
	useEffect(() => {
		if (p === '/') navigate('/traces' + location.search, 'replace');
	}, [p]);
	if (p === '/login') return <LoginPage />;
	let body;
	if (p === '/' || p === '/traces' || p === '/traces/') body = <TracesPage />;
	else if (p === '/upload') body = <UploadPage />;
	else if (help) body = <GuidePage name={help[1] ?? ''} />;
	else if (trace) body = <TracePage key={trace[1]} id={decodeURIComponent(trace[1])} tab={trace[2] ? 'analysis' : 'timeline'} />;
	else body = <Empty title="No such page"><p><a href="/traces">All traces</a></p></Empty>;
	return <Shell>{body}</Shell>;
}

startTheme();
startRouter();
startSession();
render(<Page />, document.getElementById('app')!);
