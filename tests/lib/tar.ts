// SPDX-License-Identifier: Apache-2.0
// Writes ustar archives with whatever names and types a test wants, good or bad.
export interface Entry { name: string; data?: Uint8Array; type?: '0' | '1' | '2' | '3' | '5'; link?: string }

function field(b: Uint8Array, at: number, len: number, text: string): void {
	b.set(new TextEncoder().encode(text).subarray(0, len), at);
}

export function tar(entries: Entry[]): Uint8Array {
	const parts: Uint8Array[] = [];
	for (const e of entries) {
		const data = e.data ?? new Uint8Array();
		const h = new Uint8Array(512);
		field(h, 0, 100, e.name);
		field(h, 100, 8, '0000644\0');
		field(h, 108, 8, '0000000\0');
		field(h, 116, 8, '0000000\0');
		field(h, 124, 12, `${data.length.toString(8).padStart(11, '0')}\0`);
		field(h, 136, 12, '00000000000\0');
		field(h, 156, 1, e.type ?? '0');
		field(h, 157, 100, e.link ?? '');
		field(h, 257, 8, 'ustar\x0000');
		field(h, 148, 8, '        ');
		const sum = h.reduce((a, c) => a + c, 0);
		field(h, 148, 8, `${sum.toString(8).padStart(6, '0')}\0 `);
		parts.push(h, data, new Uint8Array((512 - (data.length % 512)) % 512));
	}
	parts.push(new Uint8Array(1024));
	return Buffer.concat(parts);
}
