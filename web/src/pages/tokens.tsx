// SPDX-License-Identifier: Apache-2.0
// Tokens of the project: list, make one (its secret is shown once), revoke.
import { useRef, useState } from 'preact/hooks';
import { who } from '../app/session';
import { Badge, Button, Command, CopyButton, Empty, ErrorPanel } from '../components/basics';
import { Dialog } from '../components/dialog';
import { Icon } from '../components/icons';
import { getJson, send } from '../lib/api';
import { dateTime, dayTime, int } from '../lib/format';
import { useLoad } from '../lib/load';
import { createBody, TOKEN_SCOPES, tokenState } from '../lib/tokens';
import type { TokenForm } from '../lib/tokens';
import type { List, NewToken, Token } from '../lib/types';
import { AdminsOnly, Whole } from './admin';

export function TokensPage() {
	return <AdminsOnly what="its tokens"><Tokens /></AdminsOnly>;
}

function Tokens() {
	const [revoked, setRevoked] = useState(false);
	const [making, setMaking] = useState(false);
	const [leaving, setLeaving] = useState<Token | null>(null);
	const list = useLoad<List<Token>>(`tokens ${revoked}`, (signal) => getJson('/tokens', { revoked: revoked ? 1 : undefined }, signal));
	return (
		<div class="page admin">
			<div class="page-title">
				<h1>Tokens</h1>
				{who.value?.project && <Badge>project {who.value.project}</Badge>}
				<span class="grow" />
				<label class="check"><input type="checkbox" checked={revoked} onChange={(e) => setRevoked(e.currentTarget.checked)} />Show revoked ones</label>
				<Button icon="plus" primary onClick={() => setMaking(true)}>New token</Button>
			</div>
			<Whole load={list} what="The tokens could not be loaded">
				{(d) => (d.items.length === 0
					? <Empty title="No tokens yet"><p>Programs and people off this machine need one to send and read traces.</p><Button icon="plus" primary onClick={() => setMaking(true)}>New token</Button></Empty>
					: <Table list={d} onRevoke={setLeaving} />)}
			</Whole>
			{making && <Create onClose={() => setMaking(false)} onMade={list.reload} />}
			{leaving && <Revoke t={leaving} onClose={() => setLeaving(null)} onDone={() => { setLeaving(null); list.reload(); }} />}
		</div>
	);
}

function Table({ list, onRevoke }: { list: List<Token>; onRevoke: (t: Token) => void }) {
	const now = new Date();
	const day = (iso: string | null | undefined) => dayTime(iso, now.getUTCFullYear());
	return (
		<div class="table-box">
			<div class="table-scroll" tabIndex={0} role="region" aria-label="Tokens">
				<table class="data tokens">
					<colgroup><col /><col style={{ width: '104px' }} /><col style={{ width: '190px' }} /><col style={{ width: '130px' }} /><col style={{ width: '104px' }} /><col style={{ width: '104px' }} /><col style={{ width: '104px' }} /><col style={{ width: '150px' }} /></colgroup>
					<thead>
						<tr>
							<th scope="col">Name</th><th scope="col">Starts with</th><th scope="col">Scopes</th><th scope="col">Made by</th>
							<th scope="col" class="num">Made, UTC</th><th scope="col" class="num">Last used, UTC</th><th scope="col" class="num">Expires, UTC</th><th scope="col">State</th>
						</tr>
					</thead>
					<tbody>
						{list.items.map((t) => {
							const state = tokenState(t, now.getTime());
							return (
								<tr key={t.id} class={state === 'valid' ? '' : 'over'}>
									<th scope="row" class="cut" title={t.name}>{t.name}</th>
									<td class="mono">{t.prefix ? `${t.prefix}…` : <span class="dim">not known</span>}</td>
									<td class="cut">{t.scopes.join(', ')}</td>
									<td class="cut" title={t.created_by ?? ''}>{t.created_by || <span class="dim">not known</span>}</td>
									<td class="num" title={dateTime(t.created_at)}>{day(t.created_at)}</td>
									<td class="num" title={dateTime(t.last_used_at)}>{t.last_used_at ? day(t.last_used_at) : <span class="dim">never</span>}</td>
									<td class="num" title={dateTime(t.expires_at)}>{t.expires_at ? day(t.expires_at) : <span class="dim">never</span>}</td>
									<td>
										{state === 'valid' && <span class="row"><span class="state"><Icon name="check" size={14} />Valid</span><span class="grow" /><button type="button" class="as-link" aria-label={`Revoke ${t.name}`} onClick={() => onRevoke(t)}>Revoke</button></span>}
										{state === 'expired' && <span class="row"><span class="dim">Expired</span><span class="grow" /><button type="button" class="as-link" aria-label={`Revoke ${t.name}`} onClick={() => onRevoke(t)}>Revoke</button></span>}
										{state === 'revoked' && <span class="dim cut" title={dateTime(t.revoked_at)}>Revoked {day(t.revoked_at)}</span>}
									</td>
								</tr>
							);
						})}
					</tbody>
				</table>
			</div>
			<footer class="table-foot"><span>{int(list.items.length)}{list.next ? ' newest' : ''} {list.items.length === 1 ? 'token' : 'tokens'}</span><span class="grow" /><span class="dim">The server keeps a hash: a secret cannot be shown again.</span></footer>
		</div>
	);
}

