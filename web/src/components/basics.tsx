// SPDX-License-Identifier: Apache-2.0
// Small parts used on every page: buttons, badges, swatches, bars, panels, notices.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../lib/api';
import { groupOf, kindNumber } from '../lib/kinds';
import { Icon } from './icons';

type ButtonProps = {
	icon?: string;
	primary?: boolean;
	small?: boolean;
	quiet?: boolean;
	disabled?: boolean;
	label?: string;
	title?: string;
	onClick?: (e: MouseEvent) => void;
	children?: ComponentChildren;
	id?: string;
	pressed?: boolean;
	expanded?: boolean;
};

export function Button(p: ButtonProps) {
	const cls = ['btn', p.primary && 'primary', p.small && 'small', p.quiet && 'quiet', !p.children && 'only'];
	return (
		<button type="button" id={p.id} class={cls.filter(Boolean).join(' ')} disabled={p.disabled} title={p.title}
			aria-label={p.label} aria-pressed={p.pressed} aria-expanded={p.expanded} onClick={p.onClick}>
			{p.icon && <Icon name={p.icon} />}
			{p.children}
		</button>
	);
}

type LinkButtonProps = { href: string; icon?: string; primary?: boolean; small?: boolean; children: ComponentChildren; download?: boolean; newWindow?: boolean };

export function LinkButton(p: LinkButtonProps) {
	return (
		<a class={`btn ${p.primary ? 'primary' : ''} ${p.small ? 'small' : ''}`} href={p.href} download={p.download}
			target={p.newWindow ? '_blank' : undefined} rel={p.newWindow ? 'noopener' : undefined}>
			{p.icon && <Icon name={p.icon} />}
			{p.children}
		</a>
	);
}

export function Badge(p: { tone?: 'plain' | 'warn' | 'dim' | 'err'; icon?: string; onClick?: () => void; title?: string; children: ComponentChildren }) {
	const cls = `badge ${p.tone ?? 'plain'}`;
	const body = (
		<>
			{p.icon && <Icon name={p.icon} size={13} />}
			{p.children}
		</>
	);
	if (p.onClick) return <button type="button" class={cls} title={p.title} onClick={p.onClick} aria-haspopup="dialog">{body}</button>;
	return <span class={cls} title={p.title}>{body}</span>;
}

export function Swatch({ kind, group }: { kind?: string | number | null; group?: string }) {
	return <i class={`swatch k-${group ?? groupOf(kindNumber(kind))}`} aria-hidden="true" />;
}

/** A bar from 0; the scale is named in the head of its column. */
export function Bar({ share, group }: { share: number; group: string }) {
	const w = Math.max(0, Math.min(1, share || 0)) * 100;
	return (
		<span class="bar" aria-hidden="true">
			{w > 0 && <i class={`k-${group}`} style={{ width: `${w}%` }} />}
		</span>
	);
}

export function Segmented<T extends string>(p: { label: string; value: T; options: readonly (readonly [T, string])[]; onChange: (v: T) => void }) {
	return (
		<div class="segmented" role="group" aria-label={p.label}>
			{p.options.map(([v, text]) => (
				<button type="button" key={v} aria-pressed={v === p.value} onClick={() => p.onChange(v)}>{text}</button>
			))}
		</div>
	);
}

export function Panel(p: { title: string; note?: ComponentChildren; actions?: ComponentChildren; class?: string; children: ComponentChildren }) {
	return (
		<section class={`panel ${p.class ?? ''}`} aria-label={p.title}>
			<header class="panel-head">
				<h2>{p.title}</h2>
				{p.note && <span class="note">{p.note}</span>}
				<span class="grow" />
				{p.actions}
			</header>
			{p.children}
		</section>
	);
}

export function ErrorPanel({ error, what, retry }: { error: Error; what: string; retry?: () => void }) {
	const e = error instanceof ApiError ? error : null;
	const advice = e?.status === 0 ? 'Check that the server runs and that this machine reaches it.' : e?.status === 404 ? 'Perhaps it is in another project, or the address is not whole.' : '';
	return (
		<div class="notice err" role="alert">
			<Icon name="failed" />
			<div>
				<b>{what}</b>
				<p>{error.message}. {advice}</p>
				{e?.requestId && <p class="dim">Request <code>{e.requestId}</code>, code <code>{e.code}</code></p>}
			</div>
			{retry && <Button icon="retry" onClick={retry}>Try again</Button>}
		</div>
	);
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
	return (
		<div class="empty">
			<h2>{title}</h2>
			{children}
		</div>
	);
}

export function CopyButton(p: { text: () => string; children?: ComponentChildren; quiet?: boolean; icon?: string; small?: boolean; label?: string }) {
	const [done, set] = useState(false);
	const copy = () => {
		void copyText(p.text()).then((ok) => {
			set(ok);
			setTimeout(() => set(false), 1500);
		});
	};
	return <Button icon={done ? 'check' : p.icon} quiet={p.quiet} small={p.small} label={p.label} onClick={copy}>{done && p.children ? 'Copied' : p.children}</Button>;
}

/** The clipboard API is missing on plain http pages; the old way then still works. */
export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const t = document.createElement('textarea');
		t.value = text;
		t.className = 'offscreen';
		document.body.append(t);
		t.select();
		const ok = document.execCommand('copy');
		t.remove();
		return ok;
	}
}

/** A name that is cut in the middle by whatever room it has: its end stays. */
export function Middle({ text, tail = 16 }: { text: string; tail?: number }) {
	if (text.length <= tail + 4) return <span class="middle"><span>{text}</span></span>;
	return (
		<span class="middle">
			<span class="head">{text.slice(0, -tail)}</span>
			<span>{text.slice(-tail)}</span>
		</span>
	);
}

/** A command to copy, set in mono. */
export function Command({ text }: { text: string }) {
	return (
		<div class="command">
			<code tabIndex={0}>{text}</code>
			<CopyButton text={() => text} icon="copy" small>Copy</CopyButton>
		</div>
	);
}

export function Skeleton({ rows }: { rows: number }) {
	return (
		<div class="skeleton" role="status" aria-label="Loading">
			{Array.from({ length: rows }, (_, i) => <i key={i} style={{ width: `${92 - ((i * 37) % 40)}%` }} />)}
		</div>
	);
}
