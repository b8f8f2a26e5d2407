// SPDX-License-Identifier: Apache-2.0
// Every public GPU trace of the test data through the whole product: collector, server, indexer, API. What must
// come out is in the exact recount beside the files; the files that are no timelines must be refused by name.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { getJson, program, startServer, testdata, type TestServer } from '../lib/server.ts';

const root = testdata('gpu-traces');
const skip = root ? false : 'skipped, no test data';
let server: TestServer;
before(async () => { if (root) server = await startServer({ args: ['--workers', '2'] }); });
after(() => server?.stop());

interface Expected { exact: { phases: Record<string, number>; x_with_dur: number; categories: Record<string, { count: number; sum_dur_ns: number }>; kernel_top20: { name: string; count: number; sum_ns: number; min_ns: number; max_ns: number }[]; kernel_names: number; launch_to_gpu: { pairs: number; no_launch: number; ambiguous: number; gpu_ops: number; gpu_ops_with_correlation: number }; min_ts_ns: number | null; max_end_ns: number | null; rank: number | string | null; world_size: number | string | null } }

function walk(dir: string): string[] {
	return readdirSync(dir).flatMap((name) => {
		const path = join(dir, name);
		return statSync(path).isDirectory() ? walk(path) : [path];
	});
}

function push(args: string[]): Promise<{ code: number | null; out: string; err: string }> {
	return new Promise((done) => {
		const p = spawn(program('fleetscope-collector'), ['push', '--server', server.url, '--wait', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
		let out = '', err = '';
		p.stdout.on('data', (d) => (out += d));
		p.stderr.on('data', (d) => (err += d));
		p.on('close', (code) => done({ code, out, err }));
	});
}

const folders = ['hta', 'kineto', 'param', 'tracelens'];
const files = root ? folders.flatMap((f) => walk(join(root, f))).filter((p) => /\.(json|gz|raw\.gz)$/.test(p)) : [];
/** expected/ has the recount of a file; numbers beyond 2^53 must stay exact. */
const recount = (path: string): Expected | undefined => {
	const e = path.replace(root!, join(root!, 'expected')) + '.expected.json';
	return existsSync(e) ? JSON.parse(readFileSync(e, 'utf8').replace(/"(min_ts_ns|max_end_ns)": (-?\d+)/g, '"$1": "$2"')) : undefined;
};

test('the 60 timelines become ready and say what their recount says', { skip }, async () => {
	const good = files.filter(recount);
	assert.equal(good.length, 60);
	const r = await push(good);
	assert.equal(r.code, 0, r.err);
	for (const line of r.out.trim().split('\n')) {
		const [word, , path, url] = line.split(' ');
		assert.equal(word, 'ready', line);
		const id = /\/traces\/(\d+)$/.exec(url!)?.[1];
		assert.ok(id, line);
		const want = recount(path!)!.exact, got = await getJson(server, `/traces/${id}`), why = basename(path!);
		const sums = Object.fromEntries(got.categories.map((c: { name: string; count: number; sum_ns: number }) => [c.name, { count: c.count, sum_dur_ns: c.sum_ns }]));
		assert.deepEqual(sums, want.categories, why);
		assert.deepEqual(got.launch, { pairs: want.launch_to_gpu.pairs, none: want.launch_to_gpu.no_launch, ambiguous: want.launch_to_gpu.ambiguous }, why);
		if (want.rank !== null) assert.equal(got.rank, want.rank, why); // else the file name may give one
		const { kernels } = await getJson(server, `/traces/${id}/analysis?steps=all`);
		for (const k of want.kernel_top20) {
			const same = kernels.filter((x: { name: string }) => x.name === k.name);
			assert.equal(same.length, 1, `${why}: ${k.name}`);
			assert.deepEqual({ count: same[0].count, sum_ns: same[0].sum_ns, min_ns: same[0].min_ns, max_ns: same[0].max_ns }, { count: k.count, sum_ns: k.sum_ns, min_ns: k.min_ns, max_ns: k.max_ns }, `${why}: ${k.name}`);
		}
	}
});

test('the tar.gz gives its eight ranks', { skip }, async () => {
	const r = await push([join(root!, 'param/dlrm_kineto.tar.gz')]);
	assert.equal(r.code, 0, r.err);
	const bundle = await getJson(server, `/bundles/${r.out.split(' ')[1]}`);
	assert.deepEqual(bundle.traces.map((t: { rank: number }) => t.rank).sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
});

test('the nine files that are no timelines are refused by name, with a reason', { skip }, async () => {
	const bad = files.filter((f) => !recount(f) && !f.endsWith('.tar.gz'));
	assert.equal(bad.length, 9);
	for (const path of bad) {
		const r = await push([path]);
		assert.equal(r.code, 1, path);
		assert.ok(r.err.includes(basename(path)) && /: \w+: .{10,}/.test(r.err), r.err);
	}
});
