// SPDX-License-Identifier: Apache-2.0
// The commands of the guide are run, page by page and in their order, as somebody would who reads it. A block marked
// "sh example" needs another machine or rights and is left out; every page says at least something that can be tried.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build, source, startServer, tempDir, type TestServer } from '../lib/server.ts';

const guide = join(source, 'docs/guide');
const pages = [...readFileSync(join(guide, 'README.md'), 'utf8').matchAll(/^- \[[^\]]+\]\(([\w-]+\.md)\)/gm)].map((m) => m[1]!);
/** Pages that need an installation to try anything. */
const NOTHING_TO_RUN: string[] = [];

let s: TestServer;
before(async () => { s = await startServer({ args: ['--demo'] }); });
after(() => s.stop());

function blocks(page: string): string[] {
	const text = readFileSync(join(guide, page), 'utf8');
	return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].filter((m) => m[1] === 'sh').map((m) => m[2]!);
}

/** As written, but for the address and the folder that the reader has. */
const here = (command: string): string =>
	command.replaceAll('http://127.0.0.1:8080', s.url).replaceAll('127.0.0.1:8080', new URL(s.url).host).replaceAll('/var/lib/fleetscope', s.data);

test('every page of the guide is listed and has commands that run', async (t) => {
	assert.ok(pages.length >= 5, pages.join(' '));
	for (const page of pages) {
		await t.test(page, () => {
			const all = blocks(page);
			assert.equal(all.length === 0, NOTHING_TO_RUN.includes(page), `${all.length} commands`);
			const cwd = tempDir('fsc-guide-');
			const env = { ...process.env, PATH: `${build}:${process.env.PATH}`, HOME: cwd, FLEETSCOPE_INDEXER: join(build, 'fleetscope-indexer') };
			for (const command of all) {
				const r = spawnSync('sh', ['-eu', '-c', here(command)], { cwd, env, encoding: 'utf8', timeout: 60_000 });
				assert.equal(r.status, 0, `${command}\n${r.stdout}${r.stderr}`);
			}
			rmSync(cwd, { recursive: true, force: true });
		});
	}
});
