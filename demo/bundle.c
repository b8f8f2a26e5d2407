/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the simulation and packs its ranks into one tar.zst bundle with a manifest. */
#include "demo/demo.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crypto.h"
#include "base/limits.h"
#include "demo/program.h"

#define DEMO_JOB "gpt-1b3-pretrain"
#define DEMO_CAPTURE "demo-gpt-1b3-pretrain"
/* 2026-11-01T12:00:00Z */
#define DEMO_BASE_NS 1793534400000000000LL

static void host_name(char dst[32], uint32_t rank)
{
	struct fsc_buf b = FSC_BUF_INIT(32);

	fsc_buf_addf(&b, "gpu-a%02u", 1 + rank / 4);
	memcpy(dst, b.data, b.len + 1);
	fsc_buf_fini(&b);
}

static void head(struct fsc_buf *out, const struct sim_rank *r)
{
	char host[32];

	host_name(host, r->rank);
	fsc_buf_addf(
		out,
		"{\n\"schemaVersion\": 1,\n\"synthetic\": true,\n\"baseTimeNanoseconds\": %lld,\n"
		"\"displayTimeUnit\": \"ms\",\n\"host_name\": \"%s\",\n\"deviceProperties\": [\n",
		(long long)DEMO_BASE_NS, host);
	for (int i = 0; i < 4; i++)
		fsc_buf_addf(out,
			     "  {\"id\": %d, \"name\": \"NVIDIA A100-SXM4-80GB\", "
			     "\"totalGlobalMem\": 85097971712, "
			     "\"computeMajor\": 8, \"computeMinor\": 0, \"numSms\": 108}%s\n",
			     i, i < 3 ? "," : "");
	fsc_buf_addf(out,
		     "],\n\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %u, "
		     "\"world_size\": %u, \"pg_count\": 1, "
		     "\"nccl_version\": \"2.21.5\"},\n\"traceEvents\": [",
		     r->rank, r->world);
}

static enum fsc_status archive_failed(struct archive *a, struct fsc_err *err)
{
	return fsc_err_set(err, FSC_EIO, NULL, "demo: %s",
			   archive_error_string(a) ? archive_error_string(a) : "write");
}

static enum fsc_status add_member(struct archive *a, const char *path,
				  const struct fsc_buf *const parts[], size_t n,
				  struct fsc_err *err)
{
	struct archive_entry *e = archive_entry_new();
	enum fsc_status st = FSC_OK;
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += parts[i]->len;
	archive_entry_set_pathname(e, path);
	archive_entry_set_size(e, (la_int64_t)total);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	archive_entry_set_mtime(e, DEMO_BASE_NS / 1000000000, 0);
	if (archive_write_header(a, e) != ARCHIVE_OK)
		st = archive_failed(a, err);
	for (size_t i = 0; i < n && !st; i++)
		if (archive_write_data(a, parts[i]->data, parts[i]->len) < 0)
			st = archive_failed(a, err);
	archive_entry_free(e);
	return st;
}

/* A rank's file: what stands before and after its events. */
struct frame {
	struct fsc_buf path, start, end;
};

static void frame_init(struct frame *f, const struct sim_rank *r)
{
	fsc_buf_init(&f->path, 256);
	fsc_buf_init(&f->start, 64 * FSC_KIB);
	fsc_buf_init(&f->end, FSC_KIB);
	head(&f->start, r);
	fsc_buf_addf(&f->path, "rank%u.pt.trace.json", r->rank);
	fsc_buf_addf(&f->end, "\n],\n\"traceName\": \"%s\"\n}\n", f->path.data);
}

static void frame_fini(struct frame *f)
{
	fsc_buf_fini(&f->path);
	fsc_buf_fini(&f->start);
	fsc_buf_fini(&f->end);
}

static void manifest_line(struct fsc_buf *manifest, const struct sim_rank *r)
{
	struct fsc_sha256 *h = fsc_sha256_new();
	uint8_t digest[FSC_SHA256_LEN];
	char hex[FSC_SHA256_HEX], host[32];
	struct frame f;

	frame_init(&f, r);
	fsc_sha256_update(h, f.start.data, f.start.len);
	fsc_sha256_update(h, r->json.data, r->json.len);
	fsc_sha256_update(h, f.end.data, f.end.len);
	fsc_sha256_final(h, digest);
	fsc_sha256_free(h);
	fsc_hex(hex, digest, sizeof(digest));
	host_name(host, r->rank);
	fsc_buf_addf(manifest,
		     "%s\n    {\"path\": \"%s\", \"sha256\": \"%s\", \"rank\": %u, \"host\": "
		     "\"%s\", \"devices\": "
		     "[{\"ordinal\": %u, \"uuid\": \"GPU-5e7d0c1a-0000-4000-8000-%012x\"}]}",
		     r->rank ? "," : "", f.path.data, hex, r->rank, host, r->device, r->rank);
	frame_fini(&f);
}

