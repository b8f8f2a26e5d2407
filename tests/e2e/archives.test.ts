// SPDX-License-Identifier: Apache-2.0
// Archives as people make them, through upload, sandboxed indexer and API, with every program in the C locale: what is
// read comes with its name, what is not is told by a code, and nothing is created of what an archive says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readdirSync, rmSync, symlinkSync, linkSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { kinetoBytes } from '../lib/kineto.ts';
import { getJson, startServer, tempDir, uploadAndWait, type TestServer } from '../lib/server.ts';
import { tar } from '../lib/tar.ts';
import { zip } from '../lib/zip.ts';

const dir = tempDir('fsc-archives-');
let s: TestServer;
before(async () => { s = await startServer({ env: { LC_ALL: 'C', LANG: 'C' } }); });
after(async () => { await s.stop(); rmSync(dir, { recursive: true, force: true }); });

let made = 0;
const trace = (): Uint8Array => kinetoBytes({ steps: 2, baseNs: `${1750000000000000000n + BigInt(made++)}` });
const packed = (tool: string, bytes: Uint8Array): Uint8Array => execFileSync(tool, ['-c'], { input: bytes, maxBuffer: 1 << 26, stdio: ['pipe', 'pipe', 'ignore'] });
const zst = (bytes: Uint8Array): Uint8Array => packed('zstd', bytes);
const latin1 = (t: string): Uint8Array => Buffer.from(t, 'latin1');

/** What GNU tar makes of files; fill writes them into an empty folder. */
function gnuTar(args: string[], fill: (at: (name: string | Buffer) => string | Buffer) => void): Uint8Array {
	const folder = join(dir, `tree-${made++}`);
	mkdirSync(folder);
	fill((name) => (typeof name === 'string' ? join(folder, name) : Buffer.concat([Buffer.from(`${folder}/`), name])));
	return execFileSync('tar', [...args, '-C', folder, '-c', '.'], { maxBuffer: 1 << 26 });
}

/** A trace with a hole of a MiB of zero bytes behind the bracket that closes it; zeros behind JSON are counted. */
function sparse(path: string): void {
	const fd = openSync(path, 'w');
	writeSync(fd, trace());
	ftruncateSync(fd, 1 << 20);
	closeSync(fd);
}

const long = `${'d/'.repeat(120)}rank0.json`;
const one = (name = 'rank0.json') => [{ name, data: trace() }];
interface Case { bytes: () => Uint8Array; members?: string[]; failures?: Record<string, string>; error?: string; loss?: string }
const r0 = { members: ['rank0.json'] };

/** Perfetto's manifest: each file is of a machine of its own and half a second later than it says. */
const manifest = (...paths: string[]): Uint8Array => Buffer.from(JSON.stringify({ perfetto_manifest: { version: 1, files: paths.map((path, i) => ({ path, machine: { name: `node-${i}` }, clocks: { sync_to: { file: paths[0] }, offset_ns: 500_000_000 } })) } }));

