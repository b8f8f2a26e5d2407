// SPDX-License-Identifier: Apache-2.0
// Notes on ranges, and links that outlive indexing again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { getJson, sleep, startServer, uploadAndWait, waitBundle, type TestServer } from '../lib/server.ts';
import { assertClean, axe, canvasBox, launch, newContext, newPage, noBrowser, settled, until, type Scheme } from './browser.ts';
import { GEMM, sampleGz } from './sample.ts';

let s: TestServer;
let b: Browser;
let c: BrowserContext;
let page: Page;
let faults: string[];
let trace = '';
let bundle = '';
const opts = { skip: noBrowser };
const words = 'The first GEMM waits for the copy.\nSee the queue.';

before(async () => {
	if (noBrowser) return;
	s = await startServer();
	const up = await uploadAndWait(s, 'rank_3.json.gz', sampleGz().bytes, { job: 'gpt-1b3-pretrain', host: 'gpu-a03' });
	trace = up.traces[0]!.id;
	bundle = up.id;
	b = await launch();
	c = await newContext(b);
	({ page, faults } = await newPage(c));
});
after(async () => {
	await b?.close();
	await s?.stop();
});

interface NoteRow { id: string; t0: number; t1: number; text: string; author: string }
const stored = async (): Promise<NoteRow[]> => (await getJson<{ notes: NoteRow[] }>(s, `/traces/${trace}`)).notes;
const marks = () => page.locator('.tl-notes button');
const open = async (query: string): Promise<void> => {
	await page.goto(`${s.url}/traces/${trace}?test${query}`);
	await settled(page);
};

test('a note on the selected range is written with the keyboard alone and marked on the ruler', opts, async () => {
	await open('&t0=0&t1=20000000&range=2000000..6000000');
	assert.equal(await marks().count(), 0);
	await page.keyboard.press('KeyN');
	const box = page.getByLabel('Text of the note');
	await box.waitFor();
	assert.ok(await box.evaluate((e) => e === document.activeElement), 'the words can be typed at once');
	await page.keyboard.type('w a s d 0 [ ]');
	assert.deepEqual(await page.evaluate(() => window.__ui!.view()), { t0: 0, t1: 20_000_000 }, 'letters are no commands while writing');
	await box.fill(words);
	await page.keyboard.press('Control+Enter');
	await page.getByRole('region', { name: 'Selected note' }).waitFor();
	const [n] = await stored();
	assert.deepEqual([n!.t0, n!.t1, n!.text, n!.author], [2_000_000, 6_000_000, words, 'loopback']);
	const m = await page.evaluate(() => ({ mark: window.__ui!.marks()[0]!, x0: window.__ui!.timeToX(2_000_000), x1: window.__ui!.timeToX(6_000_000) }));
	assert.ok(Math.abs(m.mark.x - m.x0) < 1 && Math.abs(m.mark.x + m.mark.w - m.x1) < 1, JSON.stringify(m));
	const drawn = (await marks().first().boundingBox())!;
	assert.ok(Math.abs(drawn.x - ((await canvasBox(page)).x + m.x0)) < 1.5, 'the mark stands at the start of its range');
	assert.match(page.url(), new RegExp(`note=${n!.id}`));
	await page.getByRole('link', { name: 'Analysis' }).click();
	await page.getByRole('region', { name: 'Step time' }).waitFor();
	await page.getByRole('link', { name: 'Timeline' }).click();
	await settled(page);
	assert.equal(await marks().count(), 1, 'it is there after another tab of the page');
});

test('marks say their words under the pointer and with the focus', opts, async () => {
	await marks().first().hover();
	assert.match(await page.locator('.note-card').innerText(), /first GEMM waits[\s\S]*2\.00 ms, 4\.00 ms long, loopback/);
	await page.mouse.move(5, 5);
	await until(page, 'the card goes', () => !document.querySelector('.note-card'));
	await marks().first().focus();
	await page.locator('.note-card').waitFor();
	assert.match((await marks().first().getAttribute('aria-label'))!, /Note at 2\.00 ms, 4\.00 ms long: The first GEMM/);
});

