// SPDX-License-Identifier: Apache-2.0
// Holds every answer against server/api/openapi.json: status and media type must be documented, JSON must match
// the schema (additionalProperties are off there, so a field nobody wrote down fails too).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import { source, type TestServer } from './server.ts';

interface Media { schema?: object }
interface Operation { operationId: string; servers?: { url: string }[]; responses: Record<string, { content?: Record<string, Media>; headers?: object }> }
interface Document { paths: Record<string, Record<string, Operation>>; components: object }

const doc = JSON.parse(readFileSync(join(source, 'server/api/openapi.json'), 'utf8')) as Document;
const Ajv = ((Ajv2020 as unknown as { default?: typeof Ajv2020 }).default ?? Ajv2020) as typeof Ajv2020;
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: 'doc', components: doc.components });
const compiled = new Map<string, ValidateFunction>();
const hits = new Map<string, Set<number>>();

const absolute = (schema: object): object => JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"doc#/components/'));

function find(method: string, path: string): { op: Operation; key: string } | undefined {
	let best: { op: Operation; key: string; fixed: number } | undefined;
	for (const [template, item] of Object.entries(doc.paths)) {
		const op = item[method.toLowerCase()];
		if (!op) continue;
		const parts = (op.servers?.[0]?.url === '/' ? template : `/api/v1${template}`).split('/');
		const given = path.split('/');
		if (parts.length !== given.length || !parts.every((p, i) => p.startsWith('{') || p === given[i])) continue;
		const fixed = parts.filter((p) => !p.startsWith('{')).length;
		if (!best || fixed > best.fixed) best = { op, key: `${method.toUpperCase()} ${template}`, fixed };
	}
	return best;
}

export interface Answer<T = any> { status: number; headers: Headers; json: T; bytes: Uint8Array }
export interface CallOptions { body?: Uint8Array | string | object; headers?: Record<string, string>; token?: string }

/** One call, checked against the contract. path is below the server, e.g. "/api/v1/traces". */
export async function call<T = any>(s: TestServer, method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
	const headers: Record<string, string> = { ...options.headers };
	let body: BodyInit | undefined;
	if (options.body instanceof Uint8Array || typeof options.body === 'string') body = options.body as BodyInit;
	else if (options.body !== undefined) {
		body = JSON.stringify(options.body);
		headers['content-type'] ??= 'application/json';
	}
	if (options.token) headers.authorization = `Bearer ${options.token}`;
	const r = await fetch(s.url + path, { method, headers, body, redirect: 'manual' });
	const bytes = new Uint8Array(await r.arrayBuffer());
	const type = (r.headers.get('content-type') ?? '').split(';')[0]!;
	const parsed = type === 'application/json' && bytes.length > 0 ? JSON.parse(new TextDecoder().decode(bytes)) : undefined;
	check(method, path.split('?')[0]!, r.status, type, parsed, bytes);
	return { status: r.status, headers: r.headers, json: parsed as T, bytes };
}

function check(method: string, path: string, status: number, type: string, json: unknown, bytes: Uint8Array): void {
	const found = find(method, path);
	assert.ok(found, `${method} ${path} is not in the contract`);
	const shown = `${found.key} ${status}`;
	const response = found.op.responses[String(status)];
	assert.ok(response, `${shown} is not in the contract: ${new TextDecoder().decode(bytes).slice(0, 300)}`);
	hits.set(found.key, (hits.get(found.key) ?? new Set()).add(status));
	if (!response.content) {
		assert.equal(bytes.length, 0, `${shown} has a body`);
		return;
	}
	const media = response.content[type];
	assert.ok(media?.schema, `${shown}: ${type || 'no media type'} is not in the contract`);
	if (type !== 'application/json') return;
	const key = shown;
	const validate = compiled.get(key) ?? ajv.compile(absolute(media.schema));
	compiled.set(key, validate);
	assert.ok(validate(json), `${shown}: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(json).slice(0, 1500)}`);
}

/** Operations of the contract that no call has succeeded on so far. */
export function neverHit(): string[] {
	const missing: string[] = [];
	for (const [template, item] of Object.entries(doc.paths)) {
		for (const method of Object.keys(item)) {
			const key = `${method.toUpperCase()} ${template}`;
			if (![...(hits.get(key) ?? [])].some((s) => s < 400)) missing.push(key);
		}
	}
	return missing;
}

/** Responses of the contract that say nothing about their content although they have one. */
export function withoutSchema(): string[] {
	const bad: string[] = [];
	for (const [template, item] of Object.entries(doc.paths)) {
		for (const [method, op] of Object.entries(item)) {
			if (method === 'head') continue; // its answers have no content
			for (const [status, r] of Object.entries(op.responses)) {
				const schemas = Object.values(r.content ?? {});
				// Without content, what is said is in the headers; check() holds the body to be empty then.
				const silent = !schemas.length && !r.headers && status !== '204' && status !== '304';
				if (silent || schemas.some((m) => !m.schema)) bad.push(`${method} ${template} ${status}`);
			}
		}
	}
	return bad;
}
