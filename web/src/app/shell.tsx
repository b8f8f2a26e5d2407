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
import { signOut, who } from './session';
import { dark, setTheme } from './theme';

export const helpOpen = signal(false);
const PAGES = [['/traces', 'Traces'], ['/upload', 'Upload'], ['/help', 'Help']] as const;

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

function User() {
	const w = who.value;
	if (!w || w.auth === 'loopback') return null;
	return (
		<div class="user">
			<span class="project">Project <b>{w.project ?? 'default'}</b></span>
			<button type="button" class="icon-btn" aria-label="Sign out" title="Sign out" onClick={() => void signOut()}>
				<Icon name="user" />
			</button>
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
				{PAGES.map(([href, text]) => (
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
			<main id="main" tabIndex={-1}>{children}</main>
		</>
	);
}
