// SPDX-License-Identifier: Apache-2.0
// Who is looking, and what the server says about itself. 401 anywhere leads to the login page and back.
import { signal } from '@preact/signals';
import { getJson, send, setUnauthorised } from '../lib/api';
import type { ServerInfo, WhoAmI } from '../lib/types';
import { navigate } from './router';

export const who = signal<WhoAmI | null>(null);
export const server = signal<ServerInfo>({});

export function startSession(): void {
	setUnauthorised(() => {
		if (location.pathname === '/login') return;
		const next = location.pathname + location.search;
		navigate(`/login?next=${encodeURIComponent(next)}`, 'replace');
	});
	void refreshSession();
}

export async function refreshSession(): Promise<void> {
	if (location.pathname === '/login') return;
	try {
		who.value = await getJson<WhoAmI>('/whoami');
		server.value = await getJson<ServerInfo>('/server');
	} catch {
		// The page that needs data says what is wrong.
	}
}

export async function signOut(): Promise<void> {
	await send('POST', '/logout');
	who.value = null;
	navigate('/login');
}

/** Can this user add data? Unknown counts as yes: the server decides anyway. */
export function canUpload(): boolean {
	const s = who.value?.scopes;
	return !s || s.includes('upload') || s.includes('admin');
}
