// SPDX-License-Identifier: Apache-2.0
// Deletes of several things at once: one call each, summed up as one answer.
import { ApiError, send } from './api';
import type { Deletion } from './types';

export type Target = { bundle: string } | { trace: string } | { job: string } | { capture: string };
export type Kept = 'skip' | 'delete';
const AT_ONCE = 4;

export function noDeletion(dry: boolean): Deletion {
	return { dry_run: dry, bundles: 0, traces: 0, kept_skipped: 0, blob_bytes: 0, segment_bytes: 0, items: [], truncated: false };
}

export function addDeletion(a: Deletion, b: Deletion): Deletion {
	return {
		dry_run: a.dry_run,
		bundles: a.bundles + b.bundles,
		traces: a.traces + b.traces,
		kept_skipped: a.kept_skipped + b.kept_skipped,
		blob_bytes: a.blob_bytes + b.blob_bytes,
		segment_bytes: a.segment_bytes + b.segment_bytes,
		items: [...a.items, ...b.items],
		truncated: !!a.truncated || !!b.truncated,
	};
}

/** What somebody else deleted meanwhile is gone as wished. The first other failure is thrown once all have answered. */
export async function deleteAll(targets: readonly Target[], dry: boolean, kept: Kept): Promise<Deletion> {
	let sum = noDeletion(dry);
	let failure: Error | null = null;
	const todo = [...targets];
	const work = async (): Promise<void> => {
		for (let t = todo.shift(); t; t = todo.shift()) {
			try {
				const d = await send<Deletion>('POST', '/deletions', { ...t, dry_run: dry, kept });
				if (d) sum = addDeletion(sum, d);
			} catch (e) {
				const code = e instanceof ApiError ? e : null;
				if (code?.code === 'kept') sum = addDeletion(sum, { ...noDeletion(dry), kept_skipped: 1 }); // named itself: refused
				else if (code?.status !== 404 && code?.status !== 410) failure ??= e as Error;
			}
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, work));
	if (failure) throw failure;
	return sum;
}
