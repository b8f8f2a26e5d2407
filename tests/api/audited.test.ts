// SPDX-License-Identifier: Apache-2.0
// Every administrative act leaves an audit row: each route that changes something, read from server/api/routes.def, is done once
// and looked for in the list, or stands below with the reason why it leaves none.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { call, type Answer, type CallOptions } from '../lib/contract.ts';
import { kinetoBytes } from '../lib/kineto.ts';
import { source, startServer, uploadAndWait, type TestServer } from '../lib/server.ts';

const table = readFileSync(join(source, 'server/api/routes.def'), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
const changing = [...table.matchAll(/FSC_ROUTE\(\s*(\w+)\s*,\s*"([^"]+)"/g)].filter((m) => !['GET', 'HEAD'].includes(m[1]!)).map((m) => `${m[1]} ${m[2]}`);

const without: Record<string, string> = {
	'POST /api/v1/logout': 'takes only the own cookie away',
	'POST /api/v1/bundles': 'bringing data is daily work; the bundle itself is listed',
	'POST /api/v1/uploads': 'as POST /bundles',
	'PATCH /api/v1/uploads/{id}': 'as POST /bundles',
	'DELETE /api/v1/uploads/{id}': 'gives up an upload that never became a bundle',
};

let s: TestServer, steps = 2;
before(async () => { s = await startServer(); });
after(() => s.stop());

const done = async (want: number, method: string, path: string, o: CallOptions = {}): Promise<Answer> => {
	const r = await call(s, method, path, o);
	assert.equal(r.status, want, `${method} ${path}: ${JSON.stringify(r.json)}`);
	return r;
};
const token = async () => (await done(201, 'POST', '/api/v1/tokens', { body: { name: 'ci', scopes: ['read'] } })).json;
const bundle = async (job = 'j') => uploadAndWait(s, 'b.json', kinetoBytes({ steps: steps++ }), { job });

/** Does the act; gives the action of its row and what the row is about. */
const acts: Record<string, () => Promise<[action: string, subject: string]>> = {
	'POST /api/v1/login': async () => {
		await done(204, 'POST', '/api/v1/login', { body: { token: (await token()).secret } });
		return ['login', ''];
	},
	'POST /api/v1/projects': async () => {
		await done(201, 'POST', '/api/v1/projects', { body: { name: 'made' } });
		return ['project.create', 'made'];
	},
	'POST /api/v1/tokens': async () => ['token.create', (await token()).id],
	'DELETE /api/v1/tokens/{id}': async () => {
		const t = await token();
		await done(204, 'DELETE', `/api/v1/tokens/${t.id}`);
		return ['token.revoke', t.id];
	},
	'DELETE /api/v1/bundles/{id}': async () => {
		const { id } = await bundle();
		await done(200, 'DELETE', `/api/v1/bundles/${id}`);
		return ['bundle.delete', id];
	},
	'POST /api/v1/bundles/{id}/reindex': async () => {
		const { id } = await bundle();
		await done(202, 'POST', `/api/v1/bundles/${id}/reindex`, {});
		return ['bundle.reindex', id];
	},
	'POST /api/v1/deletions': async () => {
		await bundle('old job');
		await done(200, 'POST', '/api/v1/deletions', { body: { job: 'old job' } });
		return ['job.delete', 'old job'];
	},
	'PUT /api/v1/retention': async () => {
		await done(200, 'PUT', '/api/v1/retention', { body: { max_age_days: 400 } });
		return ['retention.set', ''];
	},
	'POST /api/v1/retention/run': async () => {
		await done(200, 'POST', '/api/v1/retention/run');
		return ['retention.run', ''];
	},
	'POST /api/v1/retention/confirm-clock': async () => {
		await done(200, 'POST', '/api/v1/retention/confirm-clock');
		return ['retention.confirm_clock', ''];
	},
	'PATCH /api/v1/traces/{id}': async () => {
		const { id } = (await bundle()).traces[0]!;
		await done(200, 'PATCH', `/api/v1/traces/${id}`, { body: { keep: true } });
		return ['trace.keep', id];
	},
	'DELETE /api/v1/traces/{id}': async () => {
		const { id } = (await bundle()).traces[0]!;
		await done(200, 'DELETE', `/api/v1/traces/${id}`);
		return ['trace.delete', id];
	},
};

test('each route that changes something has an act here, or a reason to leave no row', () => {
	assert.ok(changing.length > 10);
	assert.deepEqual(changing.sort(), [...Object.keys(acts), ...Object.keys(without)].sort());
});

test('each act leaves a row with actor, subject and address', async (t) => {
	for (const [route, act] of Object.entries(acts)) await t.test(route, async () => {
		const [action, subject] = await act();
		const rows = (await done(200, 'GET', `/api/v1/audit?action=${action}`)).json.items;
		const row = rows.find((x: { subject: string }) => x.subject === subject);
		assert.ok(row, `${action} ${subject}: ${JSON.stringify((await done(200, 'GET', '/api/v1/audit')).json.items.slice(0, 3))}`);
		assert.equal(row.remote, '127.0.0.1');
		assert.match(row.actor, /^(loopback|token:\d+)$/);
	});
});

test('a dry run and a refused act leave none', async () => {
	const before = (await done(200, 'GET', '/api/v1/audit')).json.total;
	const { id } = await bundle();
	await done(200, 'DELETE', `/api/v1/bundles/${id}?dry_run=1`);
	await done(200, 'POST', '/api/v1/deletions', { body: { bundle: id, dry_run: true } });
	await done(404, 'DELETE', '/api/v1/bundles/12345');
	await done(404, 'DELETE', '/api/v1/tokens/12345');
	await done(400, 'POST', '/api/v1/projects', { body: { name: 'Not One' } });
	assert.equal((await done(200, 'GET', '/api/v1/audit')).json.total, before);
});
