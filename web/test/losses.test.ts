// SPDX-License-Identifier: Apache-2.0
// The words of loss counters: made from docs/losses.md, which has every counter that the sources raise.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { lossWords } from '../losses.mjs';
import { isRemark, splitLosses, wordsOf } from '../src/lib/losses';
import { formatLabel, lossSummary } from '../src/lib/text';

/** The top of the sources: tests are built into more than one place below it. */
function sources(): string {
	let at = fileURLToPath(new URL('.', import.meta.url));
	for (let i = 0; i < 8 && !existsSync(join(at, 'docs/losses.md')); i++) at = join(at, '..');
	return `${at}/`;
}
const root = sources();
const words = lossWords(readFileSync(`${root}docs/losses.md`, 'utf8'));

test('rows of tables become words, one entry for each code', () => {
	const w = lossWords('# x\n| code | what happened | kept |\n|---|---|---|\n| `a`, `b_c` | see [there](x.md): `{}` | yes |\n| `d` | two |\ntext `e`\n');
	assert.deepEqual(w, { a: { what: 'see there: `{}`', kept: 'yes' }, b_c: { what: 'see there: `{}`', kept: 'yes' }, d: { what: 'two' } });
});

test('every counter that readers, builder and indexer raise has words', () => {
	const missing: string[] = [];
	for (const dir of ['lib/formats', 'lib/model', 'indexer'])
		for (const f of readdirSync(root + dir).filter((n) => n.endsWith('.c'))) {
			const s = readFileSync(`${root}${dir}/${f}`, 'utf8');
			const codes = [...s.matchAll(/fsc_(?:build_loss|losses_add|build_loss_at|losses_add_at)\([^"();]*(?:\([^()]*\)[^"();]*)*"([a-z0-9_]+)"/g), ...(f === 'chrome_meta.c' ? s.matchAll(/\{ "([a-z0-9_]+)", &?(?:r->|c->)/g) : [])];
			for (const [, code] of codes) if (!wordsOf(words, code!)) missing.push(`${dir}/${f}: ${code}`);
		}
	assert.deepEqual(missing, []);
	assert.ok(Object.keys(words).length > 90);
});

test('a phase has the words of its kind', () => {
	assert.equal(wordsOf(words, 'phase_unknown_N'), words.phase_unknown_X);
	assert.equal(wordsOf(words, 'no_such_code'), null);
	assert.equal(wordsOf(null, 'event_empty'), null);
});

test('what is normal in sound files is a remark, no repair', () => {
	const both = [{ code: 'flow_end_without_start', count: 900 }, { code: 'event_empty', count: 2 }, { code: 'utf8_repaired', count: 3 }, { code: 'slice_overlap_kept', count: 0 }];
	assert.deepEqual(splitLosses(both), { repairs: [both[2], both[1]], remarks: [both[0]] });
	assert.equal(lossSummary(both), '2 kinds of repair, 5 events');
	assert.equal(lossSummary([both[0]!]), 'no losses, 1 remark');
	for (const code of Object.keys(words)) assert.ok(!isRemark(code) || /^(flow_|slice_overlap)/.test(code));
});

test('formats are called by what people know them as', () => {
	assert.equal(formatLabel('kineto'), 'PyTorch profiler (Kineto JSON)');
	assert.equal(formatLabel('some_new'), 'some new');
	assert.equal(formatLabel(undefined), '');
});
