/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json v1; see manifest.h. */
#include "bundle/manifest.h"

#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/num.h"

#define MAX_FILES FSC_MAX_ARCHIVE_ENTRIES
#define MAX_DEVICES 4096u
#define MAX_CLOCK_PAIRS 65536u

static enum fsc_status invalid(struct fsc_err *err, const char *where, const char *what)
{
	return fsc_err_set(err, FSC_EPARSE, "manifest_invalid", "manifest: %s must be %s", where,
			   what);
}

static enum fsc_status no_memory(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the manifest");
}

/* A text member; absent and null leave *out NULL. */
static enum fsc_status text(const char **out, struct fsc_manifest *m, const json_t *o,
			    const char *key, struct fsc_err *err)
{
	const json_t *v = json_object_get(o, key);
	*out = NULL;
	if (!v || json_is_null(v))
		return FSC_OK;
	if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
		return invalid(err, key, "a text");
	*out = fsc_arena_dup(&m->arena, json_string_value(v), json_string_length(v));
	return *out ? FSC_OK : no_memory(err);
}

/* An integer, or a text that is one (browsers lose digits of large numbers). */
static enum fsc_status integer(int64_t *out, const json_t *o, const char *key, int64_t absent,
			       int64_t min, struct fsc_err *err)
{
	const json_t *v = json_object_get(o, key);
	*out = absent;
	if (!v || json_is_null(v))
		return FSC_OK;
	if (json_is_integer(v))
		*out = json_integer_value(v);
	else if (!json_is_string(v) ||
		 !fsc_parse_i64(out, json_string_value(v), json_string_length(v)))
		return invalid(err, key, "an integer");
	return *out < min ? invalid(err, key, "an integer that is not so small") : FSC_OK;
}

static enum fsc_status list(const json_t **out, size_t *n, const json_t *o, const char *key,
			    size_t max, struct fsc_err *err)
{
	const json_t *v = json_object_get(o, key);
	*out = NULL;
	*n = 0;
	if (!v || json_is_null(v))
		return FSC_OK;
	if (!json_is_array(v))
		return invalid(err, key, "a list");
	if (json_array_size(v) > max)
		return fsc_err_set(err, FSC_ELIMIT, "manifest_too_big",
				   "manifest: more than %zu %s", max, key);
	*out = v;
	*n = json_array_size(v);
	return FSC_OK;
}

static enum fsc_status devices(struct fsc_manifest *m, struct fsc_manifest_file *f, const json_t *o,
			       struct fsc_err *err)
{
	const json_t *v;
	FSC_TRY(list(&v, &f->n_devices, o, "devices", MAX_DEVICES, err));
	f->devices = fsc_arena_alloc(&m->arena, f->n_devices + 1, sizeof(*f->devices));
	if (!f->devices)
		return no_memory(err);
	for (size_t i = 0; i < f->n_devices; i++) {
		const json_t *d = json_array_get(v, i);
		if (!json_is_object(d))
			return invalid(err, "devices", "a list of objects");
		FSC_TRY(integer(&f->devices[i].ordinal, d, "ordinal", -1, 0, err));
		FSC_TRY(text(&f->devices[i].uuid, m, d, "uuid", err));
		if (f->devices[i].ordinal < 0 || !f->devices[i].uuid)
			return invalid(err, "devices", "objects with ordinal and uuid");
	}
	return FSC_OK;
}

static enum fsc_status clock_pairs(struct fsc_manifest *m, struct fsc_manifest_file *f,
				   const json_t *o, struct fsc_err *err)
{
	const json_t *v;
	FSC_TRY(list(&v, &f->n_clock_pairs, o, "clock_pairs", MAX_CLOCK_PAIRS, err));
	f->clock_pairs = fsc_arena_alloc(&m->arena, f->n_clock_pairs + 1, sizeof(*f->clock_pairs));
	if (!f->clock_pairs)
		return no_memory(err);
	for (size_t i = 0; i < f->n_clock_pairs; i++) {
		const json_t *p = json_array_get(v, i);
		if (!json_is_object(p) || !json_object_get(p, "a") || !json_object_get(p, "b"))
			return invalid(err, "clock_pairs", "a list of objects with a and b");
		FSC_TRY(integer(&f->clock_pairs[i].a_ns, p, "a", 0, 0, err));
		FSC_TRY(integer(&f->clock_pairs[i].b_ns, p, "b", 0, 0, err));
	}
	return FSC_OK;
}

