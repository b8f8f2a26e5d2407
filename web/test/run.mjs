// SPDX-License-Identifier: Apache-2.0
// Bundles web/test/*.test.ts (node 18 does not read TypeScript) and runs them with node --test.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../../build/web-tests');
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const entryPoints = readdirSync(here).filter((f) => f.endsWith('.test.ts')).map((f) => join(here, f));
await build({
	entryPoints, outdir: out, outExtension: { '.js': '.mjs' }, bundle: true, platform: 'node', target: 'node18',
	format: 'esm', sourcemap: 'inline', logLevel: 'warning', jsx: 'automatic', jsxImportSource: 'preact',
});
const files = readdirSync(out).filter((f) => f.endsWith('.mjs')).map((f) => join(out, f));
process.exit(spawnSync(process.execPath, ['--enable-source-maps', '--test', ...files], { stdio: 'inherit' }).status ?? 1);
