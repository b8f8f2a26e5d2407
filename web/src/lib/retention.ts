// SPDX-License-Identifier: Apache-2.0
// The retention policy as a form: what people type, what the API gets, and what is wrong with it. Pure.
import { fixed } from './format';
import type { Policy } from './types';

export const SIZE_UNITS = [['MiB', 2 ** 20], ['GiB', 2 ** 30], ['TiB', 2 ** 40]] as const;
export type SizeUnit = (typeof SIZE_UNITS)[number][0];
export type PolicyForm = { age: string; blobAge: string; size: string; unit: SizeUnit };
export type Field = 'age' | 'blobAge' | 'size';
export const MAX_DAYS = 36_500;

/** A whole number of the largest unit that has one, else with decimals that give the same bytes back. */
export function formOf(p: Policy): PolicyForm {
	const days = (n: number) => (n > 0 ? String(n) : '');
	let unit: SizeUnit = 'GiB';
	let size = '';
	if (p.max_bytes > 0) {
		unit = p.max_bytes >= 2 ** 30 ? 'GiB' : 'MiB';
		for (const [u, n] of SIZE_UNITS) if (p.max_bytes % n === 0) unit = u;
		size = String(Number((p.max_bytes / unitBytes(unit)).toFixed(9)));
	}
	return { age: days(p.max_age_days), blobAge: days(p.blob_age_days), size, unit };
}

function unitBytes(u: SizeUnit): number {
	return SIZE_UNITS.find(([name]) => name === u)![1];
}

function days(text: string): number | string {
	const t = text.trim();
	if (t === '') return 0;
	if (!/^\d{1,9}$/.test(t)) return 'A whole number of days, or nothing for no limit.';
	const n = Number(t);
	if (n < 1 || n > MAX_DAYS) return `From 1 to ${fixed(MAX_DAYS, 0)} days, or nothing for no limit.`;
	return n;
}

function size(text: string, unit: SizeUnit): number | string {
	const t = text.trim().replace(/,/g, '');
	if (t === '') return 0;
	if (!/^\d{1,12}(\.\d{1,9})?$/.test(t)) return 'A number, or nothing for no limit.';
	const n = Math.round(Number(t) * unitBytes(unit));
	if (n < 2 ** 20 || !Number.isSafeInteger(n)) return 'At least 1 MiB, or nothing for no limit.';
	return n;
}

export type Parsed = { policy: Policy | null; errors: Partial<Record<Field, string>>; hint: string };

export function parseForm(f: PolicyForm): Parsed {
	const errors: Parsed['errors'] = {};
	const take = (k: Field, v: number | string): number => {
		if (typeof v === 'number') return v;
		errors[k] = v;
		return 0;
	};
	const policy = { max_age_days: take('age', days(f.age)), blob_age_days: take('blobAge', days(f.blobAge)), max_bytes: take('size', size(f.size, f.unit)) };
	const { max_age_days: age, blob_age_days: blob } = policy;
	const hint = age > 0 && blob >= age ? 'The files never go alone: by then the whole upload is deleted.' : '';
	return { policy: Object.keys(errors).length ? null : policy, errors, hint };
}

export function samePolicy(a: Policy, b: Policy): boolean {
	return a.max_age_days === b.max_age_days && a.blob_age_days === b.blob_age_days && a.max_bytes === b.max_bytes;
}
