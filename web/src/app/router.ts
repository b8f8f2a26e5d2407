// SPDX-License-Identifier: Apache-2.0
// Path and query as signals; links inside the page change them without a reload.
import { signal } from '@preact/signals';

export const path = signal(location.pathname);
export const query = signal(location.search);

function sync(): void {
	path.value = location.pathname;
	query.value = location.search;
}

export function navigate(to: string, how: 'push' | 'replace' = 'push'): void {
	if (how === 'push') history.pushState(null, '', to);
	else history.replaceState(null, '', to);
	const samePage = path.value === location.pathname;
	sync();
	if (!samePage) window.scrollTo(0, 0);
}

/** Replaces only the query of the current page. */
export function setQuery(q: string, how: 'push' | 'replace'): void {
	if (q === location.search) return;
	navigate(location.pathname + q, how);
}

function onClick(e: MouseEvent): void {
	if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
	const a = (e.target as Element | null)?.closest?.('a[href]') as HTMLAnchorElement | null;
	if (!a || a.target || a.hasAttribute('download') || a.origin !== location.origin) return;
	if (a.pathname.startsWith('/api/') || a.hash) return;
	e.preventDefault();
	navigate(a.pathname + a.search);
}

export function startRouter(): void {
	addEventListener('popstate', sync);
	document.addEventListener('click', onClick);
}