const cases: Record<string, Case> = {
	'tar, Perfetto manifest first': { bytes: () => tar([{ name: 'perfetto_manifest.json', data: manifest('a.json', 'b.json') }, { name: 'a.json', data: trace() }, { name: 'b.json', data: trace() }]), members: ['a.json', 'b.json'], loss: 'clock_offset_applied' },
	'zip, Perfetto manifest behind a trace': { bytes: () => zip([{ name: 'a.json', data: trace() }, { name: 'perfetto_manifest.json', data: manifest('a.json') }]), members: ['a.json'], failures: { 'perfetto_manifest.json': 'manifest_not_first' } },
	'tar.gz of a TensorBoard folder': { bytes: () => gzipSync(tar([{ name: 'plugins/profile/run_1/h0.trace.json.gz', data: gzipSync(trace()) }, { name: 'h1_77.1694128201545.pt.trace.json', data: trace() }])), members: ['h1_77.1694128201545.pt.trace.json', 'plugins/profile/run_1/h0.trace.json.gz'] },
	'tar': { bytes: () => tar(one()), ...r0 },
	'tar.gz': { bytes: () => gzipSync(tar(one())), ...r0 },
	'tar.gz of two gzip members and padding': { bytes: () => { const t = tar(one()); return Buffer.concat([gzipSync(t.subarray(0, 600)), gzipSync(t.subarray(600)), Buffer.alloc(10240)]); }, ...r0 },
	'tar.zst': { bytes: () => zst(tar(one())), ...r0 },
	'tar.gz.zst': { bytes: () => zst(gzipSync(tar(one()))), ...r0 },
	'tar.xz': { bytes: () => packed('xz', tar(one())), error: 'compression_unsupported' },
	'tar.bz2': { bytes: () => packed('bzip2', tar(one())), error: 'compression_unsupported' },
	'zip, deflated': { bytes: () => zip(one()), ...r0 },
	'zip, stored': { bytes: () => zip([{ ...one()[0]!, stored: true }]), ...r0 },
	'zip, streamed': { bytes: () => zip([{ ...one()[0]!, streamed: true }, { name: 'rank1.json', data: trace(), streamed: true, stored: true }]), members: ['rank0.json', 'rank1.json'] },
	'zip64': { bytes: () => zip([{ ...one()[0]!, zip64: true }, { name: 'rank1.json', data: trace(), streamed: true, zip64: true }]), members: ['rank0.json', 'rank1.json'] },
	'zip, compressed again': { bytes: () => gzipSync(zip(one())), ...r0 },
	'zip, encrypted': { bytes: () => zip([{ ...one()[0]!, encrypted: true }]), error: 'archive_encrypted', failures: { 'rank0.json': 'member_encrypted' } },
	'zip, one member encrypted': { bytes: () => zip([{ name: 'a.json', data: trace(), encrypted: true }, one()[0]!]), ...r0, failures: { 'a.json': 'member_encrypted' } },
	'zip, empty': { bytes: () => zip([]), error: 'no_trace' },
	'zip, folders only': { bytes: () => zip([{ name: 'a/', stored: true }, { name: 'a/b/', stored: true }]), error: 'no_trace' },
	'zip, UTF-8 names': { bytes: () => zip(one('r\u00e9sum\u00e9/\u65e5\u672c.json')), members: ['r\u00e9sum\u00e9/\u65e5\u672c.json'] },
	'zip, names of code page 437': { bytes: () => zip([{ name: latin1('r\x82.json'), data: trace() }, { name: latin1('r\x84.json'), data: trace() }]), members: ['r\u00e4.json', 'r\u00e9.json'], loss: 'member_name_repaired' },
	'zip, cut before its directory': { bytes: () => { const z = zip(one()); return z.subarray(0, z.length - 70); }, ...r0, error: 'archive_truncated' },
	'tar.gz, one bit of its checksum flipped': { bytes: () => { const z = Buffer.from(gzipSync(tar(one()))); z[z.length - 6]! ^= 1; return z; }, error: 'gzip_crc' },
	'tar.gz, one bit of its first file flipped': { bytes: () => { const z = Buffer.from(gzipSync(tar([one()[0]!, { name: 'rank1.json', data: trace() }]), { level: 0 })); z[z.indexOf('ProfilerStep') + 3]! ^= 1; return z; }, error: 'gzip_crc' },
	'tar.zst, one bit flipped': { bytes: () => { const z = Buffer.from(zst(tar(one()))); z[z.length - 2]! ^= 1; return z; }, error: 'zstd_corrupt', failures: { 'rank0.json': 'zstd_corrupt' } },
	'tar.gz, cut': { bytes: () => { const z = gzipSync(tar([one()[0]!, { name: 'rank1.json', data: trace() }]), { level: 0 }); return z.subarray(0, z.length - 3000); }, ...r0, error: 'gzip_truncated', failures: { 'rank1.json': 'gzip_truncated' } },
	'zip, the mark of its second member damaged': { bytes: () => { const z = zip([one()[0]!, { name: 'rank1.json', data: trace() }]); z[z.indexOf('PK\x03\x04', 4, 'latin1') + 2]! ^= 1; return z; }, error: 'archive_corrupt' },
	'tar, GNU long names': { bytes: () => gnuTar(['--format=gnu'], (at) => { mkdirSync(dirname(at(long) as string), { recursive: true }); writeFileSync(at(long), trace()); }), members: [long] },
	'tar, pax long names': { bytes: () => gnuTar(['--format=pax'], (at) => { mkdirSync(dirname(at(long) as string), { recursive: true }); writeFileSync(at(long), trace()); }), members: [long] },
	'tar, UTF-8 names, GNU': { bytes: () => gnuTar(['--format=gnu'], (at) => writeFileSync(at('r\u00e9.json'), trace())), members: ['r\u00e9.json'] },
	'tar, UTF-8 names, pax': { bytes: () => gnuTar(['--format=pax'], (at) => writeFileSync(at('\u65e5\u672c.json'), trace())), members: ['\u65e5\u672c.json'] },
	'tar, Latin-1 names, GNU': { bytes: () => gnuTar(['--format=gnu', '--sort=name'], (at) => { writeFileSync(at(Buffer.from(latin1('r\xe8.json'))), trace()); writeFileSync(at(Buffer.from(latin1('r\xe9.json'))), trace()); }), members: ['r%E8.json', 'r%E9.json'], loss: 'member_name_repaired' },
	'tar, sparse, GNU': { bytes: () => gnuTar(['-S', '--format=gnu'], (at) => sparse(at('s.json') as string)), members: ['s.json'] },
	'tar, sparse, pax 0.0': { bytes: () => gnuTar(['-S', '--format=pax', '--sparse-version=0.0'], (at) => sparse(at('s.json') as string)), members: ['s.json'] },
	'tar, sparse, pax 0.1': { bytes: () => gnuTar(['-S', '--format=pax', '--sparse-version=0.1'], (at) => sparse(at('s.json') as string)), members: ['s.json'] },
	'tar, sparse, pax 1.0': { bytes: () => gnuTar(['-S', '--format=pax', '--sparse-version=1.0'], (at) => sparse(at('s.json') as string)), members: ['s.json'] },
	'tar, links and a pipe': { bytes: () => gnuTar(['--sort=name'], (at) => {
		writeFileSync(at('a.json'), trace());
		linkSync(at('a.json'), at('b.json'));
		symlinkSync('/etc/passwd', at('c.json'));
		execFileSync('mkfifo', [at('d.json') as string]);
	}), members: ['a.json'], failures: { 'b.json': 'member_hardlink', 'c.json': 'member_symlink', 'd.json': 'member_device' } },
	'tar, empty': { bytes: () => tar([]), error: 'unknown_format' },
	'tar, folders only': { bytes: () => tar([{ name: 'a/', type: '5' }]), error: 'no_trace' },
	'tar, two after each other': { bytes: () => Buffer.concat([tar(one()), tar(one('rank1.json'))]), ...r0, failures: { 'case': 'archive_trailing_data' } },
	'json.gz and json.zst in a tar.zst': { bytes: () => zst(tar([{ name: 'a.json.gz', data: gzipSync(trace()) }, { name: 'b.json.zst', data: zst(trace()) }])), members: ['a.json.gz', 'b.json.zst'] },
	'json.gz, packed three times over': { bytes: () => tar([{ name: 'a.json.gz', data: gzipSync(gzipSync(gzipSync(trace()))) }]), members: ['a.json.gz'] },
	'json.gz, packed four times over': { bytes: () => tar([{ name: 'a.json.gz', data: gzipSync(gzipSync(gzipSync(gzipSync(trace())))) }, one()[0]!]), ...r0, failures: { 'a.json.gz': 'compression_nest' } },
	'archives in a zip': { bytes: () => zip([{ name: 'in.tar.gz', data: gzipSync(tar(one())) }, { name: 'in.zip', data: zip(one()), stored: true }, one()[0]!]), ...r0, failures: { 'in.tar.gz': 'nested_archive', 'in.zip': 'nested_archive' } },
	'json.xz in a tar': { bytes: () => tar([{ name: 'a.json.xz', data: packed('xz', trace()) }, one()[0]!]), ...r0, failures: { 'a.json.xz': 'compression_unsupported' } },
	'names that leave the archive, and one twice': { bytes: () => zip([{ name: '../up.json', data: trace() }, { name: '/tmp/fsc-abs.json', data: trace() }, { name: 'a\\..\\..\\up.json', data: trace() }, one()[0]!, one()[0]!]), ...r0,
		failures: { '../up.json': 'member_traversal', '/tmp/fsc-abs.json': 'member_absolute', 'a/../../up.json': 'member_traversal', 'rank0.json': 'member_duplicate' } },
};

