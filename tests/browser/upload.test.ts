// SPDX-License-Identifier: Apache-2.0
// Large files on the upload page: pieces that go on after a cut and after a reload, and a cancel that leaves nothing.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { startRelay } from '../lib/relay.ts';
import { getJson, sleep, startServer, type TestServer } from '../lib/server.ts';
import { axe, launch, newContext, newPage, noBrowser } from './browser.ts';

const MIB = 1 << 20;
const opts = { skip: noBrowser };
let s: TestServer;
let b: Browser;
let c: BrowserContext;
let page: Page;
let dir = '';

/** A trace that is large by an argument that nothing reads: random, so that no two are the same. */
function bigTrace(name: string, mib: number): string {
	const path = join(dir, name);
	const filler = randomBytes((mib * MIB) / 2).toString('hex');
	const events = filler.match(/.{1,60000}/g)!.map((x, i) => `{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":${10 * i},"dur":5,"args":{"x":"${x}"}}`);
	writeFileSync(path, `{"traceEvents":[${events.join(',\n')}]}`);
	return path;
}

before(async () => {
	if (noBrowser) return;
	dir = mkdtempSync(join(tmpdir(), 'fsc-upload-'));
	s = await startServer();
	b = await launch();
	c = await newContext(b);
	({ page } = await newPage(c));
});
after(async () => {
	await b?.close();
	await s?.stop();
	if (dir) rmSync(dir, { recursive: true, force: true });
});

const choose = (path: string) => page.locator('#file-picker').setInputFiles([path]);
const row = (name: string) => page.locator('.transfer', { hasText: name });

test('a cut in the middle is said, and the upload goes on', opts, async () => {
	let n = 0;
	let down = true; // from the second piece on, until it was seen
	await page.route(/\/api\/v1\/uploads\/\d+$/, (r: Route) => {
		if (r.request().method() === 'PATCH') n++;
		return down && n >= 2 ? r.abort('connectionreset') : r.continue();
	});
	await page.goto(`${s.url}/upload`);
	await choose(bigTrace('cut.json', 20));
	await row('cut.json').getByText('Connection lost, trying again').waitFor();
	await axe(page, 'the upload page after a cut');
	down = false;
	await row('cut.json').getByRole('link', { name: 'Open the trace' }).waitFor({ timeout: 60_000 });
	await page.unroute(/\/api\/v1\/uploads\/\d+$/);
	assert.ok(n >= 4, `${n} pieces`);
	assert.deepEqual(readdirSync(join(s.data, 'upload')), []);
	assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((k) => k.startsWith('fleetscope.upload:')).length), 0);
});

test('cuts inside a piece cost no byte twice that the server had, and nobody else is blamed', opts, async () => {
	let cuts = 3;
	const relay = await startRelay(Number(new URL(s.url).port), () => (cuts-- > 0 ? 3 * MIB : Infinity));
	const said = new Set<string>();
	try {
		const there = await newContext(b);
		const { page: p } = await newPage(there);
		await p.goto(`${relay.url}/upload`);
		await p.exposeFunction('saw', (text: string) => void said.add(text.replace(/[\d.]+ MiB/, 'N MiB')));
		await p.evaluate(() => new MutationObserver(() => {
			for (const e of document.querySelectorAll('.transfer [role=status]')) (window as unknown as { saw: (t: string) => void }).saw(e.textContent ?? '');
		}).observe(document.body, { subtree: true, childList: true, characterData: true }));
		await p.locator('#file-picker').setInputFiles([bigTrace('inside.json', 24)]);
		await p.locator('.transfer', { hasText: 'inside.json' }).getByRole('link', { name: 'Open the trace' }).waitFor({ timeout: 90_000 });
		await there.close();
	} finally {
		relay.stop();
	}
	assert.equal(relay.cuts(), 3);
	assert.ok(relay.sent() < 24.2 * MIB + 3 * 2 * MIB, `${relay.sent()} bytes for 24 MiB`);
	assert.deepEqual([...said].filter((x) => /elsewhere/.test(x)), []);
	assert.ok(said.has('Connection lost, trying again') || said.has('Going on from N MiB'), [...said].join());
	const list = await getJson(s, '/bundles?limit=10');
	assert.equal(list.items.filter((x: { name: string; state: string }) => x.name === 'inside.json' && x.state === 'ready').length, 1);
});

test('the same file chosen again after a reload goes on where it was', opts, async () => {
	const path = bigTrace('reload.json', 20);
	const offsets: number[] = [];
	let hang = true;
	await page.route(/\/api\/v1\/uploads\/\d+$/, (r: Route) => {
		if (r.request().method() !== 'PATCH') return r.continue();
		offsets.push(Number(r.request().headers()['upload-offset']));
		return hang && offsets.length === 2 ? undefined : r.continue(); // the second piece never ends
	});
	await page.goto(`${s.url}/upload`);
	await choose(path);
	for (let i = 0; i < 200 && offsets.length < 2; i++) await sleep(50);
	hang = false;
	await page.reload();
	await choose(path);
	await row('reload.json').getByRole('link', { name: 'Open the trace' }).waitFor({ timeout: 60_000 });
	await page.unroute(/\/api\/v1\/uploads\/\d+$/);
	assert.equal(offsets[0], 0);
	assert.ok(offsets[2]! >= 8 * MIB, `begun anew: ${offsets.join(' ')}`);
	const list = await getJson(s, '/bundles?limit=10');
	assert.equal(list.items.filter((x: { name: string }) => x.name === 'reload.json').length, 1);
});

test('a cancelled upload is gone from the server too', opts, async () => {
	await page.route(/\/api\/v1\/uploads\/\d+$/, (r: Route) => (r.request().method() === 'PATCH' && r.request().headers()['upload-offset'] !== '0' ? undefined : r.continue()));
	await page.goto(`${s.url}/upload`);
	await choose(bigTrace('cancel.json', 20));
	for (let i = 0; i < 200 && !readdirSync(join(s.data, 'upload')).length; i++) await sleep(50);
	await sleep(300);
	await row('cancel.json').getByRole('button', { name: 'Cancel' }).click();
	await row('cancel.json').getByText('Cancelled').waitFor();
	for (let i = 0; i < 100 && readdirSync(join(s.data, 'upload')).length; i++) await sleep(50);
	assert.deepEqual(readdirSync(join(s.data, 'upload')), []);
	await page.unroute(/\/api\/v1\/uploads\/\d+$/);
	await row('cancel.json').getByRole('button', { name: 'Retry' }).click();
	await row('cancel.json').getByRole('link', { name: 'Open the trace' }).waitFor({ timeout: 60_000 });
});
