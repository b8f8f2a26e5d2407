// SPDX-License-Identifier: Apache-2.0
// The pages of those who run an installation: storage and retention, keep and delete, tokens, audit, projects.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { getJson, sleep, startServer, tempDir, uploadAndWait, type TestServer } from '../lib/server.ts';
import { assertClean, axe, launch, newContext, newPage, noBrowser, settled, until, type Scheme } from './browser.ts';
import { sampleGz } from './sample.ts';

let s: TestServer;
let b: Browser;
let c: BrowserContext;
let page: Page;
let faults: string[];
const traces: string[] = [];
const bundles: string[] = [];
const opts = { skip: noBrowser };
const JSON_TYPE = { 'content-type': 'application/json' };

/** The sample under another hash, so that each upload is one of its own. */
const variant = (i: number): Buffer => gzipSync(gunzipSync(sampleGz().bytes).toString().replace('NVIDIA A100', `GPU${i} A100`));
const api = async <T = any>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> => {
	const r = await fetch(`${s.url}/api/v1${path}`, { method, body: body === undefined ? undefined : JSON.stringify(body), headers: { ...JSON_TYPE, ...headers } });
	const text = await r.text();
	if (!r.ok) throw new Error(`${method} ${path}: HTTP ${r.status} ${text}`);
	return (text ? JSON.parse(text) : null) as T;
};

before(async () => {
	if (noBrowser) return;
	s = await startServer();
	for (let i = 0; i < 5; i++) {
		const up = await uploadAndWait(s, `rank_${i}.json.gz`, variant(i), { job: i < 4 ? 'gpt-1b3-pretrain' : 'old-job', host: `gpu-a0${i}` });
		bundles.push(up.id);
		traces.push(up.traces[0]!.id);
	}
	await uploadAndWait(s, 'broken.json', Buffer.from('{"traceEvents":[{]}'), { job: 'gpt-1b3-pretrain' });
	b = await launch();
	c = await newContext(b);
	({ page, faults } = await newPage(c));
});
after(async () => {
	await b?.close();
	await s?.stop();
});

/** Failed requests that a test provokes are no faults. */
const forgive = (status: RegExp): void => void faults.splice(0, faults.length, ...faults.filter((f) => !status.test(f)));
const dialog = () => page.locator('dialog[open]');
const row = (text: string) => page.locator('table.list tbody tr', { hasText: text });
const list = async (query = ''): Promise<void> => {
	await page.goto(`${s.url}/traces${query}`);
	await page.locator('table.list tbody tr').first().waitFor();
};

/** The same checks of every page in both schemes and at the narrowest width: axe, console, nothing wider than the page. */
async function inspect(path: string, ready: (p: Page) => Promise<unknown>, headers?: Record<string, string>): Promise<void> {
	for (const scheme of ['light', 'dark'] as Scheme[]) {
		const own = await newContext(b, scheme);
		if (headers) await own.setExtraHTTPHeaders(headers);
		const { page: p, faults: f } = await newPage(own);
		await p.goto(s.url + path);
		await ready(p);
		await p.waitForTimeout(150);
		await axe(p, `${path}, ${scheme}`);
		await p.setViewportSize({ width: 1024, height: 768 });
		const [wide, room] = await p.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
		assert.ok(wide! <= room!, `${path} is ${wide} px wide at ${room} px`);
		assertClean(f);
		await own.close();
	}
}

test('the storage page, the token page and the audit page are accessible and clean', opts, async () => {
	await inspect('/storage', (p) => p.locator('.policy form').waitFor());
	await inspect('/tokens', (p) => p.getByRole('heading', { name: 'No tokens yet' }).waitFor());
	await inspect('/audit', (p) => p.locator('.table-box, .empty').first().waitFor());
	await inspect('/traces', (p) => p.locator('.storage-cell .figure').waitFor());
});

