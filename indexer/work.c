/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow one bundle: fsc_bundle_next() gives a member, fsc_reader_pick() its reader, the reader hands finished
 * traces to take_trace(). The last trace of a member is held back until the member was read to its end, so
 * that nothing is published of a file whose checksum turns out to be wrong.
 */
#include "indexer/work.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "bundle/bundle_read.h"
#include "facts/indexer_client.h"
#include "formats/reader.h"
#include "indexer/perfetto_files.h"
#include "indexer/trace_facts.h"

#define PROGRESS_EVERY_NS 100000000LL
/* What of a member's name people see. */
#define MAX_NAME 1024

struct state {
	const struct fsc_work *w;
	struct fsc_fact_stream out;
	struct fsc_bundle *bundle;
	bool archive;
	struct fsc_member member;		/* the current one */
	struct fsc_perfetto_manifest *perfetto; /* owned */
	struct fsc_trace *held;			/* owned; its newest trace */
	int64_t slot;				/* of the held trace */
	bool trace_open;			/* TRACE was put, TRACE_END not yet */
	size_t n_skipped;			/* entries of the bundle's list already told */
	uint64_t n_traces, n_failed, n_encrypted;
	int64_t blob_bytes, last_progress_ns;
	uint64_t events;
};

/* ---- telling ---- */

static enum fsc_status put_progress(struct state *s, const char *stage, struct fsc_err *err)
{
	struct fsc_fact f = { .type = FSC_FACT_PROGRESS };
	off_t at = lseek(s->w->blob_fd, 0, SEEK_CUR);
	const char *path = s->member.path ? s->member.path : "";

	s->last_progress_ns = fsc_clock_mono_ns();
	f.u.progress = (struct fsc_fact_progress){ .stage = stage,
						   .member = fsc_fact_stream_text(&s->out, path,
										  strlen(path)),
						   .done = at < 0 ? 0 : at,
						   .total = s->blob_bytes,
						   .events = (int64_t)s->events };
	return fsc_fact_stream_put(&s->out, &f, err);
}

static void on_progress(void *ctx, uint64_t bytes, uint64_t events)
{
	struct state *s = ctx;

	(void)bytes;
	s->events = events;
	/* A parent that is gone shows at the next fact that matters. */
	if (fsc_clock_mono_ns() - s->last_progress_ns >= PROGRESS_EVERY_NS &&
	    put_progress(s, "reading", NULL) != FSC_OK)
		s->out.broken = true;
}

static enum fsc_status put_member(struct state *s, const char *path, const char *outcome,
				  const struct fsc_err *why, struct fsc_err *err)
{
	struct fsc_fact f = { .type = FSC_FACT_MEMBER };

	f.u.member = (struct fsc_fact_member){
		.member = fsc_fact_stream_text(&s->out, path, strlen(path)),
		.outcome = outcome,
		.code = fsc_fact_stream_text(&s->out, why->code, strlen(why->code)),
		.message = fsc_fact_stream_text(&s->out, why->msg, strlen(why->msg)),
		.offset = why->offset < -1 ? -1 : why->offset,
	};
	s->trace_open = false;
	s->n_failed += !strcmp(outcome, "failed");
	return fsc_fact_stream_put(&s->out, &f, err);
}

static const char *skipped_message(const char *code)
{
	static const struct {
		const char *code, *text;
	} texts[] = {
		{ "member_encrypted", "it is encrypted: pack it again without a password" },
		{ "member_compression",
		  "it is compressed in a way that is not read: deflate is, and none" },
		{ "member_duplicate", "the name was there already, the first is used" },
		{ "member_missing", "the manifest names it, the archive does not hold it" },
		{ "manifest_not_first", "a manifest is used only as the first file" },
		{ "archive_trailing_data",
		  "other bytes follow the end of the tar, maybe a second one: they are not read" },
		{ "archive_not_listed", "the zip holds members that its directory does not list" },
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(texts); i++)
		if (!strcmp(code, texts[i].code))
			return texts[i].text;
	return "archive entry is not a file that is read";
}

/* Entries that the bundle passed over since the last time. */
static enum fsc_status put_skipped(struct state *s, struct fsc_err *err)
{
	size_t n = 0;
	const struct fsc_skipped *v = fsc_bundle_skipped(s->bundle, &n);
	enum fsc_status st = FSC_OK;

