// SPDX-License-Identifier: Apache-2.0
// "Open in Perfetto" with a viewer of the server's own: a link, and the page behind it fetches the trace by itself. The
// stand-in does what the real page does: it reads `url` from its hash, and its policy lets it connect to itself only.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startServer, uploadAndWait, type TestServer } from '../lib/server.ts';
import { assertClean, launch, newContext, newPage, noBrowser, until } from './browser.ts';
import { sampleGz } from './sample.ts';

const PAGE = `<!doctype html><meta http-equiv="Content-Security-Policy" content="default-src 'self'; connect-src 'self'">
<title>viewer</title><script src="viewer.js"></script>`;
const SCRIPT = `(async () => {
	const url = new URLSearchParams(location.hash.replace(/^#!\\/\\?/, '')).get('url');
	const r = await fetch(url);
	window.fetched = { status: r.status, bytes: (await r.arrayBuffer()).byteLength };
})();`;
declare global {
	interface Window { fetched?: { status: number; bytes: number } }
}

const opts = { skip: noBrowser };
let ui = '';
let s: TestServer;
let b: Browser;
let c: BrowserContext;
let page: Page;
let faults: string[];
let trace = '';

before(async () => {
	if (noBrowser) return;
	ui = mkdtempSync(join(tmpdir(), 'fsc-pui-'));
	writeFileSync(join(ui, 'index.html'), PAGE);
	writeFileSync(join(ui, 'viewer.js'), SCRIPT);
	s = await startServer({ args: ['--perfetto-ui', ui] });
	trace = (await uploadAndWait(s, 'rank_3.json.gz', sampleGz().bytes)).traces[0]!.id;
	b = await launch();
	c = await newContext(b);
	({ page, faults } = await newPage(c));
});
after(async () => {
	await b?.close();
	await s?.stop();
	if (ui) rmSync(ui, { recursive: true, force: true });
});

test('the whole trace opens in the own viewer', opts, async () => {
	await page.goto(`${s.url}/traces/${trace}`);
	const link = page.getByRole('link', { name: 'Open in Perfetto' });
	const [viewer] = await Promise.all([c.waitForEvent('page'), link.click()]);
	const got = await until(viewer, 'the trace in the viewer', () => window.fetched, 30_000);
	const whole = (await (await fetch(`${s.url}/api/v1/traces/${trace}/export/perfetto`)).arrayBuffer()).byteLength;
	assert.deepEqual(got, { status: 200, bytes: whole });
	assert.notEqual(new URL(viewer.url()).port, String(s.port));
	await viewer.close();
	assertClean(faults);
});

test('a selected range opens as that range', opts, async () => {
	await page.goto(`${s.url}/traces/${trace}?range=20000000..24000000`);
	const link = page.getByRole('link', { name: 'Open range in Perfetto' });
	const [viewer] = await Promise.all([c.waitForEvent('page'), link.click()]);
	const got = await until(viewer, 'the range in the viewer', () => window.fetched, 30_000);
	assert.equal(got.status, 200);
	const p = new URLSearchParams(viewer.url().split('?')[1]);
	assert.ok(BigInt(p.get('visEnd')!) - BigInt(p.get('visStart')!) >= 4_000_000n);
	await viewer.close();
	assertClean(faults);
});
