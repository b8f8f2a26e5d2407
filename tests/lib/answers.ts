// SPDX-License-Identifier: Apache-2.0
// What a server answers on every GET route that tells of its data, to be compared with what another answers.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { TestServer } from './server.ts';

export interface Kept { status: number; type: string; json?: unknown; sha256?: string }
export type Answers = Record<string, Kept>;

async function ask(s: TestServer, path: string): Promise<Kept> {
	const r = await fetch(s.url + path);
	const bytes = new Uint8Array(await r.arrayBuffer());
	const type = (r.headers.get('content-type') ?? '').split(';')[0]!;
	if (type === 'application/json' && !path.includes('/export/')) return { status: r.status, type, json: JSON.parse(new TextDecoder().decode(bytes)) };
	return { status: r.status, type, sha256: createHash('sha256').update(bytes).digest('hex') };
}

interface Track { id: number; slices: number; samples?: number }
async function pathsOfTrace(s: TestServer, id: string): Promise<string[]> {
	const base = `/api/v1/traces/${id}`;
	const { json } = await ask(s, `${base}/tracks`);
	const tracks = (json as { tracks: Track[] }).tracks;
	const slices = tracks.filter((t) => t.slices > 0).map((t) => t.id), counters = tracks.filter((t) => (t.samples ?? 0) > 0).map((t) => t.id);
	const paths = ['', '/tracks', '/flows', '/aggregate', '/aggregate?by=kind', '/search?q=gemm', '/minimap?n=64', '/analysis', '/analysis?steps=2-3', '/kernels', '/kernels?sort=mean&order=asc&limit=2', '/steps',
		'/export/perfetto', '/export/chrome', '/export/csv'].map((p) => base + p);
	for (const t of slices) paths.push(`${base}/slices?px=500&tracks=${t}`, `${base}/slices?t0=1000000&t1=1200000&px=2000&tracks=${t}`);
	if (slices.length) paths.push(`${base}/slices?px=300&tracks=${slices.join(',')}`);
	if (counters.length) paths.push(`${base}/counters?px=100&tracks=${counters.join(',')}`);
	for (const n of [0, 1, 2, 5]) paths.push(`${base}/slices/${n}`);
	return paths;
}

/** Of every bundle and trace, and the lists. */
export async function answersOf(s: TestServer): Promise<Answers> {
	const list = async (what: string): Promise<{ id: string | null }[]> => ((await ask(s, `/api/v1/${what}?limit=500`)).json as { items: { id: string | null }[] }).items;
	const paths = ['/healthz', '/readyz', '/api/v1/server', '/api/v1/whoami', '/api/v1/tokens', '/api/v1/bundles', '/api/v1/bundles?state=failed', '/api/v1/traces', '/api/v1/traces?q=gemm_1&sort=name&order=asc',
		'/api/v1/traces?job=train', '/api/v1/traces?state=failed', '/api/v1/traces?sort=busy&limit=2'];
	for (const b of await list('bundles')) paths.push(`/api/v1/bundles/${b.id}`);
	for (const t of await list('traces')) if (t.id !== null) paths.push(...(await pathsOfTrace(s, t.id)));
	const out: Answers = {};
	for (const p of paths) out[p] = await ask(s, p);
	return out;
}

/** Everything that was there is there and the same; members that were added do not matter. */
function holds(was: unknown, now: unknown, where: string, passOver: Set<string>): void {
	if (Array.isArray(was)) {
		assert.ok(Array.isArray(now), `${where}: no list any more`);
		assert.equal(now.length, was.length, `${where}: number of items`);
		was.forEach((w, i) => holds(w, (now as unknown[])[i], `${where}[${i}]`, passOver));
	} else if (was !== null && typeof was === 'object') {
		assert.ok(now !== null && typeof now === 'object', `${where}: no object any more`);
		for (const [k, v] of Object.entries(was)) {
			assert.ok(k in (now as object), `${where}.${k} is missing`);
			if (!passOver.has(k)) holds(v, (now as Record<string, unknown>)[k], `${where}.${k}`, passOver);
		}
	} else assert.equal(now, was, where);
}

export function assertAnswersHold(was: Answers, now: Answers, passOver: string[] = []): void {
	for (const [path, w] of Object.entries(was)) {
		const n = now[path];
		assert.ok(n, `${path} was not asked`);
		assert.equal(n.status, w.status, `${path}: status`);
		assert.equal(n.type, w.type, `${path}: media type`);
		assert.equal(n.sha256, w.sha256, `${path}: bytes`);
		holds(w.json, n.json, path, new Set(passOver));
	}
}
