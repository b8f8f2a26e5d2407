// SPDX-License-Identifier: Apache-2.0
// A TCP relay in front of a server that counts what clients send and cuts connections, and that may be pointed at
// another port, for a server that was started again.
import net from 'node:net';

export interface Relay {
	url: string;
	port: number;
	/** Bytes that clients sent so far, heads included. */
	sent: () => number;
	cuts: () => number;
	/** Cuts both sides of every open connection. */
	cut: () => void;
	/** From now on connections go there; 0: they are refused. */
	target: (port: number) => void;
	stop: () => void;
}

/** nextCut gives after how many further bytes of clients the connection that brings them is cut; Infinity: never. */
export async function startRelay(port: number, nextCut: () => number = () => Infinity): Promise<Relay> {
	let to = port, sent = 0, cuts = 0, until = nextCut();
	const open = new Set<net.Socket>();
	const destroy = (...c: net.Socket[]) => c.forEach((x) => { open.delete(x); x.destroy(); });
	const server = net.createServer((client) => {
		if (!to) return void client.destroy();
		const up = net.connect(to, '127.0.0.1');
		open.add(client).add(up);
		for (const c of [client, up]) {
			c.setNoDelay(true);
			c.on('error', () => destroy(client, up));
			c.on('close', () => destroy(client, up));
		}
		client.on('data', (d: Buffer) => {
			sent += d.length;
			until -= d.length;
			if (until <= 0) {
				cuts++;
				until = nextCut();
				up.end(d.subarray(0, Math.floor(d.length / 2))); // some of it still comes through
				setTimeout(() => destroy(client, up), 5);
				client.pause();
			} else if (!up.write(d)) {
				client.pause();
				up.once('drain', () => client.resume());
			}
		});
		up.on('data', (d: Buffer) => client.write(d));
		up.on('end', () => client.end());
	});
	await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
	server.unref(); // a test that fails must not wait for its relay
	const own = (server.address() as net.AddressInfo).port;
	return {
		url: `http://127.0.0.1:${own}`, port: own, sent: () => sent, cuts: () => cuts,
		cut: () => destroy(...open), target: (p) => { to = p; },
		stop: () => { destroy(...open); server.close(); },
	};
}
