// SPDX-License-Identifier: Apache-2.0
// What was found in a file and what was repaired in it stands with its trace, in words, on the trace page and in the
// drawer of the upload.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startServer, uploadAndWait, type TestServer } from '../lib/server.ts';
import { assertClean, axe, launch, newContext, newPage, noBrowser } from './browser.ts';

let s: TestServer;
let b: Browser;
let c: BrowserContext;
let page: Page;
let faults: string[];
const ids: Record<string, string> = {};
const opts = { skip: noBrowser };
const X = '"ph":"X","pid":1,"tid":2,"ts":1,"dur":2';
const END = '{"ph":"f","cat":"fwdbwd","name":"fwdbwd","id":9,"pid":1,"tid":2,"ts":1,"bp":"e"}';

before(async () => {
	if (noBrowser) return;
	s = await startServer();
	for (const [name, text] of Object.entries({
		'repaired.json': `{"schemaVersion":1,"traceEvents":[{${X},"name":"C:\\path"},,{},${END}]}`,
		'remarks.json': `{"schemaVersion":1,"traceEvents":[{${X},"name":"a"},${END}]}`,
		'plain.json': `[{${X},"name":"a"}]`,
	})) ids[name] = (await uploadAndWait(s, name, Buffer.from(text))).traces[0]!.id;
	b = await launch();
	c = await newContext(b);
	({ page, faults } = await newPage(c));
});
after(async () => {
	await b?.close();
	await s?.stop();
});

test('the trace page names the format and tells each repair in words', opts, async () => {
	await page.goto(`${s.url}/traces/${ids['repaired.json']}`);
	await page.locator('.head-facts').getByText('PyTorch profiler (Kineto JSON)').waitFor();
	await page.getByRole('button', { name: '3 kinds of repair, 3 events' }).click();
	const drawer = page.locator('dialog[open]');
	await drawer.getByText('a comma too many or too few between events or members').waitFor();
	const text = await drawer.innerText();
	for (const code of ['comma_repaired', 'event_empty', 'escape_invalid', 'flow_end_without_start']) assert.ok(text.includes(code), code);
	assert.match(text, /Remark: normal in sound files/i);
	await axe(page, 'repairs in words');
	await page.keyboard.press('Escape');
});

test('what is normal in sound files is no loss', opts, async () => {
	await page.goto(`${s.url}/traces/${ids['remarks.json']}`);
	await page.getByRole('button', { name: 'no losses, 1 remark' }).click();
	const drawer = page.locator('dialog[open]');
	await drawer.getByText(/an arrow's end whose start is not in the file/).waitFor();
	assert.match(await drawer.innerText(), /No losses: every event of the file/);
	await page.keyboard.press('Escape');
});

test('the drawer of an upload names the format of each trace', opts, async () => {
	await page.goto(`${s.url}/traces`);
	for (const [name, format] of [['plain.json', 'Chrome trace event JSON'], ['repaired.json', 'PyTorch profiler (Kineto JSON)']] as const) {
		await page.locator('table.list tbody tr', { hasText: name }).locator('button.state').click();
		await page.locator('dialog[open]').getByText(format).waitFor();
		if (name === 'repaired.json') await page.locator('dialog[open]').getByText('a comma too many or too few between events or members').waitFor();
		await page.keyboard.press('Escape');
	}
	assertClean(faults);
});
