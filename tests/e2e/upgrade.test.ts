// SPDX-License-Identifier: Apache-2.0
// A data folder that an older version filled, and what that version answered (tests/upgrade/): this version opens it
// and answers the same. How such a folder is made: tests/upgrade/README.md.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { answersOf, assertAnswersHold, type Answers } from '../lib/answers.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { getJson, sleep, source, startServer, tempDir, upload, uploadAndWait, waitBundle, type TestServer } from '../lib/server.ts';
import { tar } from '../lib/tar.ts';

const folder = join(source, 'tests/upgrade');
const record = process.env.FSC_RECORD_UPGRADE; // "0001": the server of FSC_BUILD is that version
const versions = readdirSync(folder).map((f) => /^(\d{4})\.tar\.gz$/.exec(f)?.[1]).filter((v): v is string => v !== undefined);
// Another each time a bundle is indexed; the words of an error may have become better, its code stays.
const OF_A_RUN = ['indexed_at', 'finished_at', 'tries', 'progress', 'stage', 'message'];
const OF_THE_PROGRAM = ['version', 'auth', 'request_id', 'elapsed_ms']; // and of the moment

/** A copy of the folder, as that version left it. */
function unpack(version: string): string {
	const data = tempDir('fsc-upgrade-');
	execFileSync('tar', ['-xzf', join(folder, `${version}.tar.gz`), '-C', data]);
	return data;
}
const recorded = (version: string): Answers => JSON.parse(gunzipSync(readFileSync(join(folder, `${version}.answers.json.gz`))).toString()) as Answers;
const bundleIds = (answers: Answers): string[] => (answers['/api/v1/bundles']!.json as { items: { id: string }[] }).items.map((b) => b.id);

async function withServer(data: string, work: (s: TestServer) => Promise<void>): Promise<void> {
	const s = await startServer({ data });
	try {
		await work(s);
	} finally {
		await s.stop();
		rmSync(data, { recursive: true, force: true });
	}
}

for (const version of versions) {
	test(`a data folder of schema ${version} opens and every route answers as before`, async () => {
		await withServer(unpack(version), async (s) => {
			const was = recorded(version);
			assert.ok(Object.keys(was).length > 100 && bundleIds(was).length >= 4, 'the recording is worth something');
			assertAnswersHold(was, await answersOf(s), OF_THE_PROGRAM);
		});
	});

	test(`a data folder of schema ${version} opens a second time, and after a kill -9`, async () => {
		const data = unpack(version);
		const first = await startServer({ data });
		await first.stop('SIGKILL');
		await withServer(data, async (s) => assertAnswersHold(recorded(version), await answersOf(s), OF_THE_PROGRAM));
	});

	test(`bundles of schema ${version} are indexed again under the same ids, with the same answers`, async () => {
		await withServer(unpack(version), async (s) => {
			const was = recorded(version);
			for (const id of bundleIds(was)) {
				assert.equal((await fetch(`${s.url}/api/v1/bundles/${id}/reindex`, { method: 'POST' })).status, 202);
				await waitBundle(s, id);
			}
			assertAnswersHold(was, await answersOf(s), [...OF_THE_PROGRAM, ...OF_A_RUN]);
		});
	});

	test(`what schema ${version} did not have yet works on its rows`, async () => {
		await withServer(unpack(version), async (s) => {
			const was = recorded(version);
			const [id] = bundleIds(was);
			const o = await getJson(s, '/storage');
			assert.equal(o.bundles, bundleIds(was).length);
			assert.deepEqual(o.policy, { max_age_days: 0, blob_age_days: 0, max_bytes: 0 });
			assert.equal(o.by_age.reduce((n: number, a: { bundles: number }) => n + a.bundles, 0), o.bundles);
			const r = await fetch(`${s.url}/api/v1/bundles/${id}`, { method: 'DELETE' });
			assert.ok(r.ok);
			assert.equal((await getJson(s, '/storage')).bundles, bundleIds(was).length - 1);
		});
	});

	test(`traces of schema ${version} that an older analysis made are served, and indexed again without being asked`, async () => {
		const data = unpack(version);
		renameSync(join(data, 'outdated.db'), join(data, 'fleetscope.db'));
		await withServer(data, async (s) => {
			const was = recorded(version);
			assertAnswersHold(was, await answersOf(s), [...OF_THE_PROGRAM, ...OF_A_RUN, 'state']);
			let o = (await getJson(s, '/storage')).reindex;
			for (let i = 0; i < 300 && o.outdated > 0; i++, o = (await getJson(s, '/storage')).reindex) await sleep(100);
			assert.equal(o.outdated, 0);
			for (let i = 0; i < 100 && o.done_since_start < 2; i++, o = (await getJson(s, '/storage')).reindex) await sleep(100);
			assert.ok(o.done_since_start >= 2, JSON.stringify(o));
			assertAnswersHold(was, await answersOf(s), [...OF_THE_PROGRAM, ...OF_A_RUN]);
		});
	});
}

