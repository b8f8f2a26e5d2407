// SPDX-License-Identifier: Apache-2.0
// Start of the page. Each page with weight is its own chunk.
import { Fragment, render } from 'preact';
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty, ErrorPanel, Skeleton } from '../components/basics';
import { GuidePage } from '../pages/guide';
import { LoginPage } from '../pages/login';
import { TracesPage } from '../pages/traces';
import { UploadPage } from '../pages/upload';
import { navigate, path, startRouter } from './router';
import { projectTurn, startSession } from './session';
import { Shell } from './shell';
import { startTheme } from './theme';

type Props = { id: string; tab: 'timeline' | 'analysis' };
type AdminProps = { page: 'storage' | 'tokens' | 'audit' };

/** A page that comes as a chunk of its own. */
function Lazy<P extends object>({ load, props }: { load: () => Promise<ComponentType<P>>; props: P }) {
	const [page, set] = useState<{ C?: ComponentType<P>; error?: Error }>({});
	useEffect(() => {
		load().then((C) => set({ C }), (error: Error) => set({ error }));
	}, []);
	if (page.error) return <ErrorPanel error={page.error} what="This page could not be loaded" retry={() => location.reload()} />;
	return page.C ? <page.C {...props} /> : <Skeleton rows={8} />;
}

const tracePage = () => import('../pages/trace').then((m) => m.TracePage);
const adminPage = () => import('../pages/admin').then((m) => m.AdminPage);

function Page() {
	const p = path.value;
	const turn = projectTurn.value;
	const admin = /^\/(storage|tokens|audit)\/?$/.exec(p)?.[1] as AdminProps['page'] | undefined;
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
	else if (admin) body = <Lazy<AdminProps> key={admin} load={adminPage} props={{ page: admin }} />;
	else if (trace) body = <Lazy<Props> key={trace[1]} load={tracePage} props={{ id: decodeURIComponent(trace[1]), tab: trace[2] ? 'analysis' : 'timeline' }} />;
	else body = <Empty title="No such page"><p><a href="/traces">All traces</a></p></Empty>;
	return <Shell><Fragment key={turn}>{body}</Fragment></Shell>;
}

startTheme();
startRouter();
startSession();
render(<Page />, document.getElementById('app')!);