/* The manifest goes first, so that a reader of the stream knows each file before it comes. */
static enum fsc_status add_manifest(struct archive *a, const struct sim_rank *ranks, uint32_t n,
				    struct fsc_err *err)
{
	struct fsc_buf manifest = FSC_BUF_INIT(FSC_MIB);
	const struct fsc_buf *parts[] = { &manifest };
	enum fsc_status st;

	fsc_buf_addf(&manifest,
		     "{\n  \"version\": 1, \"synthetic\": true, \"job\": \"" DEMO_JOB
		     "\", \"capture\": \"" DEMO_CAPTURE "\", \"world_size\": %u,\n  \"files\": [",
		     n);
	for (uint32_t i = 0; i < n; i++)
		manifest_line(&manifest, &ranks[i]);
	fsc_buf_adds(&manifest, "\n  ]\n}\n");
	st = add_member(a, "manifest.json", parts, 1, err);
	fsc_buf_fini(&manifest);
	return st;
}

static enum fsc_status add_rank(struct archive *a, const struct sim_rank *r, struct fsc_err *err)
{
	struct frame f;
	const struct fsc_buf *parts[] = { &f.start, &r->json, &f.end };
	enum fsc_status st;

	if (fsc_buf_status(&r->json))
		return fsc_err_set(err, FSC_ENOMEM, NULL, "demo: no memory for rank %u", r->rank);
	frame_init(&f, r);
	st = add_member(a, f.path.data, parts, FSC_ARRAY_LEN(parts), err);
	frame_fini(&f);
	return st;
}

static void simulate(struct sim_rank *ranks, const struct fsc_demo_opts *o)
{
	for (uint32_t i = 0; i < o->ranks; i++)
		fsc_sim_init(&ranks[i], i, o->ranks, o->seed);
	if (o->ranks > FSC_DEMO_SLOW_RANK) {
		ranks[FSC_DEMO_SLOW_RANK].host_scale = 1.35;
		ranks[FSC_DEMO_SLOW_RANK].gpu_scale = 1.07;
	}
	for (uint32_t i = 0; i < o->steps; i++)
		fsc_program_step(ranks, o->ranks, o->layers, FSC_DEMO_FIRST_STEP + i);
}

static enum fsc_status pack(int fd, const struct sim_rank *ranks, const struct fsc_demo_opts *o,
			    struct fsc_err *err)
{
	struct archive *a = archive_write_new();
	enum fsc_status st = FSC_OK;

	if (!a || archive_write_add_filter_zstd(a) != ARCHIVE_OK ||
	    archive_write_set_format_ustar(a) != ARCHIVE_OK ||
	    archive_write_open_fd(a, fd) != ARCHIVE_OK)
		st = archive_failed(a, err);
	if (!st)
		st = add_manifest(a, ranks, o->ranks, err);
	for (uint32_t i = 0; i < o->ranks && !st; i++)
		st = add_rank(a, &ranks[i], err);
	if (!st && archive_write_close(a) != ARCHIVE_OK)
		st = archive_failed(a, err);
	archive_write_free(a);
	return st;
}

enum fsc_status fsc_demo_bundle(int fd, const struct fsc_demo_opts *opts, struct fsc_err *err)
{
	struct fsc_demo_opts o = FSC_DEMO_OPTS_INIT;
	struct sim_rank *ranks;
	enum fsc_status st;

	if (opts)
		o = *opts;
	if (!o.ranks || o.ranks > 64 || !o.steps || o.steps > 1000 || !o.layers || o.layers > 200)
		return fsc_err_set(err, FSC_EINVAL, NULL,
				   "demo: 1..64 ranks, 1..1000 steps, 1..200 layers");
	ranks = fsc_xalloc(o.ranks, sizeof(*ranks));
	simulate(ranks, &o);
	st = pack(fd, ranks, &o, err);
	for (uint32_t i = 0; i < o.ranks; i++)
		fsc_sim_fini(&ranks[i]);
	fsc_free(ranks);
	return st;
}
