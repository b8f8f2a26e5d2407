// SPDX-License-Identifier: Apache-2.0
// The Chrome JSON export against the source file, event by event, and against itself: uploaded again it is the same
// trace (slices, flows, counters, launches, tracks), and its own export has the same events, byte for byte.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { hardFile, oddFile } from '../lib/hard_file.ts';
import { parseRaw, usToNs } from '../lib/raw_trace.ts';
import { getJson, startServer, uploadAndWait, type TestServer } from '../lib/server.ts';

const testdata = process.env.FLEETSCOPE_TESTDATA;
let server: TestServer;
before(async () => { server = await startServer(); });
after(() => server.stop());

interface Event { ph: string; name?: string; cat?: string; ts?: string; dur?: string; pid?: unknown; tid?: unknown; id?: unknown; bp?: string; args?: Record<string, unknown> }

async function indexed(name: string, bytes: Uint8Array): Promise<string> {
	const bundle = await uploadAndWait(server, name, bytes);
	assert.equal(bundle.state, 'ready', JSON.stringify(bundle.error));
	return bundle.traces[0]!.id;
}

async function exported(traceId: string, range = ''): Promise<Buffer> {
	const r = await fetch(`${server.url}/api/v1/traces/${traceId}/export/chrome${range}`);
	assert.equal(r.status, 200, await (r.ok ? '' : r.text()));
	assert.match(r.headers.get('content-type')!, /^application\/json/);
	assert.match(r.headers.get('content-disposition')!, /\.json"$/);
	return Buffer.from(await r.arrayBuffer());
}

/** How often each line occurs; the difference of two of them is what a test shows. */
function count(lines: string[]): Map<string, number> {
	const m = new Map<string, number>();
	for (const l of lines) m.set(l, (m.get(l) ?? 0) + 1);
	return m;
}
function sameLines(what: string, got: string[], want: string[]) {
	const a = count(got), b = count(want), wrong: string[] = [];
	for (const [k, n] of b) if (a.get(k) !== n) wrong.push(`${k}: file has ${n}, export ${a.get(k) ?? 0}`);
	for (const [k, n] of a) if (!b.has(k)) wrong.push(`${k}: file has 0, export ${n}`);
	assert.equal(wrong.length, 0, `${what}: ${wrong.length} differ:\n${wrong.slice(0, 6).join('\n')}`);
}

/** Absolute ns; what no reader can place has none. */
const abs = (base: bigint, ts: unknown): bigint | undefined => {
	const ns = ts === undefined || ts === null ? undefined : usToNs(String(ts));
	return ns === undefined ? undefined : ns + base;
};
/** An id of a process or thread: numbers and their text are the same, and so are the empty text and -1. */
const id = (v: unknown): string => String(v ?? '') || '-1';

function slices(base: bigint, events: Event[]): string[] {
	return events.filter((e) => e?.ph === 'X' && abs(0n, e.ts) !== undefined && abs(0n, e.dur) !== undefined)
		.map((e) => `${abs(base, e.ts)} ${usToNs(String(e.dur))} ${id(e.pid)}/${id(e.tid ?? e.pid)} ${e.cat ?? ''} ${e.name ?? ''} ${JSON.stringify(e.args ?? {})}`);
}
function instants(base: bigint, events: Event[]): string[] {
	return events.filter((e) => 'iIR'.includes(e?.ph) && abs(0n, e.ts) !== undefined).map((e) => `${abs(base, e.ts)} ${id(e.pid)}/${id(e.tid ?? e.pid)} ${e.name ?? ''} ${JSON.stringify(e.args ?? {})}`);
}
function samples(base: bigint, events: Event[]): string[] {
	return events.filter((e) => e?.ph === 'C').flatMap((e) => Object.entries(e.args ?? {}).map(([k, v]) => `${abs(base, e.ts)} ${id(e.pid)} ${e.name} ${k} ${Number(v)}`));
}
/** The last of each kind of name counts, and only of identities that have events. */
function names(events: Event[]): string[] {
	const raw = (v: unknown) => String(v ?? ''); // here the empty text is not yet -1: one may have events, the other none
	const used = new Set<string>(), m = new Map<string, string>();
	for (const e of events) if (e && e.ph !== 'M' && 'XiIR'.includes(e.ph)) used.add(raw(e.pid)).add(`${raw(e.pid)}/${raw(e.tid ?? e.pid)}`);
	for (const e of events) {
		if (e?.ph !== 'M' || !/^(process_(name|labels|sort_index)|thread_(name|sort_index))$/.test(e.name ?? '')) continue;
		const process = e.name!.startsWith('p'), value = Object.values(e.args ?? {})[0];
		const who = process ? id(e.pid) : `${id(e.pid)}/${id(e.tid ?? e.pid)}`;
		if (used.has(process ? raw(e.pid) : `${raw(e.pid)}/${raw(e.tid ?? e.pid)}`)) m.set(`${e.name} ${who}`, String(value ?? ''));
	}
	return [...m].filter(([k, v]) => v !== '' && !(k.includes('sort_index') && v === '0')).map(([k, v]) => `${k} = ${v}`);
}

const parts = ['slices', 'instants', 'flows', 'counters', 'tracks', 'launch', 'categories', 't_base_ns', 't_min_ns', 't_max_ns', 'rank', 'world_size', 'synthetic'] as const;
async function answers(traceId: string) {
	const t = await getJson(server, `/traces/${traceId}`);
	return {
		trace: Object.fromEntries(parts.map((p) => [p, t[p]])),
		tracks: await getJson(server, `/traces/${traceId}/tracks`),
		flows: await getJson(server, `/traces/${traceId}/flows?t0=0&t1=${t.t_max_ns + 1}&limit=5000`),
		analysis: await getJson(server, `/traces/${traceId}/analysis`).then(({ losses: _, ...rest }) => rest),
	};
}
/** The trace that the export is when it is uploaded must answer as the first one does. */
async function sameTrace(first: string, name: string, bytes: Buffer): Promise<string> {
	const again = await indexed(name, bytes);
	assert.notEqual(again, first);
	const a = await answers(again), b = await answers(first);
	for (const k of Object.keys(b) as (keyof typeof b)[]) assert.deepEqual(a[k], b[k], k);
	const eventsOf = (x: Buffer) => x.subarray(x.indexOf('"traceEvents":['));
	assert.ok(eventsOf(await exported(again)).equals(eventsOf(bytes)), 'the export of the export has other events');
	return again;
}

async function checkFile(name: string, bytes: Uint8Array) {
	const want = parseRaw(bytes), traceId = await indexed(name, bytes), text = await exported(traceId);
	const got = parseRaw(text), a = got.doc.traceEvents as Event[], b = want.doc.traceEvents as Event[];
	assert.equal(got.doc.schemaVersion, 1);
	for (const e of a) for (const v of [e.ts, e.dur]) if (v !== undefined) assert.match(v, /^\d+\.\d{3}$/);
	sameLines('slices', slices(got.base, a), slices(want.base, b));
	sameLines('instants', instants(got.base, a), instants(want.base, b));
	sameLines('counters', samples(got.base, a), samples(want.base, b));
	sameLines('names', names(a), names(b));
	for (const [k, v] of Object.entries(want.doc)) if (!['traceEvents', 'schemaVersion', 'baseTimeNanoseconds'].includes(k)) assert.deepEqual(got.doc[k], v, k);
	await sameTrace(traceId, name, text);
	return { traceId, want, got, events: a };
}

const files = [
	'hta/call_stack/backward_thread.json',
	'hta/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz',
	'hta/gpu_user_annotation/step_based_trace_2543932.json.gz',
	'tracelens/b200/eager_trace.json.gz',
	'param/dlrm_8rank/worker0_step_12.1694128201545.pt.trace.json',
	'kineto/resnet50_num_workers_0_worker0.1623143089861.pt.trace.json.gz',
	'tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz',
	'hta/df_index_resolver/df_index_resolver.json.gz',
];
for (const f of files) {
	const path = testdata ? join(testdata, 'gpu-traces', f) : '';
	test(`${f}: the export has every event, and is the same trace when it is read again`, { skip: existsSync(path) ? false : 'skipped, no test data' }, async () => {
		await checkFile(basename(f), readFileSync(path));
	});
}

test('overlaps, zero lengths, text ids, graph launches of hundreds of kernels', async () => {
	const { events } = await checkFile('hard.json', hardFile());
	assert.equal(events.filter((e) => e.ph === 's').length, 1);
	assert.equal(events.filter((e) => e.ph === 'f').length, 1);
	const inner = events.find((e) => e.name?.startsWith('inner "'))!;
	assert.deepEqual(inner.args, { text: 'a"b\\c', list: [1, { k: null }], big: 12345678901234, f: 0.5, yes: true });
});

test('begins and ends, async work, flows into the middle and to covered slices, odd counters and names', async () => {
	const bytes = oddFile(), traceId = await indexed('odd.json', bytes), text = await exported(traceId);
	const events = JSON.parse(text.toString()).traceEvents as Event[];
	const before = await answers(traceId);
	assert.equal(before.flows.items.length, 7);
	assert.equal(before.trace.synthetic, true);
	assert.equal(events.filter((e) => e.ph === 'B').length, 1, 'the begin without end');
	assert.equal(events.filter((e) => e.ph === 'b').length, events.filter((e) => e.ph === 'e').length);
	await sameTrace(traceId, 'odd.json', text);
});

test('a range holds every slice that touches it, whole, and flows with both ends', async () => {
	const bytes = hardFile(), want = parseRaw(bytes), traceId = await indexed('hard.json', bytes);
	const first = want.slices.reduce((m, s) => (s.ts < m ? s.ts : m), want.slices[0]!.ts);
	const t0 = 91_000n, t1 = 101_500n; // ns from the first event
	const got = parseRaw(await exported(traceId, `?t0=${t0}&t1=${t1}`));
	const touching = want.slices.filter((s) => s.ts - first < t1 && (s.dur ? s.ts + s.dur - first > t0 : s.ts - first >= t0));
	assert.ok(touching.length > 5 && touching.length < want.slices.length);
	const line = (s: (typeof touching)[0]) => `${s.ts} ${s.dur} ${s.pid}/${s.tid} ${s.name}`;
	sameLines('slices', got.slices.map(line), touching.map(line));
	assert.equal((got.doc.traceEvents as Event[]).filter((e) => e.ph === 's' || e.ph === 'f').length, 0, 'the flow starts before the range');
	assert.deepEqual({ t0: (got.doc.fleetscope as any).t0_ns, t1: (got.doc.fleetscope as any).t1_ns }, { t0: Number(t0), t1: Number(t1) });
	await indexed('range.json', await exported(traceId, `?t0=${t0}&t1=${t1}`));
});