for (const [what, c] of Object.entries(cases)) {
	test(`${what}: ${[...(c.members ? [`${c.members.length} read`] : []), ...(c.error ? [c.error] : [])].join(', ')}`, async (t) => {
		let bytes: Uint8Array;
		try {
			bytes = c.bytes();
		} catch (e) {
			if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e;
			t.skip(`no ${(e as NodeJS.ErrnoException).path} here`);
			return;
		}
		const b = await uploadAndWait(s, 'case', bytes);
		assert.equal(b.error?.code, c.error, JSON.stringify(b));
		assert.deepEqual(b.traces.map((x) => x.member), c.members ?? []);
		const told = Object.fromEntries(b.failures.filter((f) => f.file !== 'case' || c.failures?.case).map((f) => [f.file, f.code]));
		assert.deepEqual(told, c.failures ?? {}, JSON.stringify(b.failures));
		if (c.loss) for (const x of b.traces) {
			const whole = await getJson<{ losses: { code: string; count: number }[] }>(s, `/traces/${x.id}`);
			assert.deepEqual(whole.losses.find((l) => l.code === c.loss), { code: c.loss, count: 1 });
		}
	});
}

test('nothing was created of what the archives named', () => {
	assert.ok(!existsSync('/tmp/fsc-abs.json'));
	assert.ok(!existsSync(join(s.data, '..', 'up.json')));
	assert.deepEqual(readdirSync(join(s.data, 'tmp')), []);
	for (const b of readdirSync(join(s.data, 'blob'), { recursive: true, withFileTypes: true })) if (!b.isDirectory()) assert.ok(b.isFile() && /^[0-9a-f]{64}$/.test(b.name), b.name);
});
