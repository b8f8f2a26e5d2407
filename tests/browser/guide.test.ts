// SPDX-License-Identifier: Apache-2.0
// The guide under Help: every page is there and readable, links stay inside, commands can be copied.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startServer, type TestServer } from '../lib/server.ts';
import { assertClean, axe, launch, newContext, newPage, noBrowser } from './browser.ts';

type Index = { title: string; pages: { name: string; title: string }[] }[];
const opts = { skip: noBrowser };
let s: TestServer;
let b: Browser;
let page: Page;
let faults: string[];

before(async () => {
	if (noBrowser) return;
	s = await startServer();
	b = await launch();
	({ page, faults } = await newPage(await newContext(b)));
});
after(async () => {
	await b?.close();
	await s?.stop();
});

test('every listed page shows its text, and every link inside leads somewhere', opts, async () => {
	const index = (await (await fetch(`${s.url}/guide/index.json`)).json()) as Index;
	const names = index.flatMap((g) => g.pages.map((p) => p.name));
	assert.ok(names.length >= 8, names.join(' '));
	const links = new Set<string>();
	for (const name of names) {
		await page.goto(`${s.url}/help/${name}`);
		await page.locator('.guide-text h1').waitFor();
		const hrefs = await page.locator('.guide-text a:not(.anchor)').evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href));
		hrefs.filter((h) => h.startsWith(s.url)).forEach((h) => links.add(h));
		const images = await page.locator('.guide-text img').evaluateAll((all) => all.map((i) => (i as HTMLImageElement).src));
		for (const src of images) assert.equal((await fetch(src)).status, 200, src);
	}
	for (const href of links) {
		const u = new URL(href);
		const name = /^\/help\/([a-z0-9-]+)$/.exec(u.pathname)?.[1];
		if (!name) {
			assert.equal((await fetch(href)).status, 200, href);
			continue;
		}
		assert.ok(names.includes(name), href);
		if (u.hash) assert.match(await (await fetch(`${s.url}/guide/${name}.html`)).text(), new RegExp(`id="${u.hash.slice(1)}"`), href);
	}
	assertClean(faults);
});

test('Help is reached from the header and from the dialog of keys, by mouse and by keyboard', opts, async () => {
	await page.goto(`${s.url}/traces`);
	await page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name: 'Help' }).click();
	await page.getByRole('heading', { level: 1, name: /first trace/ }).waitFor();
	await page.getByRole('link', { name: 'Reading the timeline' }).first().click();
	await page.getByRole('heading', { level: 1, name: 'Reading the timeline' }).waitFor();
	assert.match(await page.title(), /^Reading the timeline/);
	await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Ranges' }).click();
	assert.match(page.url(), /\/help\/reading-the-timeline#ranges$/);
	await page.keyboard.press('?');
	await page.getByRole('dialog').getByRole('link', { name: 'Read the guide' }).click();
	await page.getByRole('heading', { level: 1, name: /first trace/ }).waitFor();
	assert.equal(await page.locator('dialog[open]').count(), 0);
	assertClean(faults);
});

test('a command is copied as it stands', opts, async () => {
	await page.goto(`${s.url}/help/first-trace`);
	await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	const box = page.locator('.command-box', { hasText: 'hello.json --server' });
	await box.getByRole('button', { name: 'Copy' }).click();
	await box.getByRole('button', { name: 'Copied' }).waitFor();
	assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^fleetscope-collector push hello\.json --server .* --wait\n?$/);
	assertClean(faults);
});

test('no page of the guide has an accessibility fault, light and dark', opts, async () => {
	for (const scheme of ['light', 'dark'] as const) {
		const mine = await newPage(await newContext(b, scheme));
		for (const name of ['first-trace', 'operating', 'analyses', 'no-such-page']) {
			await mine.page.goto(`${s.url}/help/${name}`);
			await mine.page.locator('.guide-text h1, .empty').first().waitFor();
			await axe(mine.page, `${name} ${scheme}`);
		}
		assertClean(mine.faults);
		await mine.page.context().close();
	}
});
