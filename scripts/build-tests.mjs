// SPDX-License-Identifier: Apache-2.0
// Bundles every tests/{api,e2e,browser}/**/*.test.ts, and tests/bench/*.bench.ts, into build/tests/<same path>.mjs, so that
// node 18 runs it.
// The unit tests of the browser part (web/test) come along as build/tests/web.
// Packages stay outside the bundles and are found through the link build/tests/node_modules.
import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const folders = ['tests/api', 'tests/e2e', 'tests/browser', 'tests/store', 'tests/collector', 'tests/bench'];
const tests = [];
const walk = (dir) => {
  for (const e of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, e.name);
    if (e.isDirectory() && e.name !== 'node_modules') walk(path);
    else if (/\.(test|bench)\.tsx?$/.test(e.name)) tests.push(path);
  }
};
for (const dir of folders) if (existsSync(dir)) walk(dir);
const units = existsSync('web/test') ? readdirSync('web/test').filter((f) => f.endsWith('.test.ts')) : [];

rmSync('build/tests', { recursive: true, force: true });
mkdirSync('build/tests', { recursive: true });
if (tests.length > 0) {
  symlinkSync('../../web/node_modules', 'build/tests/node_modules');
  const esbuild = createRequire(join(process.cwd(), 'web/package.json'))('esbuild');
  await esbuild.build({
    entryPoints: [
      ...tests.map((f) => ({ in: f, out: f.replace(/^tests\/|\.tsx?$/g, '') })),
      ...units.map((f) => ({ in: join('web/test', f), out: join('web', f.replace(/\.ts$/, '')) })),
    ],
    outdir: 'build/tests',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node18',
    format: 'esm',
    packages: 'external',
    tsconfigRaw: {}, // the paths of tests/tsconfig.json are for the type checker only
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}
