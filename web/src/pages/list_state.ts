// SPDX-License-Identifier: Apache-2.0
// Filter and order of the trace list in the URL. Pure.

export const PAGE_SIZE = 100;
export type SortKey = 'started' | 'job' | 'host' | 'rank' | 'duration' | 'busy' | 'exposed' | 'slices' | 'state';
export type ListState = {
	q: string;
	state: string[];
	job: string[];
	host: string[];
	capture: string;
	/** Only kept traces. */
	keep: boolean;
	sort: SortKey;
	order: 'asc' | 'desc';
	/** Keys of the ticked rows. */
	tick: string[];
};

const SORTS: readonly string[] = ['started', 'job', 'host', 'rank', 'duration', 'busy', 'exposed', 'slices', 'state'];

export function listState(query: string): ListState {
	const p = new URLSearchParams(query);
	const sort = p.get('sort') ?? '';
	return {
		q: p.get('q') ?? '',
		state: p.getAll('state'),
		job: p.getAll('job'),
		host: p.getAll('host'),
		capture: p.get('capture') ?? '',
		keep: p.get('keep') === '1',
		sort: (SORTS.includes(sort) ? sort : 'started') as SortKey,
		order: p.get('order') === 'asc' ? 'asc' : 'desc',
		tick: (p.get('tick') ?? '').split(',').filter((s) => /^b?\d{1,19}$/.test(s)),
	};
}

export function withState(query: string, s: ListState): string {
	const p = new URLSearchParams(query);
	for (const k of ['q', 'state', 'job', 'host', 'sort', 'capture', 'keep', 'order', 'cursor', 'tick']) p.delete(k);
	if (s.q) p.set('q', s.q);
	for (const g of ['state', 'job', 'host'] as const) for (const v of s[g]) p.append(g, v);
	if (s.capture) p.set('capture', s.capture);
	if (s.keep) p.set('keep', '1');
	if (s.sort !== 'started') p.set('sort', s.sort);
	if (s.order !== 'desc') p.set('order', s.order);
	if (s.tick.length > 0) p.set('tick', s.tick.join(','));
	const out = p.toString();
	return out ? `?${out}` : '';
}

/** Values of one filter, separated by commas; "unknown" is the empty value, which needs a comma after it. */
function join(values: readonly string[]): string {
	return values.includes('') ? values.map((v) => `${v},`).join('') : values.join(',');
}

/** A row is a trace, or an upload that gave none. */
export function rowKey(r: { id: string | null; bundle: string }): string {
	return r.id ?? `b${r.bundle}`;
}

/** What the API is asked. */
export function apiParams(s: ListState): Record<string, string> {
	const out: Record<string, string> = { q: s.q.trim(), state: join(s.state), job: join(s.job), host: join(s.host), sort: s.sort, order: s.order };
	if (s.capture) out.capture = s.capture;
	if (s.keep) out.keep = '1';
	return out;
}

export function isFiltered(s: ListState): boolean {
	return s.q !== '' || s.keep || s.capture !== '' || s.state.length + s.job.length + s.host.length > 0;
}
