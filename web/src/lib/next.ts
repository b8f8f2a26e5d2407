// SPDX-License-Identifier: Apache-2.0
// Where the login page may lead to: only a path of this site, never another address.

export function safeNext(next: string | null): string {
	return next && /^\/(?![/\\])/.test(next) && !next.startsWith('/login') ? next : '/traces';
}
