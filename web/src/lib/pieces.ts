// SPDX-License-Identifier: Apache-2.0
// A large file by /api/v1/uploads: in pieces that go on after a cut, a restart of the server and a reload of the page
// (the address of an upload under way is remembered by what the browser tells of the file). What it stands on comes in
// as ports, so that it runs in a test without a network.
export const PIECES_FROM = 8 * 1024 * 1024;
export const PIECE = 8 * 1024 * 1024;
const RETRIES = 10; // in a row that bring no byte further
const STARTS = 4; // an upload may run out under us, but not for ever

export interface Reply { status: number; text: string; header: (name: string) => string | null }
export interface FileLike { name: string; size: number; lastModified: number; slice: (from: number, to: number) => Blob }
export interface Ports {
	/** Status 0: no answer. onSent tells bytes of the body that left. */
	send: (method: string, path: string, headers: Record<string, string>, body: Blob | null, onSent: (n: number) => void) => Promise<Reply>;
	remember: (key: string, path: string | null) => void;
	recall: (key: string) => string | null;
	pause: (ms: number) => Promise<void>;
	stopped: () => boolean;
}
export interface Telling {
	sent: (bytes: number) => void;
	/** What happens instead of progress; "" when bytes move again. */
	say: (text: string) => void;
}

/** Growing pauses, at most 15 s; the server may ask for a longer one. */
export function pauseMs(attempt: number, retryAfter: string | null, random: number): number {
	const own = Math.min(15_000, 500 * 2 ** attempt) * (0.5 + random / 2);
	const asked = Number(retryAfter ?? '') * 1000;
	return Math.max(own, Number.isFinite(asked) ? Math.min(asked, 60_000) : 0);
}

export function memoryKey(project: string, f: FileLike): string {
	return `fleetscope.upload:${project}:${f.size}:${f.lastModified}:${f.name}`;
}

const number = (text: string | null): number | null => (text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null);
export const passing = (status: number): boolean => status === 0 || status === 408 || status === 429 || status === 507 || (status >= 500 && status !== 501);

/** The last answer: 202 with the bundle when all went well. */
export async function sendPieces(file: FileLike, project: string, ports: Ports, tell: Telling): Promise<Reply> {
	const key = memoryKey(project, file);
	let at = ports.recall(key);
	let offset: number | null = null;
	let farthest = 0;
	let attempt = 0;
	let starts = 0;
	let conflicts = 0; // in a row
	let goingOn = false; // it is said, until a piece arrived
	const ask = async (): Promise<Reply> => {
		if (!at) {
			const r = await ports.send('POST', `/uploads?name=${encodeURIComponent(file.name)}`, { 'Upload-Length': String(file.size), 'Upload-Complete': '?0' }, null, () => {});
			const where = r.header('Location');
			if (r.status === 201 && where && /^\/api\/v1\/uploads\/\d+$/.test(where)) {
				starts++;
				at = where.replace(/^\/api\/v1/, '');
				offset = 0;
				ports.remember(key, at);
			}
			return r;
		}
		if (offset === null) {
			const r = await ports.send('HEAD', at, {}, null, () => {});
			if (r.status === 204) offset = number(r.header('Upload-Offset'));
			goingOn = !!offset;
			if (offset) tell.say(`Going on from ${mib(offset)}`);
			return r;
		}
		const from = offset;
		const to = Math.min(file.size, from + PIECE);
		const r = await ports.send('PATCH', at, {
			'Content-Type': 'application/partial-upload', 'Upload-Offset': String(from), 'Upload-Complete': to === file.size ? '?1' : '?0',
		}, file.slice(from, to), (n) => {
			if (n > 0 && !goingOn) tell.say('');
			tell.sent(from + n);
		});
		if (r.status === 204) goingOn = false;
		offset = r.status === 204 || r.status === 409 ? number(r.header('Upload-Offset')) : null;
		return r;
	};
	for (;;) {
		const r = await ask();
		if (ports.stopped()) return r;
		if (r.status === 202) {
			ports.remember(key, null);
			return r;
		}
		if (offset !== null && offset > farthest) {
			farthest = offset;
			attempt = 0;
		}
		conflicts = r.status === 409 ? conflicts + 1 : 0;
		if (r.status === 204 && offset !== null) tell.sent(offset);
		else if ((r.status === 404 || r.status === 410) && at && starts < STARTS) {
			ports.remember(key, null); // it ran out, or its server lost it
			at = null;
			offset = null;
			farthest = 0;
			continue;
		}
		// The browser sent a piece again by itself, whose first sending had arrived: on from there.
		if (r.status === 409 && offset !== null && conflicts === 1) continue;
		if (r.status === 201 || r.status === 204) {
			if (at && (offset !== null || r.status === 201)) continue;
			return r;
		}
		if (!(passing(r.status) || (r.status === 409 && at)) || attempt >= RETRIES) return r;
		tell.say(r.status === 507 ? 'The disk of the server is full, waiting' : r.status === 409 ? 'Sent from elsewhere too, waiting' : 'Connection lost, trying again');
		await ports.pause(pauseMs(attempt++, r.header('Retry-After'), Math.random()));
		if (ports.stopped()) return r;
	}
}

export function mib(n: number): string {
	return `${(n / 1024 / 1024).toFixed(n < 10 * 1024 * 1024 ? 1 : 0)} MiB`;
}
