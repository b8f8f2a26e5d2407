// SPDX-License-Identifier: Apache-2.0
// The retention policy: a form for admins, that shows what it would take now before it is saved; text for the others.
import { useEffect, useState } from 'preact/hooks';
import { can } from '../app/session';
import { Button, ErrorPanel, Panel, Skeleton } from '../components/basics';
import { DeletionSummary } from '../components/deletion';
import { Dialog } from '../components/dialog';
import { Icon } from '../components/icons';
import { send } from '../lib/api';
import { bytes, dateTime, plural } from '../lib/format';
import { formOf, parseForm, samePolicy, SIZE_UNITS } from '../lib/retention';
import type { Field, PolicyForm, SizeUnit } from '../lib/retention';
import type { Deletion, Policy, Storage } from '../lib/types';

export function PolicyPanel({ s, onSaved }: { s: Storage; onSaved: () => void }) {
	const note = s.policy.updated_at ? `set ${dateTime(s.policy.updated_at)}` : 'never set';
	return (
		<Panel title="Retention policy" note={note} class="policy">
			{can('admin') ? <Form key={JSON.stringify(s.policy)} p={s.policy} onSaved={onSaved} /> : <Text p={s.policy} />}
		</Panel>
	);
}

function lines(p: Policy): [string, string][] {
	const days = (n: number, what: string) => (n > 0 ? `after ${plural(n, 'day')}` : `${what}, whatever their age`);
	return [
		['Uploads go', days(p.max_age_days, 'never')],
		['Uploaded files go, traces stay', days(p.blob_age_days, 'never')],
		['Most bytes', p.max_bytes > 0 ? `${bytes(p.max_bytes)}, then the oldest go` : 'no limit'],
	];
}

function Text({ p }: { p: Policy }) {
	return (
		<div class="pad stack tight">
			<dl class="facts">{lines(p).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
			<p class="dim">Admins of the project can change it.</p>
		</div>
	);
}

function Form({ p, onSaved }: { p: Policy; onSaved: () => void }) {
	const [f, setF] = useState<PolicyForm>(() => formOf(p));
	const [review, setReview] = useState<Policy | null>(null);
	const { policy, errors, hint } = parseForm(f);
	const changed = !policy || !samePolicy(policy, p);
	const set = (part: Partial<PolicyForm>) => setF({ ...f, ...part });
	const number = (k: Field, label: string, unit: string, note: string) => (
		<div class="form-row">
			<label for={`policy-${k}`}>{label}</label>
			<span class="with-unit">
				<input id={`policy-${k}`} type="text" inputMode="numeric" value={f[k]} placeholder="no limit" aria-invalid={!!errors[k]}
					aria-describedby={`policy-${k}-note`} onInput={(e) => set({ [k]: e.currentTarget.value })} />
				{k === 'size' ? (
					<select aria-label="Unit of the most bytes" value={f.unit} onChange={(e) => set({ unit: e.currentTarget.value as SizeUnit })}>
						{SIZE_UNITS.map(([u]) => <option key={u} value={u}>{u}</option>)}
					</select>
				) : <span class="dim">{unit}</span>}
			</span>
			<span id={`policy-${k}-note`} class={errors[k] ? 'field-error' : 'dim note'} role={errors[k] ? 'alert' : undefined}>
				{errors[k] ? <><Icon name="failed" size={13} />{errors[k]}</> : note}
			</span>
		</div>
	);
	return (
		<form class="pad stack form" onSubmit={(e) => { e.preventDefault(); if (policy && changed) setReview(policy); }}>
			{number('age', 'Delete uploads after', 'days', 'With their traces, counted from the upload. Kept traces stay.')}
			{number('blobAge', 'Let the uploaded files go after', 'days', hint || 'Traces stay readable, but cannot be rebuilt by a newer version.')}
			{number('size', 'Keep at most', '', 'Files and segments of this project; the oldest uploads go first.')}
			<div class="row">
				<button type="submit" class="btn primary" disabled={!policy || !changed}>Review and save</button>
				<Button disabled={!changed} onClick={() => setF(formOf(p))}>Undo</Button>
			</div>
			{review && <Review p={review} onClose={() => setReview(null)} onSaved={() => { setReview(null); onSaved(); }} />}
		</form>
	);
}

function Review({ p, onClose, onSaved }: { p: Policy; onClose: () => void; onSaved: () => void }) {
	const [would, setWould] = useState<Deletion | null>(null);
	const [error, setError] = useState<Error | null>(null);
	const [saving, setSaving] = useState(false);
	useEffect(() => {
		send<Deletion>('POST', '/retention/run?dry_run=1', p).then((d) => setWould(d), setError);
	}, []);
	const save = () => {
		setSaving(true);
		send('PUT', '/retention', p).then(onSaved, (e: Error) => {
			setSaving(false);
			setError(e);
		});
	};
	const none = would !== null && would.bundles === 0 && !would.blobs;
	return (
		<Dialog title="Save this policy?" onClose={onClose}>
			<dl class="facts">{lines(p).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl>
			{error && <ErrorPanel error={error} what={saving || would ? 'The policy was not saved' : 'What it would take could not be found out'} />}
			{!would && !error && <Skeleton rows={3} />}
			{would && <DeletionSummary d={would} verb={none ? '' : 'Now it would take'} />}
			{none && <p><Icon name="check" size={13} class="inline ok" /> Now it would take nothing.</p>}
			<div class="row">
				<Button icon={none ? 'check' : 'trash'} primary disabled={saving || (!would && !error)} onClick={save}>{none ? 'Save' : 'Save, and delete that within minutes'}</Button>
				<Button onClick={onClose}>Cancel</Button>
			</div>
		</Dialog>
	);
}
