// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { decimalsForStep, niceStep, timeTicks, valueTicks } from '../src/lib/ticks';

test('steps are 1, 2 or 5 times a power of ten', () => {
	assert.equal(niceStep(0.8), 1);
	assert.equal(niceStep(1.2), 2);
	assert.equal(niceStep(4), 5);
	assert.equal(niceStep(6e6), 1e7);
});

test('labels of neighbouring ticks never read the same, at any zoom', () => {
	for (let exp = 2; exp < 13; exp++) {
		for (const start of [0, 1234, 4_524_593_000, 86_400_000_000_000]) {
			const t = timeTicks(start, start + 10 ** exp, 1150);
			const labels = t.ticks.map((x) => x.label.split(' ')[0]);
			assert.equal(new Set(labels).size, labels.length, `${start} + 1e${exp}: ${labels.join(' ')}`);
			assert.ok(t.ticks.length >= 1 && t.ticks.length <= 14, `${t.ticks.length} ticks`);
		}
	}
});

test('only the first label carries the unit', () => {
	const { ticks } = timeTicks(4_524_593_000, 4_536_593_000, 1150);
	assert.match(ticks[0].label, / ms$/);
	assert.ok(ticks.slice(1).every((t) => !t.label.includes(' ')));
});

test('ticks lie on multiples of the step and inside the window', () => {
	const t = timeTicks(-50, 7_000, 800);
	for (const x of t.ticks) {
		assert.equal(Math.abs(x.at % t.step), 0);
		assert.ok(x.at >= -50 && x.at <= 7_000);
	}
});

test('decimals follow the step', () => {
	assert.equal(decimalsForStep(10), 0);
	assert.equal(decimalsForStep(1), 0);
	assert.equal(decimalsForStep(0.5), 1);
	assert.equal(decimalsForStep(0.02), 2);
	assert.equal(decimalsForStep(0.001), 3);
});

test('a value axis starts at zero and reaches the maximum', () => {
	for (const max of [0.3, 1, 7, 99, 248.8e6]) {
		const t = valueTicks(max, 4);
		assert.equal(t[0], 0);
		assert.ok(t[t.length - 1] >= max * 0.999 && t.length <= 7);
	}
});