	for (; st == FSC_OK && s->n_skipped < n; s->n_skipped++) {
		struct fsc_err why = FSC_ERR_INIT;

		const char *code = v[s->n_skipped].code;
		fsc_err_set(&why, FSC_EUNSUPPORTED, code, "%s", skipped_message(code));
		s->n_encrypted += !strcmp(code, "member_encrypted");
		st = put_member(s, v[s->n_skipped].path, "skipped", &why, err);
	}
	return st;
}

static enum fsc_status put_end(struct state *s, const struct fsc_err *why, struct fsc_err *err)
{
	struct fsc_fact f = { .type = FSC_FACT_END };
	size_t n = 0;
	const char *manifest = s->bundle ? fsc_bundle_manifest_json(s->bundle, &n) : NULL;

	f.u.end = (struct fsc_fact_end){
		.status = why->status,
		.code = fsc_fact_stream_text(&s->out, why->code, strlen(why->code)),
		.message = fsc_fact_stream_text(&s->out, why->msg, strlen(why->msg)),
		.file = fsc_fact_stream_text(&s->out, why->file, strlen(why->file)),
		.offset = why->offset < -1 ? -1 : why->offset,
		/* jansson took it, so it is UTF-8 without NUL */
		.manifest_json = manifest && n <= FSC_FACT_JSON_MAX ? manifest : "",
	};
	return fsc_fact_stream_put(&s->out, &f, err);
}

/* ---- identity ---- */

static enum fsc_status set_text(uint32_t *id, struct fsc_trace *t, const char *text)
{
	return text ? fsc_strtab_put(id, t->strings, text, strlen(text)) : FSC_OK;
}

/* The strings of the trace move when the table grows, so they are copied first. */
static const char *copy_text(struct fsc_arena *a, const struct fsc_trace *t, uint32_t id)
{
	size_t n = 0;
	const char *s = fsc_strtab_get(t->strings, id, &n);

	return fsc_arena_dup(a, s, n < FSC_FACT_TEXT_MAX ? n : FSC_FACT_TEXT_MAX);
}

static enum fsc_status identify(struct state *s, struct fsc_trace *t, struct fsc_buf *told,
				struct fsc_err *err)
{
	struct fsc_identity src[FSC_N_SOURCES] = { FSC_IDENTITY_INIT, FSC_IDENTITY_INIT,
						   FSC_IDENTITY_INIT, FSC_IDENTITY_INIT };
	struct fsc_identity id = FSC_IDENTITY_INIT;
	const struct fsc_manifest *m = fsc_bundle_manifest(s->bundle);
	struct fsc_arena text;
	struct fsc_perfetto_file *pf = fsc_perfetto_manifest_file(s->perfetto, s->member.path);
	struct fsc_identity_name name;

	fsc_arena_init(&text, FSC_MIB);
	src[FSC_FROM_UPLOAD] = s->w->upload;
	if (m)
		src[FSC_FROM_MANIFEST] =
			(struct fsc_identity){ m->job, m->host, m->capture,
					       s->member.file ? s->member.file->rank : -1,
					       m->world_size };
	src[FSC_FROM_TRACE] = (struct fsc_identity){ copy_text(&text, t, t->meta.job),
						     copy_text(&text, t, t->meta.host),
						     copy_text(&text, t, t->meta.capture),
						     t->meta.rank, t->meta.world_size };
	if (pf && pf->machine)
		src[FSC_FROM_MANIFEST].host = pf->machine;
	fsc_perfetto_files_shift(t, pf);
	fsc_identity_of_name(&name, s->member.path);
	fsc_identity_from_name(src, &name, s->slot == 0);
	fsc_losses_add(&t->losses, "member_name_repaired", s->member.renamed);
	fsc_losses_add(&t->losses, "identity_disagreement",
		       fsc_identity_merge(&id, src, s->archive, told));
	fsc_losses_add(&t->losses, "rank_outside_world", fsc_identity_outside_world(&id));
	t->meta.rank = id.rank;
	t->meta.world_size = id.world_size;
	enum fsc_status st = set_text(&t->meta.job, t, id.job);
	if (st == FSC_OK)
		st = set_text(&t->meta.host, t, id.host);
	if (st == FSC_OK)
		st = set_text(&t->meta.capture, t, id.capture);
	fsc_arena_fini(&text);
	return st == FSC_OK ? FSC_OK : fsc_err_set(err, st, NULL, "trace has too many strings");
}