test('a second note comes by the button, arrow keys lead from mark to mark, Enter selects', opts, async () => {
	await open('&t0=0&t1=20000000&range=12000000..13000000');
	await page.locator('.page-head').getByRole('button', { name: 'Note', exact: true }).click();
	await page.getByLabel('note on to').fill('14 ms');
	await page.getByLabel('note on to').press('Enter');
	await page.getByLabel('Text of the note').fill('second');
	await page.getByRole('button', { name: 'Save' }).click();
	await until(page, 'two marks', () => document.querySelectorAll('.tl-notes button').length === 2);
	assert.deepEqual((await stored()).map((n) => [n.t0, n.t1]), [[2_000_000, 6_000_000], [12_000_000, 14_000_000]], 'the typed end counts');
	await marks().first().focus();
	await page.keyboard.press('ArrowRight');
	assert.ok(await marks().nth(1).evaluate((e) => e === document.activeElement));
	assert.equal(await page.evaluate(() => document.querySelectorAll('.tl-notes button[tabindex="0"]').length), 1, 'one stop in the tab order');
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('Enter');
	await until(page, 'the range of the note', () => window.__ui!.range()?.t0 === 2_000_000);
	assert.match(await page.getByRole('region', { name: 'Selected note' }).innerText(), /See the queue/);
});

test('a note moves and changes its words, and a refusal keeps what was typed', opts, async () => {
	await page.getByRole('button', { name: 'Edit' }).click();
	// Typed and confirmed before anything is drawn in between.
	await page.getByLabel('note on length').evaluate((e: HTMLInputElement) => {
		e.focus();
		e.value = '5 ms';
		e.dispatchEvent(new InputEvent('input', { bubbles: true }));
		e.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
	});
	await until(page, 'the length typed', () => window.__ui!.range()?.t1 === 7_000_000);
	const box = page.getByLabel('Text of the note');
	await box.fill('x'.repeat(2001));
	assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
	await page.getByText('At most 2000 bytes.').waitFor();
	await box.fill('better now');
	await page.route(/\/api\/v1\/traces\/\d+$/, (r) => (r.request().method() === 'PATCH' ? r.fulfill({ status: 500, json: { error: { code: 'internal', message: 'the disk is on fire', request_id: 'r1' } } }) : r.continue()));
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByText('the disk is on fire').waitFor();
	assert.equal(await box.inputValue(), 'better now');
	await page.unroute(/\/api\/v1\/traces\/\d+$/);
	faults.splice(0, faults.length, ...faults.filter((f) => !/ 500 /.test(f)));
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByRole('region', { name: 'Selected note' }).waitFor();
	assert.deepEqual((await stored()).map((n) => [n.t0, n.t1, n.text])[0], [2_000_000, 7_000_000, 'better now']);
});

test('the link to a note opens on it, in light and dark, and axe finds nothing', opts, async () => {
	const link = page.url();
	for (const scheme of ['light', 'dark'] as Scheme[]) {
		const own = await newContext(b, scheme);
		const { page: p, faults: f } = await newPage(own);
		await p.goto(link);
		await settled(p);
		assert.match(await p.getByRole('region', { name: 'Selected note' }).innerText(), /better now/);
		assert.deepEqual(await p.evaluate(() => window.__ui!.range()), { t0: 2_000_000, t1: 7_000_000 });
		assert.equal(await p.locator('.tl-notes button[aria-pressed="true"]').count(), 1);
		await p.locator('.tl-notes button').nth(1).focus();
		await p.locator('.note-card').waitFor();
		await axe(p, `notes, ${scheme}`);
		await p.keyboard.press('KeyN');
		await p.getByLabel('Text of the note').waitFor();
		await axe(p, `writing a note, ${scheme}`);
		assertClean(f);
		await own.close();
	}
});

