// SPDX-License-Identifier: Apache-2.0
// The form of a new token, and whether a token still opens anything. Pure.
import type { Token } from './types';

export const TOKEN_SCOPES = ['read', 'upload', 'capture', 'admin'] as const;
export type TokenForm = { name: string; scopes: string[]; days: string };
const MAX_DAYS = 3650;

export type CreateBody = { name: string; scopes: string[]; expires_in_days?: number };

export function createBody(f: TokenForm): { body: CreateBody | null; errors: Partial<Record<keyof TokenForm, string>> } {
	const errors: Partial<Record<keyof TokenForm, string>> = {};
	const name = f.name.trim();
	if (!name) errors.name = 'A name is needed: it stands in the list and in the audit.';
	const scopes = TOKEN_SCOPES.filter((s) => f.scopes.includes(s));
	if (scopes.length === 0) errors.scopes = 'At least one scope is needed.';
	const days = f.days.trim();
	const n = Number(days);
	if (days !== '' && (!/^\d{1,4}$/.test(days) || n < 1 || n > MAX_DAYS)) errors.days = `A whole number from 1 to ${MAX_DAYS}, or nothing.`;
	if (Object.keys(errors).length > 0) return { body: null, errors };
	return { body: { name, scopes, expires_in_days: days === '' ? undefined : n }, errors };
}

export function tokenState(t: Token, nowMs: number): 'valid' | 'expired' | 'revoked' {
	if (t.revoked_at) return 'revoked';
	return t.expires_at && Date.parse(t.expires_at) <= nowMs ? 'expired' : 'valid';
}
