// SPDX-License-Identifier: Apache-2.0
// Order and grouping of kernel rows, and where a row leads. Pure.
import { kindLabel } from '../lib/kinds';
import type { Kernel } from '../lib/types';

export type Key = 'name' | 'kind' | 'count' | 'sum_ns' | 'share' | 'mean_ns' | 'min_ns' | 'max_ns';

export function kernelHref(traceId: string, k: Kernel): string {
	const p = new URLSearchParams({ q: k.name });
	if (k.first) {
		const len = Math.max(k.mean_ns, 1000);
		p.set('t0', String(Math.max(0, Math.round(k.first.ts - len * 12))));
		p.set('t1', String(Math.round(k.first.ts + len * 12)));
		p.set('sel', `${k.first.track}.${k.first.ts}.${k.name}`);
	}
	return `/traces/${encodeURIComponent(traceId)}?${p.toString()}`;
}

export function sortKernels(list: readonly Kernel[], key: Key, up: boolean): Kernel[] {
	const dir = up ? 1 : -1;
	const k = key === 'share' ? 'sum_ns' : key;
	return [...list].sort((a, b) => {
		const x = a[k];
		const y = b[k];
		const c = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y));
		return c * dir || b.sum_ns - a.sum_ns || (a.name < b.name ? -1 : 1);
	});
}

/** One row per kind, from the rows of the kernels. */
export function byKind(list: readonly Kernel[]): Kernel[] {
	const out = new Map<string, Kernel>();
	for (const k of list) {
		const name = kindLabel(k.kind);
		const o = out.get(name);
		if (!o) out.set(name, { ...k, name, first: null });
		else {
			o.count += k.count;
			o.sum_ns += k.sum_ns;
			o.min_ns = Math.min(o.min_ns, k.min_ns);
			o.max_ns = Math.max(o.max_ns, k.max_ns);
		}
	}
	return [...out.values()].map((k) => ({ ...k, mean_ns: k.count ? k.sum_ns / k.count : 0 }));
}
