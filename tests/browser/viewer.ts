// SPDX-License-Identifier: Apache-2.0
// Stands in for a Perfetto UI: a page on a port of its own that answers PING and keeps what it is handed.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const PAGE = `<!doctype html><title>viewer</title><script>
window.pings = 0;
addEventListener('message', (e) => {
	if (e.data === 'PING') { if (++window.pings > 2) e.source.postMessage('PONG', e.origin); return; }
	if (e.data && e.data.perfetto) {
		const p = e.data.perfetto;
		window.got = { title: p.title, fileName: p.fileName, bytes: Array.from(new Uint8Array(p.buffer)), origin: e.origin };
	}
});
</script>`;

export interface Viewer { origin: string; stop: () => void }

export async function startViewer(): Promise<Viewer> {
	const server: Server = createServer((_, res) => {
		res.writeHead(200, { 'content-type': 'text/html' });
		res.end(PAGE);
	});
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

declare global {
	interface Window { got?: { title: string; fileName: string; bytes: number[]; origin: string }; pings?: number }
}
