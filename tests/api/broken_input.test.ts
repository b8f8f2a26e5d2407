// SPDX-License-Identifier: Apache-2.0
// Broken text as users of the API see it: where each repair begins, no NaN and no infinity in any answer, and faults with file,
// line and byte. What becomes of each kind is held in tests/unit/formats/test_broken_input.c.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { call } from '../lib/contract.ts';
import { startServer, uploadAndWait, type TestServer } from '../lib/server.ts';

let s: TestServer;
before(async () => { s = await startServer(); });
after(() => s.stop());

const X = '"ph":"X","pid":1,"tid":2';
const text = (t: string): Uint8Array => new TextEncoder().encode(t);

test('each repair is told with the byte of its first case, also of a packed file', async () => {
	const json = `{"traceEvents":[\n{${X},"name":"C:\\path","ts":1,"dur":1},\n{${X},"name":"no length","ts":2},\n`
		+ `{${X},"name":"say "hi"","ts":3,"dur":1},\n{${X},"name":"end","ts":4,"dur":1}]}`;
	for (const bytes of [text(json), gzipSync(text(`${json} `))]) {
		const b = await uploadAndWait(s, 'odd.json', bytes);
		assert.equal(b.state, 'ready', JSON.stringify(b));
		const places = { escape_invalid: json.indexOf('\\path'), x_without_dur: json.indexOf(`{${X},"name":"no length"`), event_unreadable: json.indexOf(`{${X},"name":"say`) };
		for (const path of ['', '/analysis']) {
			const r = await call<{ losses: { code: string; count: number; first_offset?: number }[] }>(s, 'GET', `/api/v1/traces/${b.traces[0]!.id}${path}`);
			assert.equal(r.status, 200);
			for (const [code, first_offset] of Object.entries(places))
				assert.deepEqual(r.json.losses.find((l) => l.code === code), { code, count: 1, first_offset }, path);
		}
		const sum = b.losses.find((l) => l.code === 'escape_invalid');
		assert.deepEqual(sum, { code: 'escape_invalid', count: 1 }, 'a sum over traces has no place');
	}
});

test('no answer holds NaN or an infinity', async () => {
	const json = `{"bw":Infinity,"schemaVersion":1,"traceEvents":[`
		+ `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":5,"args":{"device":0,"stream":7,"correlation":1,"blocks per SM":1e300,"warps per SM":inf,"est. achieved occupancy %":NaN,"memory bandwidth (GB/s)":-Infinity}},`
		+ `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":NaN},{"ph":"X","cat":"cuda_runtime","name":"call","pid":1,"tid":1,"ts":1,"dur":2,"args":{"correlation":1,"x":nan}},`
		+ `{"ph":"C","name":"c","pid":1,"ts":1,"args":{"v":NaN,"w":1e999,"x":"inf","y":2}},{"ph":"C","name":"c","pid":1,"ts":5,"args":{"y":1e308}}]}`;
	const b = await uploadAndWait(s, 'nan.json', text(json));
	assert.equal(b.state, 'ready', JSON.stringify(b));
	const id = b.traces[0]!.id;
	const decode = new TextDecoder();
	const tracks = (await call<{ tracks: { id: number; kind: string }[] }>(s, 'GET', `/api/v1/traces/${id}/tracks`)).json.tracks;
	const counters = tracks.filter((t) => t.kind === 'counter');
	assert.equal(counters.length, 1, 'only the counter with numbers');
	const paths = ['', '/tracks', '/slices/0', '/slices/1', '/analysis', '/kernels', '/steps', '/export/chrome'];
	let seen = 0;
	for (const path of paths) {
		const r = await fetch(`${s.url}/api/v1/traces/${id}${path}`);
		const answer = decode.decode(new Uint8Array(await r.arrayBuffer()));
		assert.ok(r.ok || r.status === 404, `${path}: ${r.status} ${answer}`);
		seen += r.ok ? 1 : 0;
		JSON.parse(answer); // NaN and Infinity are no JSON
		assert.doesNotMatch(answer, /[:[,]\s*-?(nan|inf)/i, path);
		assert.doesNotMatch(answer, /1e\+?999/, path);
	}
	assert.ok(seen >= 6, `${seen} answers`);
});

test('a fault is told with file, line, byte and words', async () => {
	const good = `{${X},"name":"a","ts":1,"dur":1}`;
	const cases: [string, string, string, number, RegExp][] = [
		['cut.json', `{"traceEvents":[\n${good},\n{"ph":"X","na`, 'json_truncated', 0, /line 3: .*cut or is still being written/],
		['quote.json', `[\n${good},\n${good},\n{${X},"name":"say "hi""}]`, 'json_syntax', 0, /line 4: .*quote inside a text is not escaped/],
		['deep.json', `[\n{${X},"args":{"k":${'['.repeat(200)}`, 'json_too_deep', 0, /line 2: .*nested deeper than 64/],
		['lines.json', `${good}\n${good}\n`, 'not_a_timeline', -1, /one on each line: put them into a list/],
		['wide.json', `\u00ff\u00fe[`, 'encoding_unsupported', 0, /UTF-16.*iconv/],
	];
	for (const [name, json, code, offset, words] of cases) {
		const b = await uploadAndWait(s, name, name === 'wide.json' ? Buffer.from(json, 'latin1') : text(json));
		assert.equal(b.state, 'failed', JSON.stringify(b));
		assert.equal(b.error!.code, code, JSON.stringify(b.error));
		assert.equal(b.error!.file, name);
		assert.match(b.error!.message, words);
		if (offset >= 0) assert.ok(b.error!.offset! >= 0 && b.error!.offset! <= json.length, JSON.stringify(b.error));
	}
});