test('the storage cell of the list leads to figures that agree with the API', opts, async () => {
	await list();
	await page.locator('.storage-cell').click();
	await page.locator('.policy form').waitFor();
	assert.match(page.url(), /\/storage$/);
	const st = await getJson(s, '/storage');
	const cells = await page.locator('.summary > div').allInnerTexts();
	assert.match(cells[0]!, new RegExp(`Uploads\\n${st.bundles}`));
	assert.match(cells[1]!, new RegExp(`Traces\\n${st.traces}`));
	const jobs = await page.locator('.by-job tbody tr').allInnerTexts();
	assert.equal(jobs.length, st.by_job.length);
	assert.ok(jobs.some((j) => /gpt-1b3-pretrain/.test(j)) && jobs.some((j) => /old-job/.test(j)));
	const sum = await page.locator('.by-job tfoot td').first().innerText();
	assert.equal(Number(sum), st.by_job.reduce((a: number, j: { bundles: number }) => a + j.bundles, 0));
	await page.locator('.by-job').getByRole('link', { name: 'old-job' }).click();
	await until(page, 'the job in the list', () => location.search === '?job=old-job' && document.querySelectorAll('table.list tbody tr').length === 1);
});

test('keep is set for ticked rows, shows in the list and on the page, and filters', opts, async () => {
	await list();
	await row('gpu-a01').getByRole('checkbox').check();
	await row('gpu-a02').getByRole('checkbox').check();
	await page.getByText('2 selected').waitFor();
	assert.match(page.url(), /tick=/);
	await page.reload();
	await page.getByText('2 selected').waitFor();
	await page.getByRole('button', { name: 'Keep', exact: true }).click();
	await until(page, 'two marks', () => document.querySelectorAll('table.list .badge.kept').length === 2);
	await page.getByLabel('Kept traces only').check();
	await until(page, 'only kept', () => document.querySelectorAll('table.list tbody tr').length === 2);
	assert.match(page.url(), /keep=1/);
	await page.goto(`${s.url}/traces/${traces[1]}?test`);
	await settled(page);
	await page.locator('.page-head .badge.kept').waitFor();
	await page.getByRole('button', { name: 'More about this trace' }).click();
	await axe(page, 'the menu of a trace');
	await page.getByRole('button', { name: /^Do not keep/ }).click();
	await until(page, 'no mark', () => !document.querySelector('.page-head .badge.kept'));
	assert.equal((await getJson(s, `/traces/${traces[1]}`)).keep, false);
	assert.equal((await getJson(s, `/traces/${traces[2]}`)).keep, true);
});

test('a delete says what goes before it goes, passes kept traces over, and leaves a tombstone', opts, async () => {
	await list();
	await row('gpu-a02').getByRole('checkbox').check();
	await row('gpu-a03').getByRole('checkbox').check();
	await page.getByRole('button', { name: 'Delete', exact: true }).click();
	await dialog().getByText(/Goes for good:/).waitFor();
	assert.match(await dialog().innerText(), /1 trace[\s\S]*1 kept trace is passed over/);
	await axe(page, 'the delete dialog');
	assert.equal((await getJson(s, '/traces')).total, 6, 'nothing went yet');
	await dialog().getByRole('button', { name: 'Delete 1 trace' }).click();
	await until(page, 'the row goes', () => document.querySelectorAll('table.list tbody tr').length === 5);
	assert.equal(await row('gpu-a02').count(), 1, 'the kept one stays');
	await page.goto(`${s.url}/traces/${traces[3]}`);
	await page.getByRole('heading', { name: 'This trace was deleted' }).waitFor();
	const text = await page.locator('.tombstone').innerText();
	for (const part of [/rank_3/, /20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC/, /a person deleted it/, /loopback/]) assert.match(text, part);
	await axe(page, 'a tombstone');
	forgive(/ (409|410) /);
	assertClean(faults);
	await page.getByRole('link', { name: 'Audit' }).last().click();
	await page.locator('table.audit tbody tr').first().waitFor();
	assert.match(await page.locator('table.audit tbody').innerText(), /trace\.delete/);
});

