// SPDX-License-Identifier: Apache-2.0
// Headless Chromium for the tests: pages that record every console message, page error and policy violation; axe; the
// hook that the timeline exposes when its URL has the parameter `test`.
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import assert from 'node:assert/strict';

export const chromiumPath = process.env.FSC_CHROMIUM ?? '/usr/bin/chromium';
export const noBrowser = existsSync(chromiumPath) ? false : 'no browser on this machine';
export type Scheme = 'light' | 'dark';

const require = createRequire(import.meta.url);
const axeSource = () => readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export function launch(): Promise<Browser> {
	return chromium.launch({
		executablePath: chromiumPath,
		headless: true,
		args: ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb', '--font-render-hinting=none'],
	});
}

export async function newContext(b: Browser, scheme: Scheme = 'light'): Promise<BrowserContext> {
	return b.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: scheme, deviceScaleFactor: 1, reducedMotion: 'reduce', acceptDownloads: true });
}

/** A page and what went wrong on it. `expected`: messages of failed requests that a test provokes. */
export async function newPage(c: BrowserContext): Promise<{ page: Page; faults: string[] }> {
	const page = await c.newPage();
	const faults: string[] = [];
	page.setDefaultTimeout(15_000);
	page.on('console', (m) => {
		if (m.type() === 'error' || m.type() === 'warning') faults.push(`${m.type()}: ${m.text()}`);
	});
	page.on('pageerror', (e) => faults.push(`page error: ${e.message}`));
	return { page, faults };
}

export function assertClean(faults: string[]): void {
	assert.deepEqual(faults, [], 'console and policy errors');
}

/** Polls a function of the page: waitForFunction needs eval, which the policy forbids. */
export async function until<T>(page: Page, what: string, f: () => T | null | undefined | false, ms = 15_000): Promise<T> {
	const end = Date.now() + ms;
	for (;;) {
		// A window that is still on its way to its page loses the call: that is a "not yet".
		const v = await page.evaluate(f).catch((e: Error) => {
			if (!/context was destroyed/.test(e.message)) throw e;
			return undefined;
		});
		if (v) return v as T;
		if (Date.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
		await page.waitForTimeout(50);
	}
}

export async function axe(page: Page, where: string): Promise<void> {
	const cdp = await page.context().newCDPSession(page);
	await cdp.send('Runtime.evaluate', { expression: axeSource() });
	const r = await cdp.send('Runtime.evaluate', {
		expression: `axe.run(document, {runOnly: {type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}})
			.then((r) => JSON.stringify(r.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 4).map((n) => n.target.join(' ') + ' (' + (n.any[0]?.message ?? n.all[0]?.message ?? n.none[0]?.message ?? '') + ')').join('; '))))`,
		awaitPromise: true,
		returnByValue: true,
	});
	await cdp.detach();
	assert.deepEqual(JSON.parse(String(r.result.value)), [], `axe on ${where}`);
}

export interface Hit { track: number; depth: number; name: string; id: number; kind: number; count: number; busy: number; t0: number; t1: number; merged: boolean; x0: number; x1: number; y: number; h: number }
export interface Ui {
	view: () => { t0: number; t1: number };
	range: () => { t0: number; t1: number } | null;
	details: () => { name: string; ts: number; dur: number; launched_by?: { name: string } } | null;
	frames: () => number;
	drawMs: () => number;
	loading: () => boolean;
	size: () => { width: number; height: number; dpr: number; scrollTop: number; pinned: number };
	hit: (x: number, y: number) => Hit | null;
	slices: () => Hit[];
	rows: () => { type: string; title: string; track: number | null; y: number; h: number; depths: number; top: number; first: number }[];
	notes: () => { id: string; t0: number; t1: number; text: string }[];
	marks: () => { x: number; w: number; ids: string[] }[];
	timeToX: (t: number) => number;
}
declare global {
	interface Window { __ui?: Ui }
}

/** Waits until the timeline has drawn everything that it asked for. */
export async function settled(page: Page): Promise<void> {
	let last = -1;
	for (let still = 0, turns = 0; still < 4; turns++) {
		if (turns > 400) throw new Error('the timeline does not come to rest');
		await page.waitForTimeout(60);
		const s = await page.evaluate(() => (window.__ui && !window.__ui.loading() && window.__ui.slices().length > 0 ? window.__ui.frames() : -1));
		still = s >= 0 && s === last ? still + 1 : 0;
		last = s;
	}
}

export async function view(page: Page): Promise<{ t0: number; t1: number; len: number }> {
	const v = await page.evaluate(() => window.__ui!.view());
	return { ...v, len: v.t1 - v.t0 };
}

export async function canvasBox(page: Page): Promise<{ x: number; y: number; width: number; height: number }> {
	const b = await page.locator('.tl-fixed > canvas').boundingBox();
	assert.ok(b, 'the canvas is on the page');
	return b;
}