const SCOPE_TEXT: Record<string, string> = {
	read: 'see traces, numbers, storage',
	upload: 'send traces, keep, write notes',
	capture: 'ask hosts to record',
	admin: 'delete, retention, tokens, audit; holds the others',
};

function Create({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
	const [f, setF] = useState<TokenForm>({ name: '', scopes: ['read'], days: '90' });
	const [made, setMade] = useState<NewToken | null>(null);
	const [error, setError] = useState<Error | null>(null);
	const [tried, setTried] = useState(false);
	const making = useRef(false); // a second click before the answer would make a token whose secret nobody sees
	const { body, errors } = createBody(f);
	const submit = (e: Event) => {
		e.preventDefault();
		setTried(true);
		if (!body || making.current) return;
		making.current = true;
		send<NewToken>('POST', '/tokens', body).then((t) => {
			setError(null);
			setMade(t);
			onMade();
		}, (fault: Error) => {
			making.current = false;
			setError(fault);
		});
	};
	if (made) return <Dialog title="New token" onClose={onClose}><Secret t={made} onClose={onClose} /></Dialog>;
	const note = (k: 'name' | 'scopes' | 'days', text: string) => (
		<span id={`token-${k}-note`} class={tried && errors[k] ? 'field-error' : 'dim note'} role={tried && errors[k] ? 'alert' : undefined}>{tried && errors[k] ? errors[k] : text}</span>
	);
	return (
		<Dialog title="New token" onClose={onClose}>
			<form class="stack form" onSubmit={submit} noValidate>
				<div class="form-row">
					<label for="token-name">Name</label>
					<input id="token-name" type="text" value={f.name} maxLength={64} autocomplete="off" aria-invalid={tried && !!errors.name} aria-describedby="token-name-note" onInput={(e) => setF({ ...f, name: e.currentTarget.value })} />
					{note('name', 'What will use it, for instance the name of a host or of a pipeline.')}
				</div>
				<fieldset class="form-row" aria-describedby="token-scopes-note">
					<legend>Scopes</legend>
					{TOKEN_SCOPES.map((s) => (
						<label class="check" key={s}>
							<input type="checkbox" checked={f.scopes.includes(s)} onChange={(e) => setF({ ...f, scopes: e.currentTarget.checked ? [...f.scopes, s] : f.scopes.filter((x) => x !== s) })} />
							<b>{s}</b> <span class="dim">{SCOPE_TEXT[s]}</span>
						</label>
					))}
					{note('scopes', 'Give what it needs and no more.')}
				</fieldset>
				<div class="form-row">
					<label for="token-days">Expires after</label>
					<span class="with-unit">
						<input id="token-days" type="text" inputMode="numeric" value={f.days} placeholder="never" aria-invalid={tried && !!errors.days} aria-describedby="token-days-note" onInput={(e) => setF({ ...f, days: e.currentTarget.value })} />
						<span class="dim">days</span>
					</span>
					{note('days', 'Nothing: never.')}
				</div>
				{error && <ErrorPanel error={error} what="The token was not made" />}
				<div class="row">
					<button type="submit" class="btn primary">Make the token</button>
					<Button onClick={onClose}>Cancel</Button>
				</div>
			</form>
		</Dialog>
	);
}

function Secret({ t, onClose }: { t: NewToken; onClose: () => void }) {
	const server = location.origin;
	const canSend = t.scopes.includes('upload') || t.scopes.includes('admin');
	return (
		<div class="stack">
			<p><b>This is the only time that the secret of {t.name} is shown.</b> Copy it now and keep it where programs keep passwords.</p>
			<div class="command secret"><code data-secret>{t.secret}</code><CopyButton text={() => t.secret} icon="copy">Copy the secret</CopyButton></div>
			<h3>Use it</h3>
			{canSend && <Command text={`FLEETSCOPE_TOKEN=${t.secret} fleetscope-collector push trace.json.gz --server ${server}`} />}
			<Command text={`curl -H 'Authorization: Bearer ${t.secret}' ${server}/api/v1/traces`} />
			{canSend && <Command text={`curl -H 'Authorization: Bearer ${t.secret}' --data-binary @trace.json.gz '${server}/api/v1/bundles?name=trace.json.gz&job=my-job'`} />}
			<div class="row"><Button primary icon="check" onClick={onClose}>I have it</Button></div>
		</div>
	);
}

function Revoke({ t, onClose, onDone }: { t: Token; onClose: () => void; onDone: () => void }) {
	const [error, setError] = useState<Error | null>(null);
	return (
		<Dialog title={`Revoke ${t.name}?`} onClose={onClose}>
			<p>Whatever uses <b>{t.name}</b>{t.prefix && <> (<code>{t.prefix}…</code>)</>} is refused from now on. This cannot be undone; make a new token instead.</p>
			<p class="dim">{t.last_used_at ? `Last used ${dateTime(t.last_used_at)}.` : 'It was never used.'}</p>
			{error && <ErrorPanel error={error} what="The token was not revoked" />}
			<div class="row">
				<Button icon="trash" primary onClick={() => { send('DELETE', `/tokens/${t.id}`).then(onDone, setError); }}>Revoke {t.name}</Button>
				<Button onClick={onClose}>Cancel</Button>
			</div>
		</Dialog>
	);
}
