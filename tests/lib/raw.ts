// SPDX-License-Identifier: Apache-2.0
// Raw bytes over a socket, for requests that no HTTP client would send.
import net from 'node:net';

export interface RawResult { text: string; closed: boolean; ms: number }

/** Sends the text and collects what comes until the server closes or `wait` ms passed. */
export function raw(port: number, text: string | Uint8Array, wait = 1500): Promise<RawResult> {
	return new Promise((done) => {
		const start = Date.now();
		const parts: Buffer[] = [];
		const c = net.connect(port, '127.0.0.1', () => c.write(text));
		const end = (closed: boolean) => {
			clearTimeout(timer);
			c.destroy();
			done({ text: Buffer.concat(parts).toString('latin1'), closed, ms: Date.now() - start });
		};
		const timer = setTimeout(() => end(false), wait);
		c.on('data', (d: Buffer) => parts.push(d));
		c.on('error', () => undefined);
		c.on('close', () => end(true));
	});
}

/** Sends first, then one byte of `rest` every `everyMs`, until the server closes or `wait` passed. */
export function drip(port: number, first: string, rest: string, everyMs: number, wait: number): Promise<RawResult> {
	return new Promise((done) => {
		const start = Date.now();
		const parts: Buffer[] = [];
		let at = 0;
		const c = net.connect(port, '127.0.0.1', () => c.write(first));
		const tick = setInterval(() => c.write(rest[at++ % rest.length]!), everyMs);
		const end = (closed: boolean) => {
			clearTimeout(timer);
			clearInterval(tick);
			c.destroy();
			done({ text: Buffer.concat(parts).toString('latin1'), closed, ms: Date.now() - start });
		};
		const timer = setTimeout(() => end(false), wait);
		c.on('data', (d: Buffer) => parts.push(d));
		c.on('error', () => undefined);
		c.on('close', () => end(true));
	});
}

export const statuses = (r: RawResult): number[] => [...r.text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((m) => Number(m[1]));
