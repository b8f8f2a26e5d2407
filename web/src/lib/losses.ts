// SPDX-License-Identifier: Apache-2.0
// What counters of losses mean, and which of them say nothing against a file. Pure.
import type { Loss } from './types';

export type LossWords = Record<string, { what: string; kept?: string }>;

/** Normal in sound files: profilers write ends without starts, and GPUs run slices that overlap. */
const REMARKS = new Set(['flow_end_without_start', 'flow_start_without_end', 'flow_outside_slice', 'flow_bound_by_correlation', 'slice_overlap_kept']);

export function isRemark(code: string): boolean {
	return REMARKS.has(code);
}

/** The counters above zero, most first: repairs and losses, and remarks. */
export function splitLosses(losses: readonly Loss[] | undefined): { repairs: Loss[]; remarks: Loss[] } {
	const list = (losses ?? []).filter((l) => l.count > 0).sort((a, b) => b.count - a.count);
	return { repairs: list.filter((l) => !isRemark(l.code)), remarks: list.filter((l) => isRemark(l.code)) };
}

/** "phase_unknown_N" has the words of "phase_unknown_X". */
export function wordsOf(words: LossWords | null, code: string): { what: string; kept?: string } | null {
	return words?.[code] ?? words?.[code.replace(/^phase_unknown_.$/, 'phase_unknown_X')] ?? null;
}
