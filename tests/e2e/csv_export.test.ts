// SPDX-License-Identifier: Apache-2.0
// The CSV export, read back by a parser written from RFC 4180, against the source file: every slice, exact ns, and no
// cell that a spreadsheet would run.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { hardFile, oddFile } from '../lib/hard_file.ts';
import { parseRaw } from '../lib/raw_trace.ts';
import { startServer, uploadAndWait, type TestServer } from '../lib/server.ts';

const testdata = process.env.FLEETSCOPE_TESTDATA;
let server: TestServer;
before(async () => { server = await startServer(); });
after(() => server.stop());

const columns = ['slice', 'track', 'pid', 'process', 'tid', 'thread', 'device', 'stream', 'depth', 'ts_ns', 'abs_ts_ns', 'dur_ns', 'name', 'category', 'kind', 'flags', 'correlation'] as const;
type Row = Record<(typeof columns)[number], string>;

/** Records of RFC 4180: CRLF ends each, quotes only around a whole field. */
function parseCsv(text: string): string[][] {
	const rows: string[][] = [];
	let row: string[] = [], i = 0;
	while (i < text.length) {
		let field = '';
		if (text[i] === '"') {
			for (i++; ; i++) {
				assert.ok(i < text.length, 'a quote is not closed');
				if (text[i] !== '"') field += text[i];
				else if (text[i + 1] === '"') { field += '"'; i++; }
				else break;
			}
			i++;
		} else {
			while (i < text.length && !',\r\n"'.includes(text[i]!)) field += text[i++];
		}
		row.push(field);
		if (text[i] === ',') { i++; continue; }
		assert.equal(text.slice(i, i + 2), '\r\n', `record ${rows.length}`);
		i += 2;
		rows.push(row);
		row = [];
	}
	assert.equal(row.length, 0, 'the last record is not ended');
	return rows;
}

/** The text that a cell stands for. */
const plain = (cell: string): string => (cell.startsWith("'") ? cell.slice(1) : cell);

async function upload(name: string, bytes: Uint8Array): Promise<string> {
	const bundle = await uploadAndWait(server, name, bytes);
	assert.equal(bundle.state, 'ready', JSON.stringify(bundle.error));
	return bundle.traces[0]!.id;
}
async function exported(traceId: string, range = ''): Promise<Row[]> {
	const r = await fetch(`${server.url}/api/v1/traces/${traceId}/export/csv${range}`);
	assert.equal(r.status, 200);
	assert.equal(r.headers.get('content-type'), 'text/csv; charset=utf-8');
	assert.match(r.headers.get('content-disposition')!, /\.csv"$/);
	const [head, ...rows] = parseCsv(await r.text());
	assert.deepEqual(head, columns);
	return rows.map((v) => {
		assert.equal(v.length, columns.length);
		return Object.fromEntries(columns.map((c, i) => [c, v[i]!])) as Row;
	});
}

function sameSlices(rows: Row[], bytes: Uint8Array) {
	const key = (ts: bigint | string, dur: bigint | string, name: string, cat: string, pid: string, tid: string) => `${ts} ${dur} ${pid}/${tid} ${cat} ${name}`;
	const id = (v: string) => v || '-1';
	const want = parseRaw(bytes).slices.map((s) => key(s.ts, s.dur, s.name, s.cat, id(s.pid), id(s.tid))).sort();
	const got = rows.filter((r) => r.kind !== 'instant').map((r) => key(r.abs_ts_ns, r.dur_ns, plain(r.name), plain(r.category), id(plain(r.pid)), id(plain(r.tid)))).sort();
	assert.deepEqual(got.filter((x, i) => x !== want[i]).slice(0, 5), []);
	assert.equal(got.length, want.length);
}

for (const f of ['hta/call_stack/backward_thread.json', 'param/dlrm_8rank/worker0_step_12.1694128201545.pt.trace.json', 'kineto/resnet50_num_workers_0_worker0.1623143089861.pt.trace.json.gz']) {
	const path = testdata ? join(testdata, 'gpu-traces', f) : '';
	test(`${f}: one row for every slice`, { skip: existsSync(path) ? false : 'skipped, no test data' }, async () => {
		const bytes = readFileSync(path);
		sameSlices(await exported(await upload(basename(f), bytes)), bytes);
	});
}

test('quotes, line breaks, overlaps and kinds', async () => {
	const bytes = hardFile(), rows = await exported(await upload('hard.json', bytes));
	sameSlices(rows, bytes);
	assert.equal(rows.find((r) => r.name === 'gemm')!.kind, 'compute');
	assert.equal(rows.find((r) => r.name === 'gemm')!.correlation, '1');
	assert.equal(rows.find((r) => r.name === 'gemm')!.stream, '7');
	assert.equal(rows.find((r) => r.name === 'crosses the end of outer')!.flags, 'overlap');
	assert.equal(rows.find((r) => r.name === 'mark')!.kind, 'instant');
	assert.equal(rows.find((r) => r.name === 'text ids')!.pid, 'Spans');
	for (const r of rows) assert.equal(BigInt(r.abs_ts_ns) - BigInt(r.ts_ns), BigInt(rows[0]!.abs_ts_ns) - BigInt(rows[0]!.ts_ns));
});

test('no text cell begins with what a spreadsheet runs, and what was put in front can be taken off', async () => {
	const names = ['=1+1', '+1', '-1', '@SUM(A1)', '\ttab', '\rreturn', "'quoted", '="a"', ' =later', '=a,b', 'plain', ''];
	const events = names.map((name, i) => ({ ph: 'X', name, cat: name, pid: name || 'p', tid: 1, ts: i, dur: 1 }));
	const rows = await exported(await upload('cells.json', Buffer.from(JSON.stringify({ traceEvents: events }))));
	assert.deepEqual(rows.map((r) => plain(r.name)).sort(), [...names].sort());
	for (const r of rows) for (const c of ['name', 'category', 'process', 'thread'] as const) assert.doesNotMatch(r[c], /^[=+\-@\t\r]/);
	for (const r of rows) if (!/^-?\d+$/.test(r.pid)) assert.doesNotMatch(r.pid, /^[=+\-@\t\r]/);
});

test('begins without end are marked, async work has no thread', async () => {
	const rows = await exported(await upload('odd.json', oddFile()));
	assert.equal(rows.find((r) => r.name === 'never ends')!.flags, 'open');
	assert.equal(rows.find((r) => r.name === 'request')!.tid, '');
	assert.equal(plain(rows.find((r) => plain(r.name) === '=1+1')!.name), '=1+1');
	assert.ok(rows.some((r) => r.name === 'says "a, b"\r\nand more'));
});

test('a range holds the slices that touch it', async () => {
	const all = await exported(await upload('hard.json', hardFile())), id = (await upload('hard.json', hardFile()));
	const t0 = 91_000n, t1 = 101_500n, got = await exported(id, `?t0=${t0}&t1=${t1}`);
	const want = all.filter((r) => BigInt(r.ts_ns) < t1 && (r.dur_ns !== '0' ? BigInt(r.ts_ns) + BigInt(r.dur_ns) > t0 : BigInt(r.ts_ns) >= t0));
	assert.ok(want.length > 5 && want.length < all.length);
	assert.deepEqual(got, want);
});