test('a kept trace goes when that is asked for, a whole job too', opts, async () => {
	await page.goto(`${s.url}/traces/${traces[2]}?test`);
	await settled(page);
	await page.getByRole('button', { name: 'More about this trace' }).click();
	await page.getByRole('button', { name: /^Delete the upload/ }).click();
	await dialog().getByText('1 kept trace is passed over.').waitFor();
	assert.ok(await dialog().getByRole('button', { name: /^Delete/ }).isDisabled());
	await page.route('**/api/v1/deletions', (r) => sleep(700).then(() => r.continue()));
	await dialog().getByLabel('Delete the kept traces too').check();
	await dialog().getByRole('button', { name: 'Delete 1 trace' }).waitFor();
	await dialog().getByLabel('Delete the kept traces too').uncheck();
	assert.ok(await dialog().getByRole('button', { name: /^Delete/ }).isDisabled(), 'not with the figures of the other answer');
	await page.unroute('**/api/v1/deletions');
	await dialog().getByLabel('Delete the kept traces too').check();
	await dialog().getByRole('button', { name: 'Delete 1 trace' }).click();
	await page.waitForURL(/\/traces$/);
	await list('?job=old-job');
	await page.getByRole('button', { name: 'Delete job old-job' }).click();
	await dialog().getByRole('button', { name: 'Delete 1 trace' }).click();
	await page.getByRole('heading', { name: 'No trace matches' }).waitFor();
	assert.deepEqual((await getJson(s, '/traces')).items.map((t: { host: string | null }) => t.host).sort(), ['gpu-a00', 'gpu-a01', null].sort());
});

test('a policy is checked while it is typed, shows what it would take, and is saved', opts, async () => {
	await page.goto(`${s.url}/storage`);
	const age = page.getByLabel('Delete uploads after');
	await age.fill('ten');
	await page.getByRole('alert').getByText(/whole number of days/).waitFor();
	assert.ok(await page.getByRole('button', { name: 'Review and save' }).isDisabled());
	await axe(page, 'a policy with a mistake');
	await age.fill('30');
	await page.getByLabel('Let the uploaded files go after').fill('7');
	await page.getByLabel('Keep at most').fill('1');
	await page.getByLabel('Unit of the most bytes').selectOption('MiB');
	await page.getByLabel('Keep at most').press('Enter');
	await dialog().getByText('Now it would take nothing').waitFor(); // as the server says of these limits
	await dialog().getByRole('button', { name: 'Cancel' }).click();
	await page.route(/retention\/run\?dry_run=1$/, async (r) => {
		assert.deepEqual(r.request().postDataJSON(), { max_age_days: 30, blob_age_days: 7, max_bytes: 2 ** 20 });
		await r.fulfill({ response: await r.fetch({ postData: { max_bytes: 1 } }) }); // a limit that the form does not take, for something to go
	});
	await page.getByRole('button', { name: 'Review and save' }).click();
	await dialog().getByText(/Now it would take \d+ uploads and \d+ traces/).waitFor();
	await page.unroute(/retention\/run\?dry_run=1$/);
	await axe(page, 'the review of a policy');
	await dialog().getByRole('button', { name: /^Save/ }).click();
	await until(page, 'the dialog goes', () => !document.querySelector('dialog[open]'));
	const p = (await getJson(s, '/storage')).policy;
	assert.deepEqual([p.max_age_days, p.blob_age_days, p.max_bytes], [30, 7, 2 ** 20]);
	await until(page, 'the page shows it', () => /set 20/.test(document.querySelector('.policy')?.textContent ?? ''));
	await page.goto(`${s.url}/audit?action=retention.`);
	await until(page, 'the audit', () => /retention\.set/.test(document.querySelector('table.audit tbody')?.textContent ?? ''));
});

