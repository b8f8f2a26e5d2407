// SPDX-License-Identifier: Apache-2.0
// Upload page: drop zone, file picker, and one row per file from the first byte to the finished trace.
import { useEffect, useRef, useState } from 'preact/hooks';
import { server } from '../app/session';
import { Button, Command } from '../components/basics';
import { Icon } from '../components/icons';
import { currentProject } from '../lib/api';
import { bytes, int, pct, span } from '../lib/format';
import { addFiles, cancel, remove, retry, transfers } from '../lib/transfers';
import type { Transfer } from '../lib/transfers';
import { Working } from './list_table';
import { pushCommand } from './traces';

export function UploadPage() {
	const [over, setOver] = useState(false);
	const picker = useRef<HTMLInputElement>(null);
	useEffect(() => {
		document.title = 'Upload · Fleetscope';
		const stop = (e: DragEvent) => e.preventDefault(); // a file dropped beside the zone must not open
		addEventListener('dragover', stop);
		addEventListener('drop', stop);
		return () => {
			removeEventListener('dragover', stop);
			removeEventListener('drop', stop);
		};
	}, []);
	const take = (files: FileList | null | undefined) => files && addFiles([...files]);
	const limit = server.value.limits?.upload_bytes;
	return (
		<div class="page upload">
			<div class="page-title"><h1>Upload</h1></div>
			<div class={`drop ${over ? 'over' : ''}`} onDragOver={(e) => { e.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
				onDrop={(e) => { e.preventDefault(); setOver(false); take(e.dataTransfer?.files); }}>
				<Icon name="upload" size={28} />
				<p><b>Drop trace files here</b></p>
				<p class="dim">PyTorch profiler and Chrome JSON traces, plain or .gz, and bundles (.tar.gz, .tar.zst, .zip) of many ranks{limit ? `; up to ${bytes(limit)} each` : ''}.</p>
				<Button icon="file" primary onClick={() => picker.current?.click()}>Choose files</Button>
				<input ref={picker} id="file-picker" type="file" multiple class="offscreen" tabIndex={-1} aria-label="Files to upload"
					onChange={(e) => { take(e.currentTarget.files); e.currentTarget.value = ''; }} />
			</div>
			<ul class="transfers" aria-label="Uploads" aria-live="polite">{transfers.value.map((t) => <Row key={t.key} t={t} />)}</ul>
			<section class="stack">
				<h2>From a host</h2>
				<Command text={pushCommand()} />
				<Command text={`curl --data-binary @trace.json.gz '${location.origin}/api/v1/bundles?name=trace.json.gz'`} />
			</section>
		</div>
	);
}

function Row({ t }: { t: Transfer }) {
	const share = t.size > 0 ? t.sent / t.size : 1;
	const eta = t.rate > 0 ? (t.size - t.sent) / t.rate : null;
	return (
		<li class={`panel transfer p-${t.phase}`}>
			<Icon name={t.phase === 'failed' ? 'failed' : t.phase === 'ready' ? 'check' : 'file'} />
			<div class="what">
				<b class="cut" title={t.name}>{t.name}</b>
				<span class="dim">{bytes(t.size)}</span>
			</div>
			<div class="how">
				{t.phase === 'waiting' && <span class="dim">Waiting for its turn</span>}
				{t.phase === 'sending' && (
					<span class="working">
						<progress value={share} max={1} aria-label={`Sending ${t.name}`} />
						<span>{pct(share * 100, 0)}</span>
						{t.note ? <span class="dim" role="status">{t.note}</span> : <span class="dim">{t.rate > 0 ? `${bytes(t.rate)}/s` : ''}{eta !== null && eta > 1 ? `, about ${span(eta)} left` : ''}</span>}
					</span>
				)}
				{t.phase === 'indexing' && (t.note ? <span class="dim" role="status">{t.note}</span> : t.bundle ? <Working r={t.bundle} /> : <span class="dim">Received</span>)}
				{t.phase === 'ready' && <Ready t={t} />}
				{t.phase === 'cancelled' && <span class="dim">Cancelled</span>}
				{t.phase === 'failed' && <Failure t={t} />}
				{t.duplicate && <span class="dup"><Icon name="copy" size={13} />Already here: same content was uploaded before</span>}
			</div>
			<div class="row">
				{t.phase === 'sending' || t.phase === 'waiting' ? <Button small onClick={() => cancel(t.key)}>Cancel</Button> : null}
				{t.phase === 'failed' || t.phase === 'cancelled' ? <Button small icon="retry" onClick={() => retry(t.key)}>Retry</Button> : null}
				{t.phase !== 'sending' && t.phase !== 'waiting' && <Button small quiet icon="cross" label={`Remove ${t.name} from this list`} onClick={() => remove(t.key)} />}
			</div>
		</li>
	);
}

/** What was sent from another project opens there. */
function traceHref(id: string, project: string): string {
	return `/traces/${id}${project && project !== currentProject() ? `?project=${encodeURIComponent(project)}` : ''}`;
}

function Ready({ t }: { t: Transfer }) {
	const traces = t.bundle?.traces ?? [];
	const bad = (t.bundle?.failures ?? []).filter((f) => f.outcome === 'failed');
	return (
		<span class="row wrap">
			{t.note && <span class="dim">{t.note}</span>}
			{traces.slice(0, 8).map((x) => <a key={x.id} class="btn small primary" href={traceHref(x.id, t.project)}>{traces.length === 1 ? 'Open the trace' : x.rank !== null && x.rank !== undefined && x.rank >= 0 ? `Rank ${x.rank}` : x.name}</a>)}
			{traces.length > 8 && <a href="/traces">{int(traces.length - 8)} more in the list</a>}
			{bad.slice(0, 3).map((f) => <span class="reason" key={f.file}>{f.file}: {f.message}</span>)}
		</span>
	);
}

function Failure({ t }: { t: Transfer }) {
	const e = t.bundle?.error;
	const place = e && typeof e.offset === 'number' && e.offset >= 0 ? `, at byte ${int(e.offset)}` : '';
	return (
		<span class="failure">
			<span class="reason" role="alert">{e ? e.message + place : t.problem}</span>
			{e?.file && <span class="dim">in {e.file}</span>}
			{t.requestId && <span class="dim">request <code>{t.requestId}</code></span>}
		</span>
	);
}
