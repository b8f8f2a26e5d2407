// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import * as f from '../src/lib/format';

test('a duration has three or four digits and its unit', () => {
	assert.equal(f.dur(9_074_000_000), '9.07 s');
	assert.equal(f.dur(57_123_000_000), '57.1 s');
	assert.equal(f.dur(186_800_000), '186.8 ms');
	assert.equal(f.dur(9_600), '9.60 µs');
	assert.equal(f.dur(640), '640 ns');
	assert.equal(f.dur(0), '0 ns');
	assert.equal(f.durLong(9_074_000_000), '9.074 s');
});

test('an exact duration shows every nanosecond', () => {
	assert.equal(f.durExact(1_020_000), '1.020000 ms');
	assert.equal(f.durExact(212_416), '212.416 µs');
	assert.equal(f.durExact(999), '999 ns');
});

test('times beyond 32 bits keep their digits', () => {
	assert.equal(f.durExact(2 ** 31 + 1), '2.147483649 s');
	assert.equal(f.durExact(12_345_678_901_234), '12,345.678901234 s');
});

test('bytes are IEC', () => {
	assert.equal(f.bytes(512), '512 B');
	assert.equal(f.bytes(147_456), '144 KiB');
	assert.equal(f.bytes(1.5 * 2 ** 30), '1.50 GiB');
});

test('a typed time is read with and without its unit', () => {
	assert.equal(f.parseTime('4,524.593', 1e6), 4_524_593_000);
	assert.equal(f.parseTime('12 ms', 1), 12_000_000);
	assert.equal(f.parseTime('1.5s', 1e6), 1_500_000_000);
	assert.equal(f.parseTime('7 µs', 1e9), 7_000);
	assert.equal(f.parseTime('7us', 1e9), 7_000);
	for (const bad of ['', 'x', '1 parsec', '1e99', '-', '.']) assert.equal(f.parseTime(bad, 1), null, bad);
});

test('a name is cut in the middle and keeps its end', () => {
	const name = 'ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_32x3_tn';
	const cut = f.middle(name, 25);
	assert.equal([...cut].length, 25);
	assert.ok(cut.startsWith('ampere_bf16_') && cut.endsWith('stages_32x3_tn'.slice(-12)));
	assert.equal(f.middle('short', 25), 'short');
});

test('a column whose smallest value would read as zero takes a smaller unit', () => {
	assert.equal(f.columnUnit([2e6, 3e6]).name, 'ms');
	assert.equal(f.columnUnit([2e6, 5e3]).name, 'µs');
	assert.equal(f.columnUnit([]).name, 'ns');
});

test('dates are UTC and name the year only when it is another one', () => {
	assert.equal(f.dayTime('2026-11-28T14:02:11Z', 2026), 'Nov 28 14:02');
	assert.equal(f.dayTime('2025-11-28T14:02:11Z', 2026), '2025 Nov 28');
	assert.equal(f.dayTime(null, 2026), '');
	assert.equal(f.dateTime('2026-11-28T14:02:11.123Z'), '2026-11-28 14:02:11 UTC');
});

test('a span of seconds reads like speech', () => {
	assert.equal(f.span(14.2), '14 s');
	assert.equal(f.span(200), '3 min 20 s');
	assert.equal(f.span(7500), '2 h 5 min');
});
