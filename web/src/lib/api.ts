// SPDX-License-Identifier: Apache-2.0
// Calls of the HTTP API. Every failure is an ApiError with a sentence, the server's code and the request id.
import type { ErrorBody } from './types';

export const API = '/api/v1';

export class ApiError extends Error {
	constructor(
		message: string,
		readonly status: number,
		readonly code: string,
		readonly requestId: string | null,
		readonly detail: unknown = undefined,
	) {
		super(message);
	}
}

export function isAbort(e: unknown): boolean {
	return e instanceof DOMException && e.name === 'AbortError';
}

type Params = Record<string, string | number | boolean | null | undefined>;

export function url(path: string, params?: Params): string {
	const q = new URLSearchParams();
	for (const [k, v] of Object.entries(params ?? {})) {
		if (v !== undefined && v !== null && v !== '') q.set(k, String(v));
	}
	const s = q.toString();
	return API + path + (s ? `?${s}` : '');
}

/** What to do on 401: set once by the session, so that this module stays free of routing. */
let onUnauthorised: () => void = () => {};
export function setUnauthorised(f: () => void): void {
	onUnauthorised = f;
}

export async function errorOf(status: number, text: string, requestId: string | null): Promise<ApiError> {
	try {
		const e = (JSON.parse(text) as { error?: ErrorBody }).error;
		if (e) return new ApiError(e.message, status, e.code, e.request_id ?? requestId, e.detail);
	} catch {
		// Not JSON: a proxy or a server that is not ours answered.
	}
	return new ApiError(`The server answered ${status}`, status, `http_${status}`, requestId);
}

/** The project of this page, when the caller may enter several: another tab may have another one in the cookie. */
let project: string | null = null;
export function currentProject(): string | null {
	return project;
}
export function setProject(name: string | null): void {
	project = name;
}

async function ask(target: string, init: RequestInit): Promise<Response> {
	let r: Response;
	if (project) init.headers = { 'X-Fleetscope-Project': project, ...init.headers };
	try {
		r = await fetch(target, { credentials: 'same-origin', ...init });
	} catch (e) {
		if (isAbort(e)) throw e;
		throw new ApiError('The server cannot be reached', 0, 'network', null);
	}
	if (r.ok) return r;
	if (r.status === 401) onUnauthorised();
	throw await errorOf(r.status, await r.text(), r.headers.get('x-request-id'));
}

/** `inProject`: another project than that of the page. */
export async function getJson<T>(path: string, params?: Params, signal?: AbortSignal, inProject?: string): Promise<T> {
	const headers: Record<string, string> = { Accept: 'application/json' };
	if (inProject) headers['X-Fleetscope-Project'] = inProject;
	const r = await ask(url(path, params), { signal, headers });
	return (await r.json()) as T;
}

export async function getBuffer(path: string, params?: Params, signal?: AbortSignal): Promise<ArrayBuffer> {
	const r = await ask(url(path, params), { signal });
	return r.arrayBuffer();
}

export async function send<T>(method: string, path: string, body?: unknown): Promise<T | null> {
	const r = await ask(API + path, {
		method,
		headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
		body: body === undefined ? undefined : JSON.stringify(body),
	});
	const text = await r.text();
	return text ? (JSON.parse(text) as T) : null;
}

/** A body with progress: bytes so far and the announced length (0 when it is not known). */
export async function getWithProgress(
	target: string,
	limit: number,
	onProgress: (got: number, total: number) => void,
	signal: AbortSignal,
): Promise<ArrayBuffer> {
	const r = await ask(target, { signal });
	const total = Number(r.headers.get('content-encoding') ? 0 : (r.headers.get('content-length') ?? 0));
	if (total > limit) throw new ApiError('too large', 413, 'too_large', null, total);
	const reader = r.body!.getReader();
	const parts: Uint8Array[] = [];
	let got = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) break;
		parts.push(value);
		got += value.length;
		if (got > limit) {
			await reader.cancel();
			throw new ApiError('too large', 413, 'too_large', null, got);
		}
		onProgress(got, total);
	}
	const out = new Uint8Array(got);
	let at = 0;
	for (const p of parts) {
		out.set(p, at);
		at += p.length;
	}
	return out.buffer;
}
