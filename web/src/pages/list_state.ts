// SPDX-License-Identifier: Apache-2.0
// Filter and order of the trace list in the URL. Pure.

export const PAGE_SIZE = 100;
export type SortKey = 'started' | 'job' | 'host' | 'rank' | 'duration' | 'busy' | 'exposed' | 'slices' | 'state';
export type ListState = { q: string; state: string[]; job: string[]; host: string[]; sort: SortKey; order: 'asc' | 'desc' };

const SORTS: readonly string[] = ['started', 'job', 'host', 'rank', 'duration', 'busy', 'exposed', 'slices', 'state'];

export function listState(query: string): ListState {
	const p = new URLSearchParams(query);
	const sort = p.get('sort') ?? '';
	return {
		q: p.get('q') ?? '',
		state: p.getAll('state'),
		job: p.getAll('job'),
		host: p.getAll('host'),
		sort: (SORTS.includes(sort) ? sort : 'started') as SortKey,
		order: p.get('order') === 'asc' ? 'asc' : 'desc',
	};
}

export function withState(query: string, s: ListState): string {
	const p = new URLSearchParams(query);
	for (const k of ['q', 'state', 'job', 'host', 'sort', 'order', 'cursor']) p.delete(k);
	if (s.q) p.set('q', s.q);
	for (const g of ['state', 'job', 'host'] as const) for (const v of s[g]) p.append(g, v);
	if (s.sort !== 'started') p.set('sort', s.sort);
	if (s.order !== 'desc') p.set('order', s.order);
	const out = p.toString();
	return out ? `?${out}` : '';
}

/** Values of one filter, separated by commas; "unknown" is the empty value, which needs a comma after it. */
function join(values: readonly string[]): string {
	return values.includes('') ? values.map((v) => `${v},`).join('') : values.join(',');
}

/** What the API is asked. */
export function apiParams(s: ListState): Record<string, string> {
	return { q: s.q.trim(), state: join(s.state), job: join(s.job), host: join(s.host), sort: s.sort, order: s.order };
}

export function isFiltered(s: ListState): boolean {
	return s.q !== '' || s.state.length + s.job.length + s.host.length > 0;
}