test('there is a folder of each schema before this one', () => {
	const migrations = readdirSync(join(source, 'migrations')).filter((f) => /^\d{4}_.*\.sql$/.test(f)).length;
	for (let n = 1; n < migrations; n++) assert.ok(versions.includes(String(n).padStart(4, '0')), `tests/upgrade has none of schema ${n}`);
});

test('records a folder', { skip: record ? false : 'only with FSC_RECORD_UPGRADE' }, async () => {
	const data = tempDir('fsc-record-');
	const s = await startServer({ data });
	const json = (name: string, o: Parameters<typeof kinetoBytes>[0]): { name: string; data: Uint8Array } => ({ name, data: kinetoBytes(o) });
	await uploadAndWait(s, 'one.json', kinetoBytes({ steps: 4, kernels: 5, rank: 0, worldSize: 2, host: 'node-a' }), { job: 'train', capture: 'c-1' });
	await uploadAndWait(s, 'ranks.tar', tar([json('r0/trace.json', { rank: 0, steps: 3, host: 'node-a' }), json('r1/trace.json', { rank: 1, steps: 3, host: 'node-b' }), { name: 'notes.txt', data: new TextEncoder().encode('not a trace') }]), { job: 'train', host: 'head' });
	await uploadAndWait(s, 'kernels.json', kinetoBytes({ steps: 6, kernels: 40 }), { job: 'serve', rank: 3 });
	await uploadAndWait(s, 'broken.json', new TextEncoder().encode('{"traceEvents": [{"ph"'));
	await upload(s, kinetoBytes({ steps: 2 }), { name: 'keyed.json' }, { 'idempotency-key': 'the key' }).then((u) => waitBundle(s, u.body.id));
	const token = await fetch(`${s.url}/api/v1/tokens`, { method: 'POST', body: JSON.stringify({ name: 'ci', scopes: ['read', 'upload'] }), headers: { 'content-type': 'application/json' } });
	assert.equal(token.status, 201);
	const answers = await answersOf(s);
	assert.equal((await s.stop()).code, 0);
	const db = join(data, 'fleetscope.db');
	execFileSync('sqlite3', [db, 'VACUUM']);
	execFileSync('cp', [db, join(data, 'outdated.db')]);
	execFileSync('sqlite3', [join(data, 'outdated.db'), "UPDATE trace SET analysis_version = 0 WHERE bundle_name IN ('one.json', 'ranks.tar')"]);
	for (const f of ['reserve', 'tmp', 'fleetscope.db.lock']) if (existsSync(join(data, f))) rmSync(join(data, f), { recursive: true });
	execFileSync('tar', ['--sort=name', '--owner=0', '--group=0', '-czf', join(folder, `${record}.tar.gz`), '-C', data, '.']);
	writeFileSync(join(folder, `${record}.answers.json.gz`), gzipSync(JSON.stringify(answers), { level: 9 }));
	rmSync(data, { recursive: true });
});
