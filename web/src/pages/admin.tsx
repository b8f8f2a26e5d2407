// SPDX-License-Identifier: Apache-2.0
// The pages of those who run an installation: one chunk, since they share their parts.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { can, who } from '../app/session';
import { Empty, ErrorPanel, Skeleton } from '../components/basics';
import { ApiError } from '../lib/api';
import type { Loaded } from '../lib/load';
import { AuditPage } from './audit';
import { StoragePage } from './storage';
import { TokensPage } from './tokens';

const TITLES = { storage: 'Storage', tokens: 'Tokens', audit: 'Audit' } as const;

export function AdminPage({ page }: { page: keyof typeof TITLES }) {
	useEffect(() => {
		document.title = `${TITLES[page]} · Fleetscope`;
	}, [page]);
	if (page === 'storage') return <StoragePage />;
	return page === 'tokens' ? <TokensPage /> : <AuditPage />;
}

/** For what only admins of the project may see; `what` completes "Only admins of this project see ...". */
export function AdminsOnly({ what, children }: { what: string; children: ComponentChildren }) {
	if (!who.value || can('admin')) return <>{children}</>;
	return (
		<Empty title="Not for this account">
			<p>Only admins of project <b>{who.value.project}</b> see {what}. Your scopes: {who.value.scopes?.join(', ') || 'none'}.</p>
			<p>Ask one of them, or sign in with a token of scope <code>admin</code>.</p>
		</Empty>
	);
}

/** Failure, first load, no permission; then what `children` makes of the data. */
export function Whole<T>({ load, what, rows = 8, children }: { load: Loaded<T>; what: string; rows?: number; children: (data: T) => ComponentChildren }) {
	const { data, error } = load;
	if (error instanceof ApiError && error.status === 403) return <Empty title="Not for this account"><p>{error.message}. Ask an admin of this project.</p></Empty>;
	return (
		<>
			{error && <ErrorPanel error={error} what={what} retry={load.reload} />}
			{!data && !error && <Skeleton rows={rows} />}
			{data && children(data)}
		</>
	);
}
