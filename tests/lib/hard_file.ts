// SPDX-License-Identifier: Apache-2.0
// A made-up trace for the tests of exports.

/** A file with what real ones rarely have all at once; ts and dur in us. */
export function hardFile(): Uint8Array {
	const x = (name: string, cat: string, pid: unknown, tid: unknown, ts: string, dur: string, args: object = {}) =>
		`{"ph":"X","name":${JSON.stringify(name)},"cat":"${cat}","pid":${JSON.stringify(pid)},"tid":${JSON.stringify(tid)},"ts":${ts},"dur":${dur},"args":${JSON.stringify(args)}}`;
	const kernel = (name: string, ts: string, dur: string, correlation: number) => x(name, 'kernel', 0, 7, ts, dur, { device: 0, context: 1, stream: 7, correlation, grid: [16, 64, 1], block: [256, 1, 1] });
	const call = (name: string, ts: string, correlation: number) => x(name, 'cuda_runtime', 100, 100, ts, '2', { correlation });
	const events = [
		x('outer', 'cpu_op', 100, 100, '10', '100.125'),
		x('inner "quoted" \u00e9 \n', 'cpu_op', 100, 100, '11.5', '3', { text: 'a"b\\c', list: [1, { k: null }], big: 12345678901234, f: 0.5, yes: true }),
		x('zero', 'cpu_op', 100, 100, '11.5', '0'),
		x('zero', 'cpu_op', 100, 100, '110.125', '0'),
		x('crosses the end of outer', 'cpu_op', 100, 100, '100', '50.001'),
		x('inside what crosses', 'cpu_op', 100, 100, '120', '1'),
		x('crosses too', 'cpu_op', 100, 100, '105', '60'),
		x('text ids', 'cpu_op', 'Spans', 'Lane one', '20', '5'),
		call('cudaLaunchKernel', '30', 1), call('cudaLaunchKernel', '33', 2), call('cudaGraphLaunch', '40', 3),
		kernel('gemm', '35', '10', 1), kernel('starts before gemm ends', '40.001', '10', 2),
		...Array.from({ length: 300 }, (_, i) => kernel(`graph kernel ${i % 7}`, `${60 + i}.25`, '0.75', 3)),
		kernel('no launch', '500', '1', 999),
		`{"ph":"s","id":5,"cat":"fwdbwd","name":"fwdbwd","pid":100,"tid":100,"ts":11.5}`,
		`{"ph":"f","id":5,"cat":"fwdbwd","name":"fwdbwd","pid":100,"tid":100,"ts":120,"bp":"e"}`,
		`{"ph":"C","name":"queue","pid":100,"ts":10,"args":{"length":3}}`,
		`{"ph":"C","name":"queue","pid":100,"ts":20.5,"args":{"length":4.5}}`,
		`{"ph":"i","name":"mark","cat":"x","pid":100,"tid":100,"ts":15,"s":"t"}`,
	];
	return Buffer.from(`{"schemaVersion":1,"baseTimeNanoseconds":1727743122000000000,"traceEvents":[\n${events.join(',\n')}\n]}`);
}

/** What files of other tools have: begins and ends, async work, flows that readers must find the slice for. */
export function oddFile(): Uint8Array {
	const t = { pid: 7, tid: 9 };
	const x = (name: string, ts: number, dur: number, more: object = {}) => ({ ph: 'X', name, cat: 'op', ...t, ts, dur, ...more });
	const flow = (ph: string, id: unknown, ts: number, more: object = {}) => ({ ph, id, cat: 'f', name: 'link', ...t, ts, ...more });
	const events = [
		{ ph: 'M', name: 'process_name', ...t, args: { name: 'worker "one" \u0001' } },
		{ ph: 'M', name: 'process_labels', ...t, args: { labels: 'GPU 0' } },
		{ ph: 'M', name: 'process_sort_index', ...t, args: { sort_index: -3 } },
		{ ph: 'M', name: 'thread_name', ...t, args: { name: 'main' } },
		{ ph: 'M', name: 'thread_sort_index', ...t, args: { sort_index: 12 } },
		{ ph: 'B', name: 'never ends', cat: 'op', ...t, ts: 5 },
		{ ph: 'B', name: 'ends', cat: 'op', ...t, ts: 10, args: { a: 1 } }, { ph: 'E', ...t, ts: 90.5, args: { b: 2 } },
		x('parent', 20, 20), x('child at the start', 20, 5), x('child in the middle', 30, 5),
		x('covered', 50, 10), x('first half', 50, 5), x('second half', 55, 5),
		x('target', 62, 4), x('target child', 62, 2), x('other target', 70, 3), x('of nothing', 75, 0),
		// To the parent where no child is, to the start of both, out of a covered slice by bind_id, in three steps, backwards.
		flow('s', 1, 27), flow('f', 1, 63, { bp: 'e' }),
		flow('s', 2, 31), flow('f', 2, 62),
		flow('s', '0x3', 38), flow('t', '0x3', 64.5), flow('f', '0x3', 71, { bp: 'e' }),
		flow('s', 'text', 71), flow('f', 'text', 75, { bp: 'e' }),
		x('flows by itself', 80, 1, { bind_id: '0x77', flow_out: true }), x('gets it', 82, 1, { bind_id: '0x77', flow_in: true }),
		{ ph: 'b', name: 'request', cat: 'net', id: 5, pid: 7, ts: 20, args: { url: '/' } }, { ph: 'b', name: 'part', cat: 'net', id: 5, pid: 7, ts: 22 },
		{ ph: 'n', name: 'byte', cat: 'net', id: 5, pid: 7, ts: 23 }, { ph: 'e', name: 'request', cat: 'net', id: 5, pid: 7, ts: 30 },
		{ ph: 'e', name: 'part', cat: 'net', id: 5, pid: 7, ts: 33 }, { ph: 'b', name: 'request', cat: 'net', id: 6, pid: 7, ts: 21, bind_id: 900, flow_out: true },
		{ ph: 'e', name: 'request', cat: 'net', id: 6, pid: 7, ts: 29 }, x('answers the request', 85, 1, { bind_id: 900, flow_in: true }),
		{ ph: 'C', name: 'memory use', id: 3, pid: 7, ts: 10, args: { 'free bytes': 1e15, 'a"b\\': -0.25 } },
		{ ph: 'C', name: '', pid: 7, ts: 11, args: { '': 7 } },
		{ ph: 'i', name: '[memory]', ...t, ts: 40, s: 't', args: { 'Device Type': 1, 'Device Id': 0, 'Total Allocated': 5, 'Total Reserved': 9, Bytes: 5 } },
		x('args are no object', 87, 1, { args: [1, 2] }), x('=1+1', 88, 1), x('says "a, b"\r\nand more', 89, 1),
	];
	return Buffer.from(JSON.stringify({ synthetic: true, distributedInfo: { rank: 2, world_size: 4 }, note: { deep: [1, 'two'] }, traceEvents: events }));
}
