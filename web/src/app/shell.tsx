// SPDX-License-Identifier: Apache-2.0
// Header of every page: logo, pages, search over traces, theme, help, user; and the thin loading bar.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon, Logo } from '../components/icons';
import { keysBlocked } from '../components/dialog';
import { pending } from '../lib/busy';
import { HelpDialog } from './help';
import { path } from './router';
import { GlobalSearch } from './search';
import { can, refused, severalProjects, signOut, switchProject, who } from './session';
import { dark, setTheme } from './theme';

export const helpOpen = signal(false);
const PAGES = [
	['/traces', 'Traces', null], ['/upload', 'Upload', 'upload'], ['/storage', 'Storage', null], ['/tokens', 'Tokens', 'admin'], ['/audit', 'Audit', 'admin'],
	['/help', 'Help', null],
] as const;

function LoadingBar() {
	const [shown, set] = useState(false);
	const busy = pending.value > 0;
	useEffect(() => {
		if (!busy) return set(false);
		const t = setTimeout(() => set(true), 150);
		return () => clearTimeout(t);
	}, [busy]);
	return <div class={`loading-bar ${shown ? 'on' : ''}`} />;
}

function Project({ name, all }: { name: string; all: string[] }) {
	if (!severalProjects()) return <span class="project" title={`Project ${name}`}>Project <b>{name}</b></span>;
	return (
		<label class="project">
			<span>Project</span>
			<select value={name} aria-label="Project" onChange={(e) => switchProject(e.currentTarget.value)}>
				{all.map((p) => <option key={p} value={p}>{p}</option>)}
			</select>
		</label>
	);
}

function User() {
	const w = who.value;
	if (!w) return null;
	// On a machine of one's own with one project there is nothing to say.
	const plain = w.via === 'loopback' && !severalProjects();
	return (
		<div class="user">
			{!plain && <Project name={w.project ?? 'default'} all={w.projects ?? []} />}
			{w.user && <span class="user-name" title={`Signed in as ${w.user}${w.via === 'proxy' ? ', by the proxy in front of this server' : ''}`}><Icon name="user" size={14} />{w.user}</span>}
			{w.via !== 'loopback' && w.via !== 'proxy' && (
				<button type="button" class="icon-btn" aria-label="Sign out" title="Sign out" onClick={() => void signOut()}>
					<Icon name="user" />
				</button>
			)}
		</div>
	);
}

function Refused() {
	const name = refused.value;
	if (!name) return null;
	return (
		<div class="strip warn" role="status">
			<Icon name="warn" />
			<span>The link asks for project <b>{name}</b>, which you may not enter or which does not exist. This is project <b>{who.value?.project}</b>.</span>
			<button type="button" class="btn quiet only small" aria-label="Dismiss" onClick={() => (refused.value = null)}><Icon name="cross" /></button>
		</div>
	);
}

export function Header() {
	useEffect(() => {
		const onKey = (e: KeyboardEvent) => {
			if (e.key === '?' && !keysBlocked(e)) {
				e.preventDefault();
				helpOpen.value = true;
			}
		};
		addEventListener('keydown', onKey);
		return () => removeEventListener('keydown', onKey);
	}, []);
	return (
		<header class="top">
			<a class="brand" href="/traces"><Logo />Fleetscope</a>
			<nav aria-label="Pages">
				{PAGES.filter(([, , need]) => need === null || (need === 'upload' && !who.value) || can(need)).map(([href, text]) => (
					<a key={href} href={href} aria-current={path.value.startsWith(href) ? 'page' : undefined}>{text}</a>
				))}
			</nav>
			<span class="grow" />
			<GlobalSearch />
			<button type="button" class="icon-btn" onClick={() => setTheme(dark.value ? 'light' : 'dark')}
				aria-label={dark.value ? 'Light theme' : 'Dark theme'} title={dark.value ? 'Light theme' : 'Dark theme'}>
				<Icon name={dark.value ? 'sun' : 'moon'} />
			</button>
			<button type="button" class="icon-btn" aria-label="Help" title="Keys and help (?)" onClick={() => (helpOpen.value = true)}>
				<Icon name="help" />
			</button>
			<User />
			<LoadingBar />
			{helpOpen.value && <HelpDialog onClose={() => (helpOpen.value = false)} />}
		</header>
	);
}

export function Shell({ children }: { children: ComponentChildren }) {
	return (
		<>
			<a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to content</a>
			<Header />
			<Refused />
			<main id="main" tabIndex={-1}>{children}</main>
		</>
	);
}
