// SPDX-License-Identifier: Apache-2.0
// Bundles the browser part into ../build/web: index.html, assets/<name>-<hash>.js|css|svg, each with .gz and .br
// beside it, and manifest.json (path, mime, sha256, size). Same sources, same bytes.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { buildGuide } from './guide.mjs';
import { buildLosses } from './losses.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const final = join(here, '../build/web');
const out = `${final}.${process.pid}`; // renamed when whole, so that two builds at once do not mix
const LIMIT_GZIP = 120_000; // JS and CSS together, in bytes after gzip
const MIME = {
	'.html': 'text/html; charset=utf-8',
	'.js': 'text/javascript; charset=utf-8',
	'.css': 'text/css; charset=utf-8',
	'.svg': 'image/svg+xml',
	'.json': 'application/json',
	'.png': 'image/png',
};

process.on('exit', () => rmSync(out, { recursive: true, force: true })); // what a failed build leaves
mkdirSync(join(out, 'assets'), { recursive: true });

const result = await build({
	absWorkingDir: here,
	entryPoints: {
		main: 'src/app/main.tsx',
		style: 'src/styles/index.css',
		icon: 'src/app/icon.svg',
	},
	outdir: out,
	entryNames: 'assets/[name]-[hash]',
	chunkNames: 'assets/[name]-[hash]',
	assetNames: 'assets/[name]-[hash]',
	loader: { '.svg': 'copy' },
	bundle: true,
	splitting: true,
	format: 'esm',
	minify: true,
	target: ['es2021', 'chrome109', 'firefox115', 'safari16'],
	jsx: 'automatic',
	jsxImportSource: 'preact',
	legalComments: 'none',
	metafile: true,
	logLevel: 'warning',
});

const outputs = Object.entries(result.metafile.outputs);
const named = (entry) => {
	const hit = outputs.find(([, o]) => o.entryPoint === entry || Object.keys(o.inputs).includes(entry));
	if (!hit) throw new Error(`no output of ${entry}`);
	return 'assets/' + hit[0].split('/assets/')[1];
};
const css = outputs.find(([p]) => p.endsWith('.css'))[0];
const html = readFileSync(join(here, 'index.html'), 'utf8')
	.replace('%JS%', named('src/app/main.tsx'))
	.replace('%CSS%', 'assets/' + css.split('/assets/')[1])
	.replace('%ICON%', named('src/app/icon.svg'));
writeFileSync(join(out, 'index.html'), html);

buildGuide(join(here, '../docs'), out);
buildLosses(join(here, '../docs'), out);

const files = [];
const walk = (dir) => {
	for (const name of readdirSync(join(out, dir)).sort()) {
		const path = dir ? `${dir}/${name}` : name;
		if (/\.(gz|br)$/.test(name)) continue;
		if (statSync(join(out, path)).isDirectory()) walk(path);
		else files.push(path);
	}
};
walk('');

const describe = (path, bytes, gzip, br) => ({
	path,
	mime: MIME[extname(path)] ?? 'application/octet-stream',
	sha256: createHash('sha256').update(bytes).digest('hex'),
	size: bytes.length,
	gzip,
	br,
});
let shipped = 0;
const manifest = files.map((path) => {
	const bytes = readFileSync(join(out, path));
	const packed = extname(path) === '.png'; // compressed as it is
	if (packed) return describe(path, bytes, bytes.length, bytes.length);
	const gz = gzipSync(bytes, { level: 9 });
	const br = brotliCompressSync(bytes, {
		params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
	});
	writeFileSync(join(out, path + '.gz'), gz);
	writeFileSync(join(out, path + '.br'), br);
	if (/\.(js|css)$/.test(path)) shipped += gz.length;
	return describe(path, bytes, gz.length, br.length);
});
writeFileSync(join(out, 'manifest.json'), JSON.stringify({ version: 1, files: manifest }, null, '\t') + '\n');
rmSync(final, { recursive: true, force: true });
if (shipped <= LIMIT_GZIP) renameSync(out, final);
else rmSync(out, { recursive: true });
if (shipped > LIMIT_GZIP) throw new Error(`JS and CSS are ${shipped} bytes gzip, more than ${LIMIT_GZIP}`);
console.log(`web: ${files.length} files, JS and CSS ${(shipped / 1000).toFixed(1)} kB gzip`);
