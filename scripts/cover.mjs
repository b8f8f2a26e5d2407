// SPDX-License-Identifier: Apache-2.0
// What the tests ran: `node scripts/cover.mjs FOLDER` reads the counters under it through gcov and prints lines and
// functions by module; build/cover.txt lists each function that no test ran. A line that several programs compiled (one of
// a header, say) counts once, as run when any of them ran it.
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const folder = process.argv[2] ?? 'build/cover';
const counters = readdirSync(folder, { recursive: true })
  .filter((f) => f.endsWith('.gcda') && !/^(tests|gen)\//.test(f))
  .map((f) => join(folder, f));
const files = new Map(); // path -> { lines: Map(number -> ran), functions: Map(name -> ran) }
for (let i = 0; i < counters.length; i += 20) {
  const text = execFileSync('gcov', ['--json-format', '--stdout', ...counters.slice(i, i + 20)], { maxBuffer: 1 << 29, stdio: ['ignore', 'pipe', 'ignore'] });
  for (const unit of text.toString().split('\n').filter(Boolean).map((line) => JSON.parse(line)))
    for (const f of unit.files) {
      const path = relative('.', f.file);
      if (path.startsWith('..') || path.startsWith('build/')) continue;
      const seen = files.get(path) ?? { lines: new Map(), functions: new Map() };
      files.set(path, seen);
      for (const l of f.lines) seen.lines.set(l.line_number, seen.lines.get(l.line_number) || l.count > 0);
      for (const x of f.functions) seen.functions.set(x.name, seen.functions.get(x.name) || x.execution_count > 0);
    }
}

const row = (name, lines, ran, functions, called) =>
  `${name.padEnd(16)} ${String(lines).padStart(7)} ${((100 * ran) / (lines || 1)).toFixed(1).padStart(6)}% ${String(functions).padStart(9)} ${((100 * called) / (functions || 1)).toFixed(1).padStart(6)}%`;
const modules = new Map();
const silent = [];
for (const [path, f] of [...files].sort()) {
  const name = path.split('/').slice(0, path.startsWith('lib/') || path.startsWith('server/') ? 2 : 1).join('/').replace(/\/[^/]*\.[ch]$/, '');
  const m = modules.get(name) ?? [0, 0, 0, 0];
  modules.set(name, m);
  m[0] += f.lines.size;
  m[1] += [...f.lines.values()].filter(Boolean).length;
  m[2] += f.functions.size;
  m[3] += [...f.functions.values()].filter(Boolean).length;
  for (const [fn, ran] of f.functions) if (!ran) silent.push(`${path}: ${fn}`);
}
console.log(`${'module'.padEnd(16)} ${'lines'.padStart(7)} ${'run'.padStart(7)} ${'functions'.padStart(9)} ${'run'.padStart(7)}`);
for (const [name, m] of modules) console.log(row(name, ...m));
console.log(row('all', ...[0, 1, 2, 3].map((i) => [...modules.values()].reduce((s, m) => s + m[i], 0))));
writeFileSync('build/cover.txt', silent.join('\n') + '\n');
console.log(`functions that no test ran: ${silent.length}, in build/cover.txt`);
