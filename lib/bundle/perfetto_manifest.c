/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto's manifest; see perfetto_manifest.h. */
#include "bundle/perfetto_manifest.h"

#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "base/limits.h"

#define ROOT "perfetto_manifest"
#define MAX_FILES FSC_MAX_ARCHIVE_ENTRIES

bool fsc_perfetto_manifest_is(const uint8_t *head, size_t n)
{
	static const char open[] = "{\"" ROOT "\"";
	size_t at = 0;

	/* blanks may stand anywhere before the key */
	for (size_t i = 0; i < n && at < sizeof(open) - 1; i++) {
		if (at < 2 &&
		    (head[i] == ' ' || head[i] == '\t' || head[i] == '\r' || head[i] == '\n'))
			continue;
		if (head[i] != (uint8_t)open[at++])
			return false;
	}
	return at == sizeof(open) - 1;
}

static enum fsc_status invalid(struct fsc_err *err, const char *where, const char *what)
{
	return fsc_err_set(err, FSC_EPARSE, ROOT "_invalid", ROOT ": %s must be %s", where, what);
}

static enum fsc_status text(const char **out, struct fsc_perfetto_manifest *m, const json_t *o,
			    const char *key, struct fsc_err *err)
{
	const json_t *v = json_object_get(o, key);

	*out = NULL;
	if (!v)
		return FSC_OK;
	if (!json_is_string(v) || !json_string_length(v) ||
	    strlen(json_string_value(v)) != json_string_length(v))
		return invalid(err, key, "a text that is not empty");
	*out = fsc_arena_dup(&m->arena, json_string_value(v), json_string_length(v));
	return *out ? FSC_OK : fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the manifest");
}

/* An object member; *out is NULL when absent. */
static enum fsc_status object(const json_t **out, const json_t *o, const char *key,
			      struct fsc_err *err)
{
	*out = json_object_get(o, key);
	return *out && !json_is_object(*out) ? invalid(err, key, "an object") : FSC_OK;
}

/* machine, or machines with one entry. */
static enum fsc_status machine(struct fsc_perfetto_manifest *m, struct fsc_perfetto_file *f,
			       const json_t *o, struct fsc_err *err)
{
	const json_t *one, *many = json_object_get(o, "machines");

	FSC_TRY(object(&one, o, "machine", err));
	if (many && !json_is_array(many))
		return invalid(err, "machines", "a list");
	if (one && many)
		return invalid(err, "a file", "of machine or of machines, not both");
	if (many && json_array_size(many) == 1)
		one = json_array_get(many, 0);
	return json_is_object(one) ? text(&f->machine, m, one, "name", err) : FSC_OK;
}

static enum fsc_status clocks(struct fsc_perfetto_manifest *m, struct fsc_perfetto_file *f,
			      const json_t *o, struct fsc_err *err)
{
	const json_t *c, *to;
	const char *clock, *file;

	FSC_TRY(object(&c, o, "clocks", err));
	if (!c)
		return FSC_OK;
	FSC_TRY(object(&to, c, "sync_to", err));
	if (!to)
		return invalid(err, "clocks", "an object with sync_to");
	FSC_TRY(text(&file, m, to, "file", err));
	if (!file)
		return invalid(err, "sync_to", "an object with a file");
	FSC_TRY(text(&clock, m, c, "clock", err));
	const json_t *v = json_object_get(c, "offset_ns");
	if (v && (!json_is_integer(v) || json_integer_value(v) == INT64_MIN))
		return invalid(err, "offset_ns", "an integer");
	f->offset_ns = v ? json_integer_value(v) : 0;
	f->has_offset = f->offset_ns != 0;
	f->unix_clock = !clock || !strncmp(clock, "REALTIME", 8);
	return FSC_OK;
}

static enum fsc_status one_file(struct fsc_perfetto_manifest *m, struct fsc_perfetto_file *f,
				const json_t *o, struct fsc_err *err)
{
	if (!json_is_object(o))
		return invalid(err, "files", "a list of objects");
	FSC_TRY(text(&f->path, m, o, "path", err));
	if (!f->path)
		return invalid(err, "files", "a list of objects with a path");
	while (f->path[0] == '.' && f->path[1] == '/')
		f->path += 2;
	FSC_TRY(machine(m, f, o, err));
	return clocks(m, f, o, err);
}

static enum fsc_status fill(struct fsc_perfetto_manifest *m, const json_t *root,
			    struct fsc_err *err)
{
	const json_t *o = json_object_get(root, ROOT), *version = json_object_get(o, "version");
	const json_t *files = json_object_get(o, "files");

	if (!json_is_object(o))
		return invalid(err, ROOT, "an object");
	if (!json_is_integer(version))
		return invalid(err, "version", "an integer");
	if (json_integer_value(version) != 1)
		return fsc_err_set(err, FSC_EUNSUPPORTED, ROOT "_version",
				   ROOT ": version %lld is not known here, only 1",
				   (long long)json_integer_value(version));
	if (files && !json_is_array(files))
		return invalid(err, "files", "a list");
	if (json_array_size(files) > MAX_FILES)
		return fsc_err_set(err, FSC_ELIMIT, "manifest_too_big", ROOT ": more than %u files",
				   MAX_FILES);
	m->n_files = json_array_size(files);
	m->files = fsc_arena_alloc(&m->arena, m->n_files + 1, sizeof(*m->files));
	if (!m->files)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the manifest");
	for (size_t i = 0; i < m->n_files; i++) {
		m->files[i] = (struct fsc_perfetto_file){ .path = NULL };
		FSC_TRY(one_file(m, &m->files[i], json_array_get(files, i), err));
	}
	return FSC_OK;
}

enum fsc_status fsc_perfetto_manifest_parse(struct fsc_perfetto_manifest **out, const char *json,
					    size_t n, struct fsc_err *err)
{
	json_error_t fault;

	*out = NULL;
	if (n > FSC_MAX_MANIFEST_BYTES)
		return fsc_err_set(err, FSC_ELIMIT, "manifest_too_big",
				   ROOT ": more than %llu bytes", FSC_MAX_MANIFEST_BYTES);
	json_t *root = json_loadb(json, n, JSON_REJECT_DUPLICATES, &fault);
	if (!root) {
		enum fsc_status st =
			fsc_err_set(err, FSC_EPARSE, ROOT "_invalid", ROOT ": %s", fault.text);
		fsc_err_at(err, NULL, fault.position);
		return st;
	}
	struct fsc_perfetto_manifest *m = fsc_xalloc(1, sizeof(*m));
	fsc_arena_init(&m->arena, 4 * FSC_MAX_MANIFEST_BYTES);
	enum fsc_status st = fill(m, root, err);
	json_decref(root);
	if (st != FSC_OK) {
		fsc_perfetto_manifest_free(m);
		return st;
	}
	*out = m;
	return FSC_OK;
}

void fsc_perfetto_manifest_free(struct fsc_perfetto_manifest *m)
{
	if (!m)
		return;
	fsc_arena_fini(&m->arena);
	fsc_free(m);
}

struct fsc_perfetto_file *fsc_perfetto_manifest_file(struct fsc_perfetto_manifest *m,
						     const char *path)
{
	for (size_t i = 0; m && i < m->n_files; i++)
		if (!strcmp(m->files[i].path, path))
			return &m->files[i];
	return NULL;
}
