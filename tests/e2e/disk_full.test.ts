// SPDX-License-Identifier: Apache-2.0
// A file size limit stands for a full disk: the write of an upload, of the database's log or of a segment fails.
// Each is a clear refusal or waits for room, reads go on, and when there is room again everything works.
import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { kinetoBytes } from '../lib/kineto.ts';
import { getJson, sleep, startServer, tempDir, upload, waitBundle, type TestServer } from '../lib/server.ts';

const data = tempDir('fsc-full-');
after(() => rmSync(data, { recursive: true, force: true }));

/** KiB is the largest file the server and its indexer may write. */
const limited = (kib: number): Promise<TestServer> => startServer({ data, wrap: ['sh', '-c', `ulimit -f ${kib * 2}; exec "$@"`, 'sh'] });
const entries = (dir: string): string[] => readdirSync(join(data, dir));

test('an upload that does not fit is 507, leaves nothing and harms nothing', async () => {
	const s = await limited(1024);
	const small = await upload(s, kinetoBytes({ steps: 2 }), { name: 'small.json' });
	assert.equal(small.status, 202);
	assert.equal((await waitBundle(s, small.body.id)).state, 'ready');
	const big = kinetoBytes({ steps: 900, kernels: 24 });
	assert.ok(big.length > 2 << 20);
	const u = await upload(s, big, { name: 'big.json' });
	assert.equal(u.status, 507, JSON.stringify(u.body));
	assert.equal(u.body.error!.code, 'disk_full');
	// the answer may come before the rest of the body was drained and the upload given up
	for (let i = 0; i < 250 && entries('tmp').length > 0; i++) await sleep(20);
	assert.deepEqual(entries('tmp'), []);
	assert.equal((await getJson(s, '/traces')).items.length, 1);
	assert.equal((await fetch(`${s.url}/readyz`)).status, 200);
	assert.equal((await s.stop()).code, 0, s.log());
});

test('when the database cannot grow, uploads are 507, reads go on, and with room all is well', { timeout: 120000 }, async () => {
	const s = await limited(400);
	const kept: string[] = [];
	let refused = 0;
	for (let i = 0; i < 400 && refused < 3; i++) {
		const u = await upload(s, kinetoBytes({ steps: 1, baseNs: `${1800000000000000000n + BigInt(i)}` }), { name: `${i}`, job: 'x'.repeat(200) });
		assert.ok(u.status === 202 || u.status === 507, `${u.status} ${JSON.stringify(u.body)}`);
		if (u.status === 202) kept.push(u.body.id);
		else refused++;
		assert.equal((await fetch(`${s.url}/api/v1/traces`)).status, 200);
	}
	assert.equal(refused, 3, 'the limit was never met: this tests nothing');
	await s.stop('SIGKILL'); // it need not even stop in good order
	const free = await startServer({ data });
	for (const id of kept) assert.equal((await waitBundle(free, id)).state, 'ready');
	const gone = await fetch(`${free.url}/api/v1/bundles/${kept[0]}`, { method: 'DELETE' });
	assert.ok(gone.ok, `${gone.status}`);
	assert.equal((await upload(free, kinetoBytes({ steps: 4 }), { name: 'after' })).status, 202);
	await free.stop();
});

test('indexing again on a full disk keeps the traces there are, and is done when there is room', { timeout: 120000 }, async () => {
	const free = await startServer({ data });
	const u = await upload(free, kinetoBytes({ steps: 3000, kernels: 24 }), { name: 'again.json' });
	const before = await waitBundle(free, u.body.id);
	assert.equal(before.state, 'ready');
	const trace = before.traces[0]!.id;
	await free.stop();
	const biggest = Math.max(...entries('seg/v1').map((e) => statSync(join(data, 'seg/v1', e)).size));
	assert.ok(biggest > 1200 << 10, `${biggest}`);
	const s = await limited(1000);
	assert.equal((await fetch(`${s.url}/api/v1/bundles/${u.body.id}/reindex`, { method: 'POST' })).status, 202);
	for (let i = 0; i < 500 && !s.log().includes('msg=postponed'); i++) await sleep(20);
	assert.match(s.log(), /msg=postponed .*code=disk_full/);
	assert.equal((await fetch(`${s.url}/api/v1/traces/${trace}/minimap`)).status, 200);
	assert.notEqual((await getJson(s, `/bundles/${u.body.id}`)).state, 'failed');
	const counted = async (): Promise<boolean> => /outcome="postponed"} [1-9]/.test(await (await fetch(`${s.url}/metrics`)).text());
	for (let i = 0; i < 250 && !(await counted()); i++) await sleep(20);
	assert.ok(await counted(), 'no run is counted as postponed');
	await s.stop();
	const again = await startServer({ data });
	const after = await waitBundle(again, u.body.id);
	assert.equal(after.state, 'ready');
	assert.deepEqual(after.traces.map((t: { id: string }) => t.id), [trace]);
	await again.stop();
});
