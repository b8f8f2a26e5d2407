// SPDX-License-Identifier: Apache-2.0
// Which project a page is of: the parameter `project` of links that are passed on, and the cookie that downloads and
// uploads carry. Pure.

export const PROJECT_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;
export const PROJECT_COOKIE = 'fleetscope_project';

/** The project that a link asks for; null: it asks for none. */
export function projectOfUrl(query: string): string | null {
	const p = new URLSearchParams(query).get('project');
	return p !== null && PROJECT_NAME.test(p) ? p : null;
}

export function withoutProject(query: string): string {
	const p = new URLSearchParams(query);
	p.delete('project');
	const out = p.toString();
	return out ? `?${out}` : '';
}

/** `href` for somebody who may be in another project. */
export function withProject(href: string, project: string): string {
	const u = new URL(href);
	u.searchParams.set('project', project);
	return u.href;
}

/** What document.cookie is set to. */
export function projectCookie(project: string): string {
	return `${PROJECT_COOKIE}=${project}; path=/; max-age=31536000; SameSite=Lax`;
}
