// SPDX-License-Identifier: Apache-2.0
// Who is looking, in which project, and what the server says about itself. 401 anywhere leads to the login page and back.
import { effect, signal } from '@preact/signals';
import { getJson, send, setProject, setUnauthorised } from '../lib/api';
import { projectCookie, projectOfUrl, withoutProject, withProject } from '../lib/project';
import type { ServerInfo, WhoAmI } from '../lib/types';
import { navigate, path, query, setQuery } from './router';

export const who = signal<WhoAmI | null>(null);
export const server = signal<ServerInfo>({});
/** Goes up when the project changes: every page then starts anew. */
export const projectTurn = signal(0);
/** The project that a link asked for and this caller may not enter. */
export const refused = signal<string | null>(null);

export function startSession(): void {
	setUnauthorised(() => {
		// Who comes through a proxy has no token to type in.
		if (location.pathname === '/login' || who.peek()?.via === 'proxy') return;
		const next = location.pathname + location.search;
		navigate(`/login?next=${encodeURIComponent(next)}`, 'replace');
	});
	const asked = projectOfUrl(location.search);
	if (asked) document.cookie = projectCookie(asked); // before the first request of the page
	void refreshSession();
	effect(() => followUrl(query.value));
	// Another tab may have gone to another project: what this one downloads and uploads belongs to its own.
	addEventListener('focus', keepCookie);
	document.addEventListener('visibilitychange', () => document.hidden || keepCookie());
}

function keepCookie(): void {
	const w = who.peek();
	if (w?.project && severalProjects()) document.cookie = projectCookie(w.project);
}

export function severalProjects(): boolean {
	return (who.value?.projects?.length ?? 0) > 1;
}

/** A link, or a step back in the history, to another project. */
function followUrl(q: string): void {
	const asked = projectOfUrl(q);
	const w = who.peek();
	if (asked && w?.project && asked !== w.project && w.projects?.includes(asked)) void enterProject(asked);
}

export async function refreshSession(): Promise<void> {
	if (location.pathname === '/login') return;
	try {
		const w = await getJson<WhoAmI>('/whoami');
		who.value = w;
		setProject((w.projects?.length ?? 0) > 1 ? (w.project ?? null) : null);
		const asked = projectOfUrl(query.peek());
		refused.value = asked && w.project && asked !== w.project ? asked : null;
		if (refused.value) keepCookie();
		server.value = await getJson<ServerInfo>('/server');
	} catch {
		// The page that needs data says what is wrong.
	}
}

async function enterProject(name: string): Promise<void> {
	document.cookie = projectCookie(name);
	setProject(name);
	if (who.peek()) who.value = { ...who.peek(), project: name };
	refused.value = null;
	projectTurn.value++;
	await refreshSession();
}

/** From the switch in the header. A page of something in the old project has nothing to show in the new one. */
export function switchProject(name: string): void {
	if (name === who.peek()?.project) return;
	if (/^\/traces\/./.test(path.peek())) navigate('/traces');
	else setQuery(withoutProject(location.search), 'replace');
	void enterProject(name);
}

/** The address of this page for somebody else. */
export function shareUrl(): string {
	const w = who.peek();
	if (!w?.project || (w.via === 'loopback' && !severalProjects())) return location.href;
	return withProject(location.href, w.project);
}

export async function signOut(): Promise<void> {
	await send('POST', '/logout');
	who.value = null;
	setProject(null);
	navigate('/login');
}

export type Scope = 'read' | 'upload' | 'admin';

/** May this caller do it? As long as that is not known: no. The server decides anyway. */
export function can(scope: Scope): boolean {
	const s = who.value?.scopes;
	return !!s && (s.includes(scope) || s.includes('admin'));
}

/** Can this user add data? Unknown counts as yes: the way in is not hidden while the page starts. */
export function canUpload(): boolean {
	return !who.value?.scopes || can('upload');
}
