// SPDX-License-Identifier: Apache-2.0
// The parts of a device's window. Pure. They are whole ns and add up exactly; percentages are rounded so that what is
// printed adds up too.
import type { Device, Idle } from '../lib/types';

export type Part = { key: string; label: string; ns: number; group: string };

/**
 * compute + exposed communication + exposed copies + unclassified = busy; idle is split by cause when the idle rows of
 * the device's main stream say so (their sum is scaled to nothing: what they leave out of idle is "other").
 */
export function partsOf(d: Device, idle: Idle | null): Part[] {
	const busy: Part[] = [
		{ key: 'compute', label: 'compute', ns: d.compute_ns, group: 'compute' },
		{ key: 'comm', label: 'exposed comm', ns: d.exposed_comm_ns, group: 'comm' },
		{ key: 'copy', label: 'exp. copies', ns: d.exposed_memcpy_ns, group: 'copy' },
		{ key: 'uncl', label: 'unclassified', ns: d.busy_ns - d.compute_ns - d.exposed_comm_ns - d.exposed_memcpy_ns, group: 'uncl' },
	];
	return [...busy, ...idleParts(d.idle_ns, idle)];
}

function idleParts(total: number, idle: Idle | null): Part[] {
	const whole = idle ? idle.host_wait_ns + idle.kernel_wait_ns + idle.other_ns : 0;
	// Rows of one stream explain the idle time of the device only if that stream is what the device waits on.
	if (!idle || whole <= 0 || idle.host_wait_ns < 0 || idle.kernel_wait_ns < 0 || idle.host_wait_ns + idle.kernel_wait_ns > total) {
		return [{ key: 'idle', label: 'idle', ns: total, group: 'i-host' }];
	}
	return [
		{ key: 'host', label: 'idle: host wait', ns: idle.host_wait_ns, group: 'i-host' },
		{ key: 'kernel', label: 'kernel wait', ns: idle.kernel_wait_ns, group: 'i-kernel' },
		{ key: 'other', label: 'other', ns: total - idle.host_wait_ns - idle.kernel_wait_ns, group: 'i-other' },
	];
}

/** Shares in per cent with one decimal whose printed values add up to exactly 100.0 (largest remainders). */
export function percents(parts: readonly { ns: number }[], whole: number): number[] {
	if (!(whole > 0)) return parts.map(() => 0);
	const exact = parts.map((p) => (p.ns * 1000) / whole);
	const out = exact.map(Math.floor);
	let missing = Math.round(exact.reduce((a, v) => a + v, 0)) - out.reduce((a, v) => a + v, 0);
	const order = exact.map((v, i) => [v - Math.floor(v), i] as const).sort((a, b) => b[0] - a[0]);
	for (const [, i] of order) {
		if (missing <= 0) break;
		out[i]++;
		missing--;
	}
	return out.map((v) => v / 10);
}

/** The idle row of the stream with most work on the device: the one named by the server, else the only one. */
export function mainIdle(d: Device, idle: readonly Idle[] | undefined): Idle | null {
	const mine = (idle ?? []).filter((i) => i.device === d.device);
	if (typeof d.main_stream === 'number') return mine.find((i) => i.stream === d.main_stream) ?? null;
	return mine.length === 1 ? mine[0] : null;
}

export function quantile(values: readonly number[], q: number): number {
	if (values.length === 0) return 0;
	const v = [...values].sort((a, b) => a - b);
	const at = (v.length - 1) * q;
	const lo = Math.floor(at);
	const hi = Math.ceil(at);
	return v[lo] + (v[hi] - v[lo]) * (at - lo);
}

/** Steps clearly longer than the median: above 1.2 times it, and named in the picture. */
export function slowSteps(durations: readonly number[]): number[] {
	const m = quantile(durations, 0.5);
	return durations.map((d, i) => [d, i] as const).filter(([d]) => d > 1.2 * m).sort((a, b) => b[0] - a[0]).map(([, i]) => i);
}
