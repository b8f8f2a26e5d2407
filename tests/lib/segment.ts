// SPDX-License-Identifier: Apache-2.0
// Makes a segment look as if another major version of the program had written it (docs/formats/segment.md).
import { readFileSync, writeFileSync } from 'node:fs';

const HEADER = 4096, MAJOR = 8, CRC = 16;

function crc32c(bytes: Uint8Array): number {
	let crc = 0xffffffff;
	for (const b of bytes) {
		crc ^= b;
		for (let i = 0; i < 8; i++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
	}
	return (crc ^ 0xffffffff) >>> 0;
}

/** In place of the file, which may be mapped, comes another. */
export function makeUnreadable(path: string): void {
	const bytes = new Uint8Array(readFileSync(path));
	const view = new DataView(bytes.buffer, bytes.byteOffset);
	const was = view.getUint32(CRC, true);
	view.setUint32(CRC, 0, true);
	if (crc32c(bytes.subarray(0, HEADER)) !== was) throw new Error('the checksum of the header is not where this test thinks');
	view.setUint16(MAJOR, 0xfffe, true);
	view.setUint32(CRC, crc32c(bytes.subarray(0, HEADER)), true);
	writeFileSync(path, bytes);
}