static enum fsc_status one_file(struct fsc_manifest *m, struct fsc_manifest_file *f,
				const json_t *o, struct fsc_err *err)
{
	const char *sha;
	if (!json_is_object(o))
		return invalid(err, "files", "a list of objects");
	FSC_TRY(text(&f->path, m, o, "path", err));
	if (!f->path || !f->path[0])
		return invalid(err, "files", "a list of objects with a path");
	FSC_TRY(text(&sha, m, o, "sha256", err));
	if (sha) {
		if (strlen(sha) != 2 * FSC_SHA256_LEN || !fsc_unhex(f->sha256, sha, FSC_SHA256_LEN))
			return invalid(err, "sha256", "64 hexadecimal digits");
		f->has_sha256 = true;
	}
	FSC_TRY(integer(&f->rank, o, "rank", -1, -1, err));
	FSC_TRY(devices(m, f, o, err));
	return clock_pairs(m, f, o, err);
}

static enum fsc_status fill(struct fsc_manifest *m, const json_t *o, struct fsc_err *err)
{
	const json_t *files;
	int64_t version;
	if (!json_is_object(o))
		return invalid(err, "the file", "an object");
	if (!json_object_get(o, "version"))
		return invalid(err, "version", "there");
	FSC_TRY(integer(&version, o, "version", 0, 0, err));
	if (version != 1)
		return fsc_err_set(err, FSC_EUNSUPPORTED, "manifest_version",
				   "manifest: version %lld is not known here, only 1",
				   (long long)version);
	FSC_TRY(text(&m->job, m, o, "job", err));
	FSC_TRY(text(&m->host, m, o, "host", err));
	FSC_TRY(text(&m->capture, m, o, "capture", err));
	FSC_TRY(integer(&m->world_size, o, "world_size", -1, -1, err));
	FSC_TRY(list(&files, &m->n_files, o, "files", MAX_FILES, err));
	m->files = fsc_arena_alloc(&m->arena, m->n_files + 1, sizeof(*m->files));
	if (!m->files)
		return no_memory(err);
	for (size_t i = 0; i < m->n_files; i++)
		FSC_TRY(one_file(m, &m->files[i], json_array_get(files, i), err));
	return FSC_OK;
}

static void *memory_or_abort(size_t n)
{
	return fsc_xalloc(1, n);
}

void fsc_manifest_memory_or_abort(void)
{
	json_set_alloc_funcs(memory_or_abort, fsc_free);
}

enum fsc_status fsc_manifest_parse(struct fsc_manifest **out, const char *json, size_t n,
				   struct fsc_err *err)
{
	json_error_t fault;
	*out = NULL;
	if (n > FSC_MAX_MANIFEST_BYTES)
		return fsc_err_set(err, FSC_ELIMIT, "manifest_too_big",
				   "manifest: more than %llu bytes", FSC_MAX_MANIFEST_BYTES);
	json_t *o = json_loadb(json, n, JSON_REJECT_DUPLICATES, &fault);
	if (!o) {
		enum fsc_status st = fsc_err_set(err, FSC_EPARSE, "manifest_invalid",
						 "manifest: %s", fault.text);
		fsc_err_at(err, FSC_MANIFEST_NAME, fault.position);
		return st;
	}
	struct fsc_manifest *m = fsc_xalloc(1, sizeof(*m));
	fsc_arena_init(&m->arena, 4 * FSC_MAX_MANIFEST_BYTES);
	enum fsc_status st = fill(m, o, err);
	json_decref(o);
	if (st == FSC_OK) {
		*out = m;
		return st;
	}
	fsc_err_at(err, FSC_MANIFEST_NAME, -1);
	fsc_manifest_free(m);
	return st;
}

void fsc_manifest_free(struct fsc_manifest *m)
{
	if (!m)
		return;
	fsc_arena_fini(&m->arena);
	fsc_free(m);
}

struct fsc_manifest_file *fsc_manifest_file(struct fsc_manifest *m, const char *path)
{
	for (size_t i = 0; m && i < m->n_files; i++)
		if (!strcmp(m->files[i].path, path))
			return &m->files[i];
	return NULL;
}
