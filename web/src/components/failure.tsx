// SPDX-License-Identifier: Apache-2.0
// Failures of a trace or an upload that are no accident: deleted (when, why, by whom), being indexed again, too old
// for this version with its file gone. Everything else is an ErrorPanel.
import { useEffect } from 'preact/hooks';
import { can, who } from '../app/session';
import { ApiError } from '../lib/api';
import { dateTime, int } from '../lib/format';
import { reindexProgress, tombstoneOf, whyDeleted } from '../lib/tombstone';
import type { Tombstone } from '../lib/types';
import { Empty, ErrorPanel, LinkButton } from './basics';

const RETRY_MS = 2000;

export function Failure({ error, what, retry }: { error: Error; what: string; retry: () => void }) {
	const gone = tombstoneOf(error);
	if (gone) return <Gone t={gone} />;
	if (error instanceof ApiError && error.code === 'reindexing') return <Reindexing error={error} retry={retry} />;
	if (error instanceof ApiError && error.code === 'not_rebuildable') {
		return (
			<Empty title="This trace is too old for this version">
				<p>{error.message}. Its uploaded file was let go, so it cannot be indexed again. Upload the file again to see it.</p>
				<div class="row"><LinkButton href="/upload" icon="upload" primary>Upload</LinkButton><LinkButton href="/traces">All traces</LinkButton></div>
			</Empty>
		);
	}
	return <ErrorPanel error={error} what={what} retry={retry} />;
}

function Gone({ t }: { t: Tombstone }) {
	return (
		<div class="empty tombstone">
			<h1>This {t.kind === 'bundle' ? 'upload' : 'trace'} was deleted</h1>
			<dl class="facts">
				<div><dt>It was</dt><dd class="wrap"><b>{t.name}</b></dd></div>
				<div><dt>Deleted</dt><dd>{dateTime(t.deleted_at)}</dd></div>
				<div><dt>Why</dt><dd>{whyDeleted(t)}</dd></div>
				<div><dt>By</dt><dd>{t.actor || 'the server'}</dd></div>
				{who.value?.project && <div><dt>Project</dt><dd>{who.value.project}</dd></div>}
			</dl>
			<p class="dim">{t.reason !== 'user' ? 'Keep a trace that is to outlive the retention of its project.'
				: t.kind === 'trace' ? 'Indexing its upload again does not bring it back.' : 'Uploading the file again makes a new upload.'}</p>
			<div class="row">
				<LinkButton href="/traces" primary>All traces</LinkButton>
				{t.reason !== 'user' && <LinkButton href="/storage">Retention policy</LinkButton>}
				{can('admin') && <LinkButton href={`/audit?action=${t.kind}.`}>Audit</LinkButton>}
			</div>
		</div>
	);
}

function Reindexing({ error, retry }: { error: ApiError; retry: () => void }) {
	useEffect(() => {
		const t = setInterval(() => document.hidden || retry(), RETRY_MS);
		return () => clearInterval(t);
	}, [retry]);
	const p = reindexProgress(error.detail);
	return (
		<Empty title="This trace is being indexed again">
			<p>It was written by an older version. The page opens by itself when it is done.</p>
			{p && <p class="working"><progress value={p.done} max={Math.max(1, p.total)} aria-label="Re-index" /><span>{int(p.done)} of {int(p.total)}</span></p>}
		</Empty>
	);
}