/* ---- traces ---- */

/* "a/b/rank0.json" of a bundle, the display name of a single file; numbered when there are several inside. */
static void display_name(char dst[MAX_NAME], const struct state *s)
{
	const char *name =
		s->archive || !s->w->name || !s->w->name[0] ? s->member.path : s->w->name;

	if (s->slot)
		snprintf(dst, MAX_NAME, "%.*s #%lld", MAX_NAME - 24, name, (long long)s->slot);
	else
		snprintf(dst, MAX_NAME, "%s", name);
}

/* Puts the held trace, if there is one. */
static enum fsc_status publish(struct state *s, struct fsc_err *err)
{
	struct fsc_buf told = FSC_BUF_INIT(64 * FSC_KIB);
	struct fsc_trace *t = s->held;
	char name[MAX_NAME];
	enum fsc_status st = FSC_OK;

	s->held = NULL;
	if (!t)
		return FSC_OK;
	st = put_progress(s, "indexing", err);
	if (st == FSC_OK)
		st = identify(s, t, &told, err);
	if (st != FSC_OK) {
		fsc_trace_free(t);
		fsc_buf_fini(&told);
		return st;
	}
	display_name(name, s);
	struct fsc_trace_facts about = {
		.member = s->member.path,
		.name = name,
		.slot = s->slot,
		.disagreements = told.data && fsc_buf_status(&told) == FSC_OK ? told.data : "",
		.blob_sha256 = s->w->blob_sha256
	};
	st = fsc_trace_facts_put(&s->out, &s->trace_open, t, &about, err);
	s->n_traces += st == FSC_OK;
	fsc_buf_fini(&told);
	return st;
}

static enum fsc_status take_trace(void *ctx, struct fsc_trace *t, struct fsc_err *err)
{
	struct state *s = ctx;
	bool first = !s->held && s->slot == 0;
	enum fsc_status st = publish(s, err);

	if (st != FSC_OK) {
		fsc_trace_free(t);
		return st;
	}
	s->held = t;
	s->slot += first ? 0 : 1;
	return FSC_OK;
}

/* ---- members ---- */

/* Bytes after the trace must be read too: the checksum stands at the end. */
static enum fsc_status drain(struct fsc_source *src, struct fsc_err *err)
{
	char buf[16384];
	enum fsc_status st = FSC_OK;
	size_t n = 0;

	do
		st = fsc_source_read(src, buf, sizeof(buf), &n, err);
	while (st == FSC_OK);
	return st == FSC_END ? FSC_OK : st;
}

static enum fsc_status read_member(struct state *s, struct fsc_err *err)
{
	struct fsc_source *src = fsc_bundle_member_auto(s->bundle);
	struct fsc_reader_sink sink = { .ctx = s, .trace = take_trace, .progress = on_progress };
	const uint8_t *head = NULL;
	size_t n = 0;
	enum fsc_status st = fsc_source_peek(src, &head, &n, err);

	s->slot = 0;
	s->events = 0;
	if (st == FSC_OK && s->archive && fsc_perfetto_manifest_is(head, n)) {
		st = fsc_perfetto_files_read(&s->perfetto, s->n_traces > 0, src, err);
	} else if (st == FSC_OK || st == FSC_END) {
		const struct fsc_reader *r = fsc_reader_pick(head, n, err);

		/* The reason is in err: empty, HTML, nothing we know. */
		st = r ? r->read(src, &sink, err) : FSC_EUNSUPPORTED;
	}
	if (st == FSC_OK)
		st = drain(src, err);
	if (st == FSC_OK)
		st = publish(s, err);
	fsc_source_free(src);
	fsc_trace_free(s->held);
	s->held = NULL;
	return st;
}

/* A file that is no trace is skipped in an archive, where others may be one; alone, it is what failed. */
static const char *outcome_of(const struct state *s, enum fsc_status st)
{
	return s->archive && st == FSC_EUNSUPPORTED && !s->trace_open ? "skipped" : "failed";
}

/* The disk is full or refuses: nothing that the input could help, and another try may find it well again. So it
 * is no outcome of a member, which would be published in place of what an earlier run made. */
static bool host_trouble(enum fsc_status st)
{
	return st == FSC_EFULL || st == FSC_EIO;
}