test('who may only read sees notes and no way to write', opts, async () => {
	const r = await fetch(`${s.url}/api/v1/tokens`, { method: 'POST', body: JSON.stringify({ name: 'reader', scopes: ['read'] }), headers: { 'content-type': 'application/json' } });
	const { secret } = (await r.json()) as { secret: string };
	const own = await b.newContext({ extraHTTPHeaders: { Authorization: `Bearer ${secret}` } });
	const { page: p } = await newPage(own);
	await p.goto(`${s.url}/traces/${trace}?test&tab=notes`);
	await settled(p);
	await until(p, 'the notes', () => document.querySelectorAll('table.notes tbody tr').length === 2);
	await p.keyboard.press('KeyN');
	for (const name of ['Add note', 'Note', 'Edit', 'More about this trace', 'Delete']) assert.equal(await p.getByRole('button', { name, exact: true }).count(), 0, name);
	assert.equal(await p.getByLabel('Text of the note').count(), 0);
	await own.close();
});

test('a link opens on the same slice, note and range after the upload was indexed again', opts, async () => {
	await open('&t0=20000000&t1=24000000&range=20500000..23000000');
	const at = await page.evaluate((name) => {
		const h = window.__ui!.slices().find((k) => k.name === name && k.x0 > 0)!;
		return { x: (h.x0 + h.x1) / 2, y: h.y + h.h / 2 };
	}, GEMM);
	const box = await canvasBox(page);
	await page.mouse.click(box.x + at.x, box.y + at.y);
	await page.locator('.slice-name').waitFor();
	await until(page, 'the link', () => location.search.includes('sel='));
	const link = page.url();
	const state = () => ({ view: window.__ui!.view(), range: window.__ui!.range(), ts: window.__ui!.details()?.ts, name: window.__ui!.details()?.name, by: window.__ui!.details()?.launched_by?.name, notes: window.__ui!.notes() });
	const was = await page.evaluate(state);
	assert.equal(was.name, GEMM);
	const old = (await getJson<{ indexed_at?: string }>(s, `/traces/${trace}`)).indexed_at;
	await sleep(5);
	assert.equal((await fetch(`${s.url}/api/v1/bundles/${bundle}/reindex`, { method: 'POST' })).status, 202);
	const done = await waitBundle(s, bundle);
	assert.deepEqual(done.traces.map((t) => t.id), [trace], 'the trace keeps its address');
	if (old) assert.notEqual((await getJson<{ indexed_at?: string }>(s, `/traces/${trace}`)).indexed_at, old);
	await page.reload();
	await page.locator('.slice-name').waitFor();
	await settled(page);
	assert.deepEqual(await page.evaluate(state), was);
	assert.equal(page.url(), link);
	const { page: fresh } = await newPage(c);
	await fresh.goto(link);
	await fresh.locator('.slice-name').waitFor();
	await settled(fresh);
	assert.deepEqual(await fresh.evaluate(state), was, 'in a new window too');
	await fresh.close();
});

test('a note is deleted after a second thought', opts, async () => {
	await open('&tab=notes');
	await page.locator('table.notes').getByRole('button', { name: 'second' }).click();
	await page.getByRole('button', { name: 'Delete', exact: true }).click();
	await page.getByRole('button', { name: 'Really delete' }).click();
	await until(page, 'one mark is left', () => document.querySelectorAll('.tl-notes button').length === 1);
	assert.deepEqual((await stored()).map((n) => n.text), ['better now']);
	assertClean(faults);
});

test('a thousand notes stay few elements, none of them lost', opts, async () => {
	const add = Array.from({ length: 999 }, (_, i) => ({ t0: i * 40_000, t1: i * 40_000 + 10_000, text: `note ${i}` }));
	const r = await fetch(`${s.url}/api/v1/traces/${trace}`, { method: 'PATCH', body: JSON.stringify({ notes_add: add }), headers: { 'content-type': 'application/json' } });
	assert.equal(r.status, 200, await r.clone().text());
	await open('&tab=notes');
	const seen = await page.evaluate(() => ({
		marks: window.__ui!.marks().length, sum: window.__ui!.marks().reduce((a, m) => a + m.ids.length, 0),
		buttons: document.querySelectorAll('.tl-notes button').length, rows: document.querySelectorAll('table.notes tbody tr').length,
	}));
	assert.equal(seen.sum, 1000);
	assert.equal(seen.buttons, seen.marks);
	assert.ok(seen.marks < 60 && seen.rows < 60, JSON.stringify(seen));
});
