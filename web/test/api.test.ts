// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError, getJson, getWithProgress, setUnauthorised, url } from '../src/lib/api';
import { smoothRate } from '../src/lib/transfers';

const answer = (r: () => Response) => {
	globalThis.fetch = (() => Promise.resolve(r())) as unknown as typeof fetch;
};
const none = new AbortController().signal;

test('parameters that are not given are left out of an address', () => {
	assert.equal(url('/traces', { q: 'a b&c', limit: 5, cursor: undefined, job: '' }), '/api/v1/traces?q=a+b%26c&limit=5');
	assert.equal(url('/traces'), '/api/v1/traces');
});

test('a failure carries the message, the code and the request id', async () => {
	answer(() => new Response('{"error":{"code":"bad_parameter","message":"parameter t0: not a number","request_id":"abc"}}', { status: 400 }));
	await assert.rejects(getJson('/x'), (e: ApiError) => e.message === 'parameter t0: not a number' && e.code === 'bad_parameter' && e.requestId === 'abc' && e.status === 400);
	answer(() => new Response('<html>Bad gateway</html>', { status: 502, headers: { 'x-request-id': 'proxy-7' } }));
	await assert.rejects(getJson('/x'), (e: ApiError) => e.status === 502 && e.code === 'http_502' && e.requestId === 'proxy-7');
	globalThis.fetch = (() => Promise.reject(new TypeError('failed to fetch'))) as unknown as typeof fetch;
	await assert.rejects(getJson('/x'), (e: ApiError) => e.status === 0 && /cannot be reached/.test(e.message));
});

test('401 leads to the login, whatever was asked', async () => {
	let times = 0;
	setUnauthorised(() => times++);
	answer(() => new Response('{"error":{"code":"token_required","message":"m","request_id":"r"}}', { status: 401 }));
	await assert.rejects(getJson('/x'));
	assert.equal(times, 1);
	setUnauthorised(() => {});
});

test('a body comes whole and tells its progress', async () => {
	const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
	answer(() => new Response(bytes, { headers: { 'content-length': String(bytes.length) } }));
	const seen: number[] = [];
	const got = new Uint8Array(await getWithProgress('/x', 1e6, (n, total) => {
		seen.push(n);
		assert.equal(total, bytes.length);
	}, none));
	assert.deepEqual(got, bytes);
	assert.equal(seen[seen.length - 1], bytes.length);
});

test('an export over the limit stops, by its announced length or by what came', async () => {
	const tooLarge = (e: ApiError) => e.code === 'too_large';
	answer(() => new Response(new Uint8Array(10), { headers: { 'content-length': '5000' } }));
	await assert.rejects(getWithProgress('/x', 4000, () => {}, none), tooLarge);
	answer(() => new Response(new Uint8Array(5000)));
	await assert.rejects(getWithProgress('/x', 4000, () => {}, none), tooLarge);
});

test('the rate of an upload follows changes without jumping', () => {
	assert.equal(smoothRate(0, 1000, 1000), 1000);
	const next = smoothRate(1000, 4000, 1000);
	assert.ok(next > 1000 && next < 4000);
	assert.equal(smoothRate(1000, 50, 0), 1000);
});
