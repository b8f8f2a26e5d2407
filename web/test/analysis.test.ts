// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { mainIdle, partsOf, percents, quantile, slowSteps } from '../src/analysis/parts';
import { byKind, kernelHref, sortKernels } from '../src/analysis/kernel_rows';
import type { Device, Kernel } from '../src/lib/types';
import { median } from '../src/lib/stats';

const device: Device = {
	device: 3, window_ns: 1_000_003, busy_ns: 581_001, idle_ns: 419_002, compute_ns: 455_000, comm_ns: 190_000, memcpy_ns: 9_000,
	exposed_comm_ns: 114_000, exposed_memcpy_ns: 4_000, comm_overlap_ns: 76_000, unclassified_ns: 8_001,
};

test('the parts of a window add up to it exactly, with and without causes of idle', () => {
	const idle = { device: 3, stream: 7, host_wait_ns: 410_000, kernel_wait_ns: 6_000, other_ns: 3_002 };
	for (const i of [null, idle]) {
		const parts = partsOf(device, i);
		assert.equal(parts.reduce((a, p) => a + p.ns, 0), device.window_ns);
		assert.ok(parts.every((p) => p.ns >= 0));
	}
	assert.equal(partsOf(device, idle).length, 7);
});

test('printed percentages add up to exactly 100.0', () => {
	for (const list of [[1, 1, 1], [455_000, 114_000, 4_000, 8_001, 410_000, 6_000, 3_002], [999_999, 1], [0, 5, 0]]) {
		const whole = list.reduce((a, v) => a + v, 0);
		const p = percents(list.map((ns) => ({ ns })), whole);
		assert.equal(Math.round(p.reduce((a, v) => a + v, 0) * 10), 1000);
		p.forEach((v, i) => assert.ok(Math.abs(v - (100 * list[i]) / whole) < 0.1));
	}
	assert.deepEqual(percents([{ ns: 0 }], 0), [0]);
});

test('idle causes that do not explain the idle time are not shown', () => {
	const over = { device: 3, stream: 7, host_wait_ns: 500_000, kernel_wait_ns: 6_000, other_ns: 0 };
	assert.deepEqual(partsOf(device, over).map((p) => p.key).slice(-1), ['idle']);
	const negative = { device: 3, stream: 7, host_wait_ns: -5, kernel_wait_ns: 6_000, other_ns: 9 };
	assert.equal(partsOf(device, negative).length, 5);
});

test('the idle row comes from the main stream, or from the only one', () => {
	const row = (stream: number) => ({ device: 3, stream, host_wait_ns: 1, kernel_wait_ns: 1, other_ns: 1 });
	assert.equal(mainIdle(device, [row(7), row(20)]), null);
	assert.equal(mainIdle(device, [row(7)])?.stream, 7);
	assert.equal(mainIdle({ ...device, main_stream: 20 }, [row(7), row(20)])?.stream, 20);
});

test('slow steps stand out from the median', () => {
	assert.deepEqual(slowSteps([100, 101, 99, 150, 100, 300]), [5, 3]);
	assert.equal(quantile([1, 2, 3, 4], 0.5), 2.5);
	assert.equal(quantile([], 0.5), 0);
	assert.equal(median([3, 1, 2]), 2);
	assert.equal(median([]), null);
});

const kernel = (name: string, sum: number, count: number, kind = 'compute'): Kernel => ({ name, kind, count, sum_ns: sum, min_ns: 1, max_ns: 9, mean_ns: sum / count });

test('kernels sort by every column, ties by time', () => {
	const list = [kernel('b', 10, 5), kernel('a', 30, 5), kernel('c', 20, 1, 'comm')];
	assert.deepEqual(sortKernels(list, 'name', true).map((k) => k.name), ['a', 'b', 'c']);
	assert.deepEqual(sortKernels(list, 'sum_ns', false).map((k) => k.name), ['a', 'c', 'b']);
	assert.deepEqual(sortKernels(list, 'share', true).map((k) => k.name), ['b', 'c', 'a']);
	assert.deepEqual(sortKernels(list, 'count', false).map((k) => k.name), ['a', 'b', 'c']);
});

test('kinds sum up their kernels', () => {
	const rows = byKind([kernel('b', 10, 5), kernel('a', 30, 5), kernel('c', 20, 1, 'comm')]);
	assert.deepEqual(rows.map((k) => [k.name, k.sum_ns, k.count, k.mean_ns]), [['compute', 40, 10, 4], ['communication', 20, 1, 20]]);
});

test('a kernel row leads to its first occurrence and searches for its name', () => {
	const u = new URL(kernelHref('t1', { ...kernel('f<1.5>(x)', 1e6, 1), first: { track: 4, ts: 5_000_000, slice: 9 } }), 'http://x');
	assert.equal(u.searchParams.get('q'), 'f<1.5>(x)');
	assert.equal(u.searchParams.get('sel'), '4.5000000.f<1.5>(x)');
	assert.ok(Number(u.searchParams.get('t0')) < 5_000_000 && Number(u.searchParams.get('t1')) > 6_000_000);
});
