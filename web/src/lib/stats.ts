// SPDX-License-Identifier: Apache-2.0
// Small statistics of short lists. Pure.

export function median(values: number[]): number | null {
	if (values.length === 0) return null;
	const v = [...values].sort((a, b) => a - b);
	const m = Math.floor(v.length / 2);
	return v.length % 2 ? v[m] : (v[m - 1] + v[m]) / 2;
}