test('retention that is held says why and is confirmed by an operator', opts, async () => {
	let confirmed = 0;
	const held = { since: '2026-12-01T00:00:00Z', why: 'the clock jumped 41 days ahead' };
	await page.route(/\/api\/v1\/storage$/, async (r) => {
		const res = await r.fetch();
		await r.fulfill({ json: { ...(await res.json()), held: confirmed ? null : held } });
	});
	await page.route(/confirm-clock$/, (r) => (confirmed++, r.fulfill({ json: {} })));
	await page.goto(`${s.url}/storage`);
	await page.getByText(/jumped 41 days ahead/).waitFor();
	await axe(page, 'held retention');
	await page.getByRole('button', { name: 'Confirm the clock' }).click();
	await page.getByRole('button', { name: /The date is right/ }).click();
	await until(page, 'it goes on', () => !document.body.textContent!.includes('Retention is held'));
	assert.equal(confirmed, 1);
	await page.unroute(/\/api\/v1\/storage$/);
	await page.unroute(/confirm-clock$/);
});

test('an outdated trace says how far indexing again is, one that cannot be opened yet waits by itself', opts, async () => {
	await page.route(/\/api\/v1\/storage$/, async (r) => {
		const d = await (await r.fetch()).json();
		await r.fulfill({ json: { ...d, reindex: { ...d.reindex, outdated: 3, done_since_start: 4, waiting: 2, running: 1 } } });
	});
	await page.route(new RegExp(`/api/v1/traces/${traces[0]}$`), async (r) => r.fulfill({ json: { ...(await (await r.fetch()).json()), outdated: true, rebuildable: true } }));
	let refused = 0;
	await page.route(/\/tracks$/, (r) => (++refused < 3 ? r.fulfill({ status: 503, json: { error: { code: 'reindexing', message: 'being indexed again', detail: { done: 1, total: 2 }, request_id: 'r' } } }) : r.continue()));
	await page.goto(`${s.url}/traces/${traces[0]}?test`);
	await page.getByText(/re-indexing 4 of 7/).waitFor();
	await page.getByText('This trace is being indexed again').waitFor();
	await axe(page, 'a trace that is being indexed again');
	await settled(page);
	for (const re of [/\/api\/v1\/storage$/, new RegExp(`/api/v1/traces/${traces[0]}$`), /\/tracks$/]) await page.unroute(re);
	forgive(/ (409|503) /);
	assertClean(faults);
});

test('a token is made, shown once, copied, used, and revoked', opts, async () => {
	await c.grantPermissions(['clipboard-read', 'clipboard-write']);
	await page.goto(`${s.url}/tokens`);
	await page.getByRole('button', { name: 'New token' }).first().click();
	await dialog().getByRole('button', { name: 'Make the token' }).click();
	await dialog().getByText(/A name is needed/).waitFor();
	await axe(page, 'the form of a new token');
	await dialog().getByLabel('Name').fill('ci pipeline');
	await dialog().getByLabel(/^upload/).check();
	await dialog().getByLabel('Expires after').fill('30');
	await dialog().getByRole('button', { name: 'Make the token' }).dblclick(); // makes one, not two
	const secret = await dialog().locator('[data-secret]').innerText();
	assert.match(secret, /^fst_[0-9a-f]{40}$/);
	await axe(page, 'a secret');
	await dialog().getByRole('button', { name: 'Copy the secret' }).click();
	await until(page, 'the copy', () => document.body.textContent!.includes('Copied'));
	assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret);
	assert.match(await dialog().innerText(), /fleetscope-collector push [\s\S]*curl -H 'Authorization: Bearer fst_/);
	assert.equal((await fetch(`${s.url}/api/v1/traces`, { headers: { Authorization: `Bearer ${secret}` } })).status, 200);
	await dialog().getByRole('button', { name: 'I have it' }).click();
	await page.locator('table.tokens tbody tr').first().waitFor();
	const line = page.locator('table.tokens tbody tr', { hasText: 'ci pipeline' });
	const text = await line.innerText();
	for (const part of [secret.slice(0, 10), 'read, upload', 'loopback', 'Valid']) assert.ok(text.includes(part), `${part} in ${text}`);
	assert.ok(!(await page.content()).includes(secret), 'the secret is gone from the page');
	await line.getByRole('button', { name: 'Revoke ci pipeline' }).click();
	await axe(page, 'revoking a token');
	await dialog().getByRole('button', { name: 'Revoke ci pipeline' }).click();
	await page.getByRole('heading', { name: 'No tokens yet' }).waitFor();
	assert.equal((await fetch(`${s.url}/api/v1/traces`, { headers: { Authorization: `Bearer ${secret}` } })).status, 401);
	await page.getByLabel('Show revoked ones').check();
	await line.getByText(/Revoked/).waitFor();
	assertClean(faults);
});

