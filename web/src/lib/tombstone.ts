// SPDX-License-Identifier: Apache-2.0
// What errors tell about things that are gone or on their way. Pure.
import { ApiError } from './api';
import type { Tombstone } from './types';

/** The detail of a 410; null: another failure. */
export function tombstoneOf(e: unknown): Tombstone | null {
	if (!(e instanceof ApiError) || e.code !== 'deleted') return null;
	const d = (e.detail ?? {}) as Partial<Tombstone>;
	return { kind: d.kind ?? 'trace', name: d.name ?? 'unknown', deleted_at: d.deleted_at ?? '', reason: d.reason ?? 'user', actor: d.actor ?? '' };
}

export function whyDeleted(t: Tombstone): string {
	switch (t.reason) {
		case 'user': return 'a person deleted it';
		case 'age': return 'it was older than the retention policy of its project allows';
		case 'bytes': return 'its project had more bytes than its retention policy allows, and it was among the oldest';
		case 'reindex': return 'its upload was indexed again and no longer gives it';
	}
}

export function reindexProgress(detail: unknown): { done: number; total: number } | null {
	const p = (detail as { progress?: { done?: unknown; total?: unknown } } | null | undefined)?.progress ?? (detail as { done?: unknown; total?: unknown } | null | undefined);
	if (typeof p?.done !== 'number' || typeof p.total !== 'number' || p.total <= 0) return null;
	return { done: Math.min(p.done, p.total), total: p.total };
}
