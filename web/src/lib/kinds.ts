// SPDX-License-Identifier: Apache-2.0
// Kinds of slices: numbers as in the slices format (never renumbered), names as in JSON, and the group whose
// colour they get.

export const KIND = {
	NONE: 0,
	OP: 1,
	RUNTIME: 2,
	PYTHON: 3,
	USER: 4,
	COMPUTE: 5,
	COMM: 6,
	MEMCPY: 7,
	MEMSET: 8,
	GPU_OTHER: 9,
	SYNC: 10,
	GPU_ANNOTATION: 11,
	OVERHEAD: 12,
	INSTANT: 13,
	OTHER: 14,
} as const;
export const KIND_COUNT = 15;

export type Group = 'compute' | 'comm' | 'copy' | 'sync' | 'uncl' | 'op' | 'rt' | 'ann';

const GROUP_OF: readonly Group[] = [
	'op', 'op', 'rt', 'op', 'op', 'compute', 'comm', 'copy', 'copy', 'uncl', 'sync', 'ann', 'rt', 'op', 'op',
];

export function groupOf(kind: number): Group {
	return GROUP_OF[kind] ?? 'op';
}

const NAMES: Record<string, number> = {
	none: 0, op: 1, cpu_op: 1, runtime: 2, python: 3, user: 4, user_annotation: 4, compute: 5, comm: 6,
	communication: 6, memcpy: 7, copy: 7, memset: 8, gpu_other: 9, unclassified: 9, sync: 10, gpu_annotation: 11, annotation: 11,
	overhead: 12, instant: 13, other: 14,
};

/** Kind of a JSON field: its name, or its number. */
export function kindNumber(k: string | number | null | undefined): number {
	if (typeof k === 'number') return k;
	return NAMES[k ?? ''] ?? KIND.OTHER;
}

const LABELS: readonly string[] = [
	'unknown', 'operator', 'runtime call', 'python', 'annotation', 'compute', 'communication', 'copy', 'set',
	'not classified', 'sync', 'GPU annotation', 'overhead', 'instant', 'other',
];

export function kindLabel(k: string | number | null | undefined): string {
	return LABELS[kindNumber(k)] ?? 'other';
}

/** What one slice of this kind is called in a sentence: "37 kernels". */
export function kindNoun(kind: number, n: number): string {
	if (kind >= KIND.COMPUTE && kind <= KIND.GPU_OTHER && kind !== KIND.MEMCPY && kind !== KIND.MEMSET) {
		return n === 1 ? 'kernel' : 'kernels';
	}
	if (kind === KIND.MEMCPY) return n === 1 ? 'copy' : 'copies';
	return n === 1 ? 'slice' : 'slices';
}

export function isGpu(kind: number): boolean {
	return kind >= KIND.COMPUTE && kind <= KIND.GPU_OTHER;
}

/** Lightness variant of a name inside its kind: 0 to 3, stable. */
export function nameVariant(name: string): number {
	let h = 2166136261;
	for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 16777619);
	return ((h >>> 13) ^ (h >>> 3)) & 3;
}