test('the audit pages through what was done, and filters by action', opts, async () => {
	for (let i = 0; i < 60; i++) {
		const t = await api<{ id: string }>('POST', '/tokens', { name: `t${i}`, scopes: ['read'] });
		await api('DELETE', `/tokens/${t.id}`);
	}
	const total = (await getJson(s, '/audit?limit=1')).total as number;
	assert.ok(total > 120);
	await page.goto(`${s.url}/audit`);
	await page.locator('table.audit tbody tr').first().waitFor();
	assert.equal(await page.locator('table.audit tbody tr').count(), 100);
	await page.getByRole('button', { name: 'Next page' }).click();
	await until(page, 'the second page', () => /Rows 101/.test(document.querySelector('.table-foot')?.textContent ?? ''));
	await page.getByLabel('Filter by action').selectOption('retention.');
	await until(page, 'one kind', () => [...document.querySelectorAll('table.audit tbody td.mono')].every((e) => e.textContent!.startsWith('retention.')));
	assert.match(page.url(), /action=retention/);
	assertClean(faults);
});

test('the switch in the header changes the project, links carry it, and a link to another one switches', opts, async () => {
	await api('POST', '/projects', { name: 'vision' });
	await fetch(`${s.url}/api/v1/bundles?name=v.json.gz&job=vit-h14`, { method: 'POST', body: variant(9) as BodyInit, headers: { 'X-Fleetscope-Project': 'vision' } });
	const own = await newContext(b);
	await own.grantPermissions(['clipboard-read', 'clipboard-write']);
	const { page: p, faults: f } = await newPage(own);
	await p.goto(`${s.url}/traces`);
	await p.locator('table.list tbody tr', { hasText: 'gpu-a00' }).waitFor();
	await axe(p, 'the header with projects');
	await p.getByLabel('Project', { exact: true }).selectOption('vision');
	await p.locator('table.list tbody tr.s-ready', { hasText: 'vit-h14' }).waitFor({ timeout: 30_000 });
	assert.equal(await p.locator('table.list tbody tr').count(), 1);
	await p.locator('table.list tbody tr a').first().click();
	await p.locator('.tl-fixed > canvas').waitFor();
	await p.getByRole('button', { name: 'Copy link', exact: true }).click();
	await until(p, 'the copy', () => document.body.textContent!.includes('Copied'));
	const link = await p.evaluate(() => navigator.clipboard.readText());
	assert.match(link, /[?&]project=vision/);
	// A second tab in the other project does not move this one.
	const { page: q } = await newPage(own);
	await q.goto(`${s.url}/traces?project=default`);
	await q.locator('table.list tbody tr', { hasText: 'gpu-a00' }).waitFor();
	assert.equal(await q.getByLabel('Project', { exact: true }).inputValue(), 'default');
	await p.getByRole('link', { name: 'Analysis' }).click();
	await p.locator('.kernels tbody tr').first().waitFor();
	await q.goto(link);
	await q.locator('.tl-fixed > canvas').waitFor();
	assert.equal(await q.getByLabel('Project', { exact: true }).inputValue(), 'vision');
	assertClean(f);
	await q.goto(`${s.url}/traces?project=nobody`);
	await q.getByText(/which you may not enter/).waitFor();
	await q.locator('table.list tbody tr').first().waitFor();
	await axe(q, 'a refused project');
	await own.close();
});

