// SPDX-License-Identifier: Apache-2.0
// The words for loss counters on the pages, from the tables of docs/losses.md, so that they are written once.
// Becomes guide/losses.json: { code: { what, kept } }; backquotes stay for the page to set.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const plain = (s) => s.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim();

/** Cells of a table row; a bar inside backquotes is none. */
function cells(line) {
	return line.slice(1, -1).split(/(?<!\\)\|/).map(plain);
}

export function lossWords(markdown) {
	const words = {};
	for (const line of markdown.split('\n')) {
		if (!/^\| `.*\|$/.test(line)) continue;
		const [codes, what, kept] = cells(line);
		for (const [, code] of codes.matchAll(/`([^`]+)`/g)) words[code] = kept === undefined ? { what } : { what, kept };
	}
	return words;
}

export function buildLosses(docs, out) {
	writeFileSync(join(out, 'guide/losses.json'), JSON.stringify(lossWords(readFileSync(join(docs, 'losses.md'), 'utf8'))));
}
