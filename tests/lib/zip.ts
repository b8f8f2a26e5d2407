// SPDX-License-Identifier: Apache-2.0
// Writes zip archives in the forms that writers have: stored or deflated, sizes in front or behind, zip64.
import { deflateRawSync } from 'node:zlib';

export interface ZipEntry { name: string | Uint8Array; data?: Uint8Array; stored?: boolean; streamed?: boolean; zip64?: boolean; encrypted?: boolean }

const u16 = (...v: number[]): Buffer => { const b = Buffer.alloc(2 * v.length); v.forEach((x, i) => b.writeUInt16LE(x, 2 * i)); return b; };
const u32 = (...v: number[]): Buffer => { const b = Buffer.alloc(4 * v.length); v.forEach((x, i) => b.writeUInt32LE(x >>> 0, 4 * i)); return b; };
const u64 = (...v: number[]): Buffer => { const b = Buffer.alloc(8 * v.length); v.forEach((x, i) => b.writeBigUInt64LE(BigInt(x), 8 * i)); return b; };
const NO32 = 0xffffffff;

const crcTable = Array.from({ length: 256 }, (_, i) => { for (let k = 0; k < 8; k++) i = i & 1 ? (i >>> 1) ^ 0xedb88320 : i >>> 1; return i >>> 0; });
const crc32 = (bytes: Uint8Array): number => { let c = NO32; for (const b of bytes) c = crcTable[(c ^ b) & 255]! ^ (c >>> 8); return ~c >>> 0; };

/** The fields that local header and directory share. */
function common(e: ZipEntry, crc: number, packed: number, plain: number, name: number): Buffer {
	const flags = (e.encrypted ? 1 : 0) | (e.streamed ? 8 : 0) | (typeof e.name === 'string' ? 0x800 : 0);
	return Buffer.concat([u16(e.zip64 ? 45 : 20, flags, e.stored ? 0 : 8), u32(0x50210000, crc, e.zip64 ? NO32 : packed, e.zip64 ? NO32 : plain), u16(name, e.zip64 ? 20 : 0)]);
}

export function zip(entries: ZipEntry[]): Buffer {
	const out: Buffer[] = [];
	const directory: Buffer[] = [];
	let at = 0;
	const put = (...b: Uint8Array[]): void => b.forEach((x) => { out.push(Buffer.from(x)); at += x.length; });
	for (const e of entries) {
		const data = e.data ?? new Uint8Array();
		const name = typeof e.name === 'string' ? Buffer.from(e.name) : Buffer.from(e.name);
		const packed = e.stored ? data : deflateRawSync(data);
		const crc = crc32(data);
		const extra = (p: number, n: number): Buffer => (e.zip64 ? Buffer.concat([u16(1, 16), u64(n, p)]) : Buffer.alloc(0));
		const start = at;
		const said = e.streamed ? [0, 0, 0] as const : [crc, packed.length, data.length] as const;
		put(Buffer.from('PK\x03\x04', 'latin1'), common(e, ...said, name.length), name, extra(said[1], said[2]), packed);
		if (e.streamed) put(Buffer.from('PK\x07\x08', 'latin1'), u32(crc), e.zip64 ? u64(packed.length, data.length) : u32(packed.length, data.length));
		directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), u16(20), common(e, crc, packed.length, data.length, name.length), u16(0, 0, 0), u32(0, start), name, extra(packed.length, data.length)]));
	}
	const from = at;
	put(...directory);
	put(Buffer.from('PK\x05\x06', 'latin1'), u16(0, 0, entries.length, entries.length), u32(at - from, from), u16(0));
	return Buffer.concat(out);
}
