// SPDX-License-Identifier: Apache-2.0
// What a slice is connected with: its launch, what it launches, its flows; and the step along them.
import type { Details, SliceRef } from '../lib/types';

export type Link = { how: string; dir: 'prev' | 'next'; to: SliceRef };

/** Launches first: a flow to the same slice says the same once more. */
export function linksOf(d: Details): Link[] {
	const out: Link[] = [];
	if (d.launched_by) out.push({ how: 'launched by', dir: 'prev', to: d.launched_by });
	for (const k of d.launches ?? []) out.push({ how: 'launches', dir: 'next', to: k });
	const known = new Set(out.map((l) => l.to.id));
	for (const f of d.flows ?? []) {
		if (known.has(f.id)) continue;
		out.push(f.dir === 'in' ? { how: `from, ${f.cat ?? 'flow'}`, dir: 'prev', to: f } : { how: `to, ${f.cat ?? 'flow'}`, dir: 'next', to: f });
	}
	return out;
}

/** Where a flow goes on from here: the first of several. */
export function follow(d: Details | null, dir: 'prev' | 'next'): SliceRef | null {
	return (d && linksOf(d).find((l) => l.dir === dir)?.to) ?? null;
}