static void memory_error(struct fsc_err *why)
{
	if (why->status == FSC_ENOMEM)
		fsc_err_set(why, FSC_ENOMEM, "indexer_memory",
			    "reading this file needs more memory than the indexer may use");
}

/* Files that a perfetto_manifest names and the archive does not hold. */
static enum fsc_status put_missing(struct state *s, struct fsc_err *err)
{
	const struct fsc_perfetto_manifest *m = s->perfetto;
	enum fsc_status st = FSC_OK;

	for (size_t i = 0; m && st == FSC_OK && i < m->n_files; i++) {
		struct fsc_err why = FSC_ERR_INIT;

		if (m->files[i].seen)
			continue;
		fsc_err_set(&why, FSC_EUNSUPPORTED, "member_missing", "%s",
			    skipped_message("member_missing"));
		st = put_member(s, m->files[i].path, "skipped", &why, err);
	}
	return st;
}

static void note_seen(struct state *s)
{
	struct fsc_perfetto_file *f = fsc_perfetto_manifest_file(s->perfetto, s->member.path);

	if (f)
		f->seen = true;
}

static enum fsc_status walk(struct state *s, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	while (!s->out.broken && (st = fsc_bundle_next(s->bundle, &s->member, err)) == FSC_OK) {
		struct fsc_err why = FSC_ERR_INIT;

		st = put_skipped(s, err);
		if (st == FSC_OK)
			st = put_progress(s, "reading", err);
		if (st != FSC_OK)
			return st;
		note_seen(s);
		enum fsc_status outcome = read_member(s, &why);
		if (outcome == FSC_OK)
			continue;
		if (s->out.broken)
			return fsc_err_set(err, FSC_EIO, "parent_gone", "%s", why.msg);
		why.status = outcome;
		if (host_trouble(outcome)) {
			*err = why;
			return outcome;
		}
		memory_error(&why);
		st = put_member(s, s->member.path, outcome_of(s, outcome), &why, err);
		if (st != FSC_OK)
			return st;
	}
	s->member.path = NULL;
	if (st != FSC_END)
		return st;
	st = put_skipped(s, err);
	if (st == FSC_OK)
		st = put_missing(s, err);
	/* Nothing failed, but nothing came of it either: say so, or the bundle would be ready and empty. */
	if (st == FSC_OK && !s->n_traces && !s->n_failed)
		st = s->n_encrypted
			     ? fsc_err_set(err, FSC_EUNSUPPORTED, "archive_encrypted",
					   "the archive is encrypted: pack it without a password")
			     : fsc_err_set(err, FSC_EUNSUPPORTED, "no_trace",
					   "the archive holds no file that is a trace");
	return st;
}

/* ---- the whole ---- */

static int exit_status(const struct state *s, enum fsc_status st)
{
	if (s->out.broken)
		return FSC_INDEXER_EXIT_PIPE;
	if (host_trouble(st))
		return st == FSC_EFULL ? FSC_INDEXER_EXIT_FULL : FSC_INDEXER_EXIT_IO;
	if (st == FSC_ENOMEM) /* not even for the frame that would say so */
		return FSC_INDEXER_EXIT_MEMORY;
	return st == FSC_OK ? FSC_INDEXER_EXIT_OK : FSC_INDEXER_EXIT_PIPE;
}

int fsc_work_run(const struct fsc_work *w, struct fsc_err *err)
{
	struct state s = { .w = w };
	struct fsc_err why = FSC_ERR_INIT;
	struct stat file;
	enum fsc_status st = FSC_OK;

	fsc_fact_stream_init(&s.out, w->socket_fd);
	s.blob_bytes = fsc_fs_fstat(w->blob_fd, &file) == 0 ? file.st_size : 0;
	st = fsc_bundle_open(&s.bundle, fsc_source_fd(w->blob_fd), w->name ? w->name : "", &why);
	if (st == FSC_OK) {
		s.archive = fsc_bundle_is_archive(s.bundle);
		st = walk(&s, &why);
	}
	why.status = st;
	memory_error(&why);
	if (st == FSC_OK)
		fsc_err_clear(&why);
	if (host_trouble(st))
		*err = why;
	else if (!s.out.broken)
		st = put_end(&s, &why, NULL);
	int code = exit_status(&s, st);
	fsc_bundle_close(s.bundle);
	fsc_perfetto_manifest_free(s.perfetto);
	fsc_fact_stream_fini(&s.out);
	return code;
}