test('a reader sees no action that would be refused, and is told so on the pages of admins', opts, async () => {
	const t = await api<{ secret: string }>('POST', '/tokens', { name: 'reader', scopes: ['read'] });
	const own = await newContext(b);
	await own.setExtraHTTPHeaders({ Authorization: `Bearer ${t.secret}` });
	const { page: p, faults: f } = await newPage(own);
	await p.goto(`${s.url}/traces`);
	await p.locator('table.list tbody tr').first().waitFor();
	await p.getByRole('button', { name: 'Sign out' }).waitFor();
	const nav = await p.locator('header nav a').allInnerTexts();
	assert.deepEqual(nav, ['Traces', 'Storage', 'Help']);
	await p.locator('table.list tbody input').first().check();
	for (const name of ['Keep', 'Delete', 'Re-index']) assert.equal(await p.getByRole('button', { name, exact: true }).count(), 0, name);
	assert.equal(await p.getByRole('link', { name: 'Upload' }).count(), 0);
	await p.goto(`${s.url}/storage`);
	await p.getByText('Admins of the project can change it.').waitFor();
	assert.equal(await p.locator('.policy form').count(), 0);
	for (const path of ['/tokens', '/audit']) {
		await p.goto(s.url + path);
		await p.getByRole('heading', { name: 'Not for this account' }).waitFor();
		await axe(p, `${path} for a reader`);
	}
	f.splice(0, f.length, ...f.filter((x) => !/403/.test(x)));
	assertClean(f);
	await own.close();
});

test('a server that does not answer is said on every page, with a way to try again', opts, async () => {
	for (const [path, api] of [['/storage', /\/storage$/], ['/tokens', /\/tokens/], ['/audit', /\/audit/]] as const) {
		await page.route(new RegExp(`/api/v1${api.source}`), (r) => r.fulfill({ status: 500, json: { error: { code: 'internal', message: 'no luck', request_id: 'r7' } } }));
		await page.goto(s.url + path);
		await page.getByText('no luck').first().waitFor();
		await axe(page, `${path} with an error`);
		await page.unroute(new RegExp(`/api/v1${api.source}`));
		await page.getByRole('button', { name: 'Try again' }).click();
		await until(page, 'it works again', () => !document.querySelector('.notice.err'));
	}
});

test('a user of a trusted proxy is shown by name and meets no login page', opts, async () => {
	const dir = tempDir();
	const config = join(dir, 'groups.ini');
	writeFileSync(config, '[groups]\nresearch = vision:read audio:read,upload\n');
	const behind = await startServer({ args: ['--config', config, '--trusted-proxy', '127.0.0.1', '--require-tokens'] });
	const own = await newContext(b);
	try {
		await own.setExtraHTTPHeaders({ 'X-Forwarded-User': 'maren', 'X-Forwarded-Groups': 'research' });
		const { page: p } = await newPage(own);
		await p.goto(`${behind.url}/traces`);
		await p.locator('.user-name', { hasText: 'maren' }).waitFor();
		assert.equal(await p.getByRole('button', { name: 'Sign out' }).count(), 0);
		assert.equal(await p.getByRole('link', { name: 'Upload' }).count(), 0, 'vision may only be read');
		await p.getByLabel('Project', { exact: true }).selectOption('audio');
		await p.getByRole('link', { name: 'Upload' }).first().waitFor();
		await axe(p, 'the header of a proxy user');
		await p.goto(`${behind.url}/login?next=%2Fstorage`);
		await p.waitForURL(/\/storage$/);
	} finally {
		await own.close();
		await behind.stop();
	}
});
