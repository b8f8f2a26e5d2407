/* SPDX-License-Identifier: Apache-2.0 */
/* Archive walk; see bundle_read.h. */
#include "bundle/bundle_read.h"

#include <errno.h>

#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/crc.h"
#include "base/crypto.h"
#include "base/limits.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "bundle/member_name.h"
#include "bundle/member_text.h"
#include "bundle/zip_directory.h"

#define IN_BYTES ((size_t)(128 * FSC_KIB))

struct member_source {
	struct fsc_source base;
	struct fsc_bundle *b; /* borrowed */
	struct fsc_err fault; /* of the current member: told again by every later read */
};

/* A view of a borrowed source, so that a wrapper may own something. */
struct view_source {
	struct fsc_source base;
	struct fsc_source *inner; /* borrowed */
};

struct fsc_bundle {
	struct fsc_source *src; /* owned; decompressed bytes of the upload */
	struct fsc_source_budget budget;
	struct archive *a; /* owned; NULL for a single file */
	bool zip;
	char *in[2]; /* owned; the last two pieces of src: libarchive looks at the newer */
	size_t in_n[2];
	unsigned newer;		/* of the two */
	char *name;		/* owned; display name of a single file */
	bool given;		/* the single file was handed out */
	struct fsc_err src_err; /* error of src that libarchive was told about */
	struct member_source member;
	bool in_member;
	uint64_t member_bytes, total_bytes;
	uint32_t n_entries, n_files;
	struct fsc_sha256 *sha; /* owned; of the current member when its digest is known */
	struct fsc_manifest_file *file;
	struct fsc_buf path;
	bool renamed;		       /* path is not as in the archive */
	struct fsc_strtab *seen;       /* owned; names so far */
	struct fsc_manifest *manifest; /* owned */
	struct fsc_buf manifest_json;
	FSC_VEC(struct fsc_skipped) skipped;
	FSC_VEC(struct fsc_zip_member) zip_members; /* all of a zip, the current one last */
	struct fsc_arena names;			    /* of skipped */
	bool finished;
};

/* ---- errors ---- */

static enum fsc_status archive_fault(struct fsc_bundle *b, struct fsc_err *err)
{
	if (b->src_err.status < 0) {
		if (err)
			*err = b->src_err;
		return b->src_err.status;
	}
	const char *text = archive_error_string(b->a);
	if (archive_errno(b->a) == ENOMEM)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the archive reader");
	bool cut = text && strstr(text, "runcated");
	enum fsc_status st =
		fsc_err_set(err, FSC_ECORRUPT, cut ? "archive_truncated" : "archive_corrupt",
			    "archive: %s", text ? text : "unreadable");
	fsc_err_at(err, NULL, (int64_t)b->src->consumed);
	return st;
}

static enum fsc_status skip(struct fsc_bundle *b, const char *path, const char *code,
			    struct fsc_err *err)
{
	struct fsc_skipped s = { .path = fsc_arena_dup(&b->names, path,
						       strnlen(path, FSC_MAX_PATH_BYTES)),
				 .code = code };
	if (!s.path || !fsc_vec_push(&b->skipped, s))
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the list of members");
	return FSC_OK;
}

/* ---- libarchive on our source ---- */

static enum fsc_status read_piece(struct fsc_bundle *b, struct fsc_err *err)
{
	size_t n;
	unsigned i = !b->newer;
	enum fsc_status st = fsc_source_read(b->src, b->in[i], IN_BYTES, &n, err);
	if (st != FSC_OK)
		return st;
	b->in_n[i] = n;
	b->newer = i;
	return FSC_OK;
}

static la_ssize_t read_cb(struct archive *a, void *ctx, const void **buf)
{
	struct fsc_bundle *b = ctx;
	enum fsc_status st = read_piece(b, &b->src_err);
	*buf = b->in[b->newer];
	if (st == FSC_END)
		return 0;
	if (st != FSC_OK) {
		archive_set_error(a, EIO, "%s", b->src_err.msg);
		return -1;
	}
	return (la_ssize_t)b->in_n[b->newer];
}

static enum fsc_status open_archive(struct fsc_bundle *b, struct fsc_err *err)
{
	b->a = archive_read_new();
	if (!b->a)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the archive reader");
	int r = b->zip ? archive_read_support_format_zip_streamable(b->a)
		       : archive_read_support_format_tar(b->a);
	if (r == ARCHIVE_OK)
		r = archive_read_support_filter_none(b->a);
	if (r == ARCHIVE_OK)
		r = archive_read_open(b->a, b, NULL, read_cb, NULL);
	/* nothing but the source, or memory, can fail before the first header is read */
	if (r != ARCHIVE_OK && b->src_err.status >= 0)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the archive reader");
	return r == ARCHIVE_OK ? FSC_OK : archive_fault(b, err);
}

/* ---- member bytes ---- */

/* The member is at its end: its digest, when the manifest gives one, must be right. */
static enum fsc_status member_end(struct fsc_bundle *b, struct fsc_err *err)
{
	if (!b->sha)
		return FSC_END;
	uint8_t got[FSC_SHA256_LEN];
	fsc_sha256_final(b->sha, got);
	fsc_sha256_free(b->sha);
	b->sha = NULL;
	if (!memcmp(got, b->file->sha256, sizeof(got)))
		return FSC_END;
	char hex[FSC_SHA256_HEX];
	fsc_hex(hex, got, sizeof(got));
	enum fsc_status st =
		fsc_err_set(err, FSC_ECORRUPT, "digest_mismatch",
			    "the bytes have sha256 %s, the manifest says another", hex);
	fsc_err_at(err, b->path.data, -1);
	return st;
}

static enum fsc_status count_bytes(struct fsc_bundle *b, size_t n, struct fsc_err *err)
{
	b->member_bytes += n;
	b->total_bytes += n;
	if (b->member_bytes > FSC_MAX_ENTRY_BYTES)
		return fsc_err_set(err, FSC_ELIMIT, "member_too_big",
				   "a member holds more than %llu bytes", FSC_MAX_ENTRY_BYTES);
	if (b->total_bytes > FSC_MAX_ARCHIVE_BYTES)
		return fsc_err_set(err, FSC_ELIMIT, "archive_too_big",
				   "the archive holds more than %llu bytes", FSC_MAX_ARCHIVE_BYTES);
	if (b->total_bytes > FSC_RATIO_GRACE_BYTES &&
	    b->total_bytes / FSC_MAX_RATIO > b->budget.raw->consumed)
		return fsc_err_set(err, FSC_ELIMIT, "bomb",
				   "archive members expand to more than %llu times their size",
				   FSC_MAX_RATIO);
	return FSC_OK;
}

static void count_zip(struct fsc_bundle *b, const void *p, size_t n)
{
	struct fsc_zip_member *m = &b->zip_members.v[b->zip_members.n - 1];
	m->whole = n == 0;
	m->size += n;
	m->crc = fsc_crc32(m->crc, p, n);
}

static enum fsc_status member_bytes(struct fsc_bundle *b, void *buf, size_t cap, size_t *n,
				    struct fsc_err *err)
{
	if (!b->a) {
		enum fsc_status st = fsc_source_read(b->src, buf, cap, n, err);
		return st == FSC_OK ? count_bytes(b, *n, err) : st;
	}
	la_ssize_t r = archive_read_data(b->a, buf, cap);
	if (r < 0)
		return archive_fault(b, err);
	if (b->zip)
		count_zip(b, buf, (size_t)r);
	if (r == 0)
		return member_end(b, err);
	*n = (size_t)r;
	if (b->sha)
		fsc_sha256_update(b->sha, buf, *n);
	return count_bytes(b, *n, err);
}

static enum fsc_status member_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				   struct fsc_err *err)
{
	struct member_source *m = (struct member_source *)s;
	*n = 0;
	if (!m->b->in_member)
		return FSC_END;
	if (m->fault.status < 0) {
		if (err)
			*err = m->fault;
		return m->fault.status;
	}
	enum fsc_status st = member_bytes(m->b, buf, cap, n, &m->fault);
	if (st < 0) {
		*n = 0;
		if (err)
			*err = m->fault;
	}
	return st;
}

static void member_free(struct fsc_source *s)
{
	(void)s; /* part of the bundle */
}

/* A single file is the upload itself. */
static int member_plain(struct fsc_source *s)
{
	const struct fsc_bundle *b = ((struct member_source *)s)->b;

	return fsc_bundle_is_archive(b) ? -1 : fsc_source_plain_fd(b->src);
}

static const struct fsc_source_ops member_ops = {
	.name = "member", .read = member_read, .free = member_free, .plain_fd = member_plain
};

static enum fsc_status view_read(struct fsc_source *s, void *buf, size_t cap, size_t *n,
				 struct fsc_err *err)
{
	return fsc_source_read(((struct view_source *)s)->inner, buf, cap, n, err);
}

static void view_free(struct fsc_source *s)
{
	fsc_free(s);
}

static int view_plain(struct fsc_source *s)
{
	return fsc_source_plain_fd(((struct view_source *)s)->inner);
}

static const struct fsc_source_ops view_ops = {
	.name = "view", .read = view_read, .free = view_free, .plain_fd = view_plain
};

struct fsc_source *fsc_bundle_member_source(struct fsc_bundle *b)
{
	return &b->member.base;
}

struct fsc_source *fsc_bundle_member_auto(struct fsc_bundle *b)
{
	struct view_source *v = fsc_xalloc(1, sizeof(*v));
	v->base.ops = &view_ops;
	v->inner = &b->member.base;
	return fsc_source_auto_within(&v->base, &b->budget);
}

/* ---- opening ---- */

/* The checksum of the first header tells a tar of any age; a zip has its mark. */
static bool looks_like_tar(const uint8_t *p, size_t n)
{
	unsigned sum = 0, said = 0;
	if (n < 512 || !p[0])
		return false;
	for (size_t i = 0; i < 512; i++)
		sum += i >= 148 && i < 156 ? ' ' : p[i];
	for (size_t i = 148; i < 156; i++) {
		if (p[i] >= '0' && p[i] <= '7')
			said = said * 8 + (p[i] - '0');
		else if (p[i] && p[i] != ' ')
			return false;
	}
	return sum == said;
}

static bool looks_like_zip(const uint8_t *p, size_t n)
{
	return n >= 4 && (!memcmp(p, "PK\3\4", 4) || !memcmp(p, "PK\5\6", 4));
}

enum fsc_status fsc_bundle_open(struct fsc_bundle **out, struct fsc_source *src, const char *name,
				struct fsc_err *err)
{
	const uint8_t *head;
	size_t n;
	struct fsc_bundle *b = fsc_xalloc(1, sizeof(*b));
	*out = NULL;
	b->budget.raw = src;
	b->src = fsc_source_auto_within(src, &b->budget);
	b->name = fsc_xstrdup(name ? name : "");
	b->src_err = (struct fsc_err)FSC_ERR_INIT;
	b->member.fault = (struct fsc_err)FSC_ERR_INIT;
	b->member.base.ops = &member_ops;
	b->member.b = b;
	fsc_buf_init(&b->path, 8 * FSC_MAX_PATH_BYTES);
	fsc_buf_init(&b->manifest_json, FSC_MAX_MANIFEST_BYTES);
	fsc_arena_init(&b->names, (size_t)FSC_MAX_ARCHIVE_ENTRIES * (FSC_MAX_PATH_BYTES + 64));
	enum fsc_status st = fsc_source_peek(b->src, &head, &n, err);
	if (st == FSC_OK && (looks_like_tar(head, n) || looks_like_zip(head, n))) {
		b->zip = looks_like_zip(head, n);
		b->in[0] = fsc_xalloc(1, IN_BYTES);
		b->in[1] = fsc_xalloc(1, IN_BYTES);
		b->seen = fsc_strtab_new();
		st = b->seen ? open_archive(b, err)
			     : fsc_err_set(err, FSC_ENOMEM, NULL,
					   "no memory for the list of members");
	}
	if (st != FSC_OK) {
		fsc_bundle_close(b);
		return st;
	}
	*out = b;
	return FSC_OK;
}

void fsc_bundle_close(struct fsc_bundle *b)
{
	if (!b)
		return;
	if (b->a)
		archive_read_free(b->a);
	fsc_sha256_free(b->sha);
	fsc_source_free(b->src);
	fsc_strtab_free(b->seen);
	fsc_manifest_free(b->manifest);
	fsc_buf_fini(&b->manifest_json);
	fsc_buf_fini(&b->path);
	fsc_vec_fini(&b->skipped);
	fsc_vec_fini(&b->zip_members);
	fsc_arena_fini(&b->names);
	fsc_free(b->in[0]);
	fsc_free(b->in[1]);
	fsc_free(b->name);
	fsc_free(b);
}

/* ---- walking ---- */

/* libarchive tells the compression of the current member of a zip in words: "ZIP 2.0 (deflation)". Its other
 * decoders (bzip2, lzma, ...) can use any amount of memory, and no writer of traces has them. */
static bool known_method(const char *format)
{
	return format && (strstr(format, "(uncompressed)") || strstr(format, "(deflation)"));
}

/* Path of the entry into b->path (repaired, without "./"); NULL code when it may be read. */
static enum fsc_status entry_code(const char **code, struct fsc_bundle *b, struct archive_entry *e,
				  struct fsc_err *err)
{
	const char *raw = archive_entry_pathname(e);
	if (!raw)
		raw = archive_entry_pathname_utf8(e);
	fsc_buf_clear(&b->path);
	*code = "member_bad_name";
	if (!raw)
		return FSC_OK;
	while (raw[0] == '.' && raw[1] == '/')
		raw += 2;
	size_t n = strlen(raw);
	b->renamed =
		fsc_member_text(&b->path, raw,
				n < 2 * FSC_MAX_PATH_BYTES ? n : 2 * FSC_MAX_PATH_BYTES, b->zip);
	if (fsc_buf_status(&b->path) == FSC_ENOMEM)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the name of a member");
	if (archive_entry_filetype(e) == AE_IFDIR)
		*code = "member_bad_name";
	else if (archive_entry_hardlink(e))
		*code = "member_hardlink";
	else if (archive_entry_filetype(e) == AE_IFLNK)
		*code = "member_symlink";
	else if (archive_entry_filetype(e) != AE_IFREG)
		*code = "member_device";
	else if (archive_entry_is_data_encrypted(e))
		*code = "member_encrypted";
	else if (b->zip && !known_method(archive_format_name(b->a)))
		*code = "member_compression";
	else
		*code = fsc_member_name_code(raw, n);
	if (*code)
		return FSC_OK;
	uint32_t before = fsc_strtab_count(b->seen), id;
	if (fsc_strtab_put(&id, b->seen, b->path.data, b->path.len) != FSC_OK)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the list of members");
	if (fsc_strtab_count(b->seen) == before)
		*code = "member_duplicate";
	return FSC_OK;
}

/* Notes a member of a zip for the comparison with the directory. */
static enum fsc_status note_zip(struct fsc_bundle *b, struct archive_entry *e, struct fsc_err *err)
{
	const char *name = archive_entry_pathname(e);
	struct fsc_zip_member m = { .at = (uint64_t)archive_read_header_position(b->a),
				    .name = name ? fsc_zip_name_hash(name, strlen(name)) : 0 };
	return fsc_vec_push(&b->zip_members, m)
		       ? FSC_OK
		       : fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the list of members");
}

/* The next entry that may be read; what may not is reported. FSC_END after the last. */
static enum fsc_status next_entry(struct fsc_bundle *b, struct archive_entry **e,
				  struct fsc_err *err)
{
	for (;;) {
		const char *code;
		int r = archive_read_next_header(b->a, e);
		if (r == ARCHIVE_EOF)
			return FSC_END;
		if (r < ARCHIVE_WARN)
			return archive_fault(b, err);
		if (++b->n_entries > FSC_MAX_ARCHIVE_ENTRIES)
			return fsc_err_set(err, FSC_ELIMIT, "too_many_entries",
					   "the archive has more than %u entries",
					   FSC_MAX_ARCHIVE_ENTRIES);
		enum fsc_status st = b->zip ? note_zip(b, *e, err) : FSC_OK;
		if (st != FSC_OK)
			return st;
		/* a folder with bytes in it is a damaged name of a file */
		if (archive_entry_filetype(*e) == AE_IFDIR && archive_entry_size(*e) <= 0)
			continue;
		st = entry_code(&code, b, *e, err);
		if (st == FSC_OK && code)
			st = skip(b, b->path.data ? b->path.data : "", code, err);
		if (st != FSC_OK)
			return st;
		if (!code)
			return FSC_OK;
	}
}

static enum fsc_status read_manifest(struct fsc_bundle *b, struct fsc_err *err)
{
	for (;;) {
		size_t n;
		char *room = fsc_buf_room(&b->manifest_json, 64 * FSC_KIB);
		if (!room && fsc_buf_status(&b->manifest_json) == FSC_ENOMEM)
			return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the manifest");
		if (!room)
			return fsc_err_set(err, FSC_ELIMIT, "manifest_too_big",
					   "manifest: more than %llu bytes",
					   FSC_MAX_MANIFEST_BYTES);
		enum fsc_status st = fsc_source_read(&b->member.base, room, 64 * FSC_KIB, &n, err);
		if (st == FSC_END)
			break;
		if (st != FSC_OK)
			return st;
		b->manifest_json.len += n;
	}
	fsc_buf_add(&b->manifest_json, "", 0); /* room is not terminated, callers take it as text */
	if (fsc_buf_status(&b->manifest_json) == FSC_ENOMEM)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the manifest");
	return fsc_manifest_parse(&b->manifest, b->manifest_json.data ? b->manifest_json.data : "",
				  b->manifest_json.len, err);
}

static void start_member(struct fsc_bundle *b)
{
	b->in_member = true;
	fsc_err_clear(&b->member.fault);
	b->member_bytes = 0;
	b->member.base.consumed = 0;
	b->file = fsc_manifest_file(b->manifest, b->path.data);
	if (!b->file)
		return;
	b->file->seen = true;
	if (b->file->has_sha256)
		b->sha = fsc_sha256_new();
}

static bool all_zero(const char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && !memcmp(p, p + 1, n - 1));
}

/* How much of the newest pieces libarchive has not taken. */
static size_t unread_bytes(const struct fsc_bundle *b)
{
	int64_t n = (int64_t)b->src->consumed - archive_filter_bytes(b->a, 0);
	size_t have = b->in_n[0] + b->in_n[1];
	return n < 0 ? 0 : (size_t)n < have ? (size_t)n : have;
}

/*
 * What lies behind the last member is read too, since a checksum of the compression may be there. Of a zip it is
 * kept: the directory. Behind a tar, other bytes than zero mean that something was appended that nobody reads.
 */
static enum fsc_status read_rest(struct fsc_bundle *b, struct fsc_buf *tail, struct fsc_err *err)
{
	size_t newer = b->in_n[b->newer], left = unread_bytes(b);
	size_t older = left > newer ? left - newer : 0;
	const char *p = b->in[!b->newer] + b->in_n[!b->newer] - older;
	bool zero = true;
	size_t n = older;
	left -= older;
	for (;;) {
		zero = zero && all_zero(p, n);
		if (b->zip)
			fsc_buf_add(tail, p, n);
		if (fsc_buf_status(tail) == FSC_ENOMEM)
			return fsc_err_set(err, FSC_ENOMEM, NULL,
					   "no memory for the zip's directory");
		if (fsc_buf_status(tail) != FSC_OK)
			return fsc_err_set(err, FSC_ELIMIT, "archive_directory_too_big",
					   "the directory of the zip is larger than %llu bytes",
					   FSC_MAX_ZIP_DIRECTORY_BYTES);
		if (left) {
			p = b->in[b->newer] + newer - left;
			n = left;
			left = 0;
			continue;
		}
		enum fsc_status st = read_piece(b, err);
		if (st != FSC_OK) {
			if (st == FSC_END && !b->zip && !zero &&
			    skip(b, b->name, "archive_trailing_data", err) != FSC_OK)
				st = FSC_ENOMEM;
			return st;
		}
		p = b->in[b->newer];
		n = b->in_n[b->newer];
	}
}

static enum fsc_status check_directory(struct fsc_bundle *b, const struct fsc_buf *tail,
				       struct fsc_err *err)
{
	enum fsc_status st = fsc_zip_directory_check(b->zip_members.v, b->zip_members.n,
						     (const uint8_t *)tail->data, tail->len,
						     b->src->consumed - tail->len, err);
	if (st != FSC_OK) {
		fsc_err_at(err, NULL, (int64_t)b->src->consumed);
		return st;
	}
	for (size_t i = 0; i < b->zip_members.n; i++)
		if (!b->zip_members.v[i].listed)
			return skip(b, b->name, "archive_not_listed", err);
	return FSC_OK;
}

/* The archive ended. */
static enum fsc_status finish(struct fsc_bundle *b, struct fsc_err *err)
{
	if (b->finished)
		return FSC_END;
	struct fsc_buf tail = FSC_BUF_INIT(FSC_MAX_ZIP_DIRECTORY_BYTES);
	enum fsc_status st = read_rest(b, &tail, err);
	if (st == FSC_END && b->zip) {
		st = check_directory(b, &tail, err);
		if (st == FSC_OK)
			st = FSC_END;
	}
	fsc_buf_fini(&tail);
	if (st != FSC_END)
		return st;
	b->finished = true;
	for (size_t i = 0; b->manifest && i < b->manifest->n_files; i++) {
		struct fsc_manifest_file *f = &b->manifest->files[i];
		if (f->seen)
			continue;
		st = skip(b, f->path, "member_missing", err);
		if (st != FSC_OK)
			return st;
	}
	return FSC_END;
}

static enum fsc_status next_single(struct fsc_bundle *b, struct fsc_member *m)
{
	b->in_member = !b->given;
	if (b->given)
		return FSC_END;
	b->given = true;
	*m = (struct fsc_member){ .path = b->name, .size = -1 };
	return FSC_OK;
}

enum fsc_status fsc_bundle_next(struct fsc_bundle *b, struct fsc_member *m, struct fsc_err *err)
{
	struct archive_entry *e;
	fsc_sha256_free(b->sha);
	b->sha = NULL;
	b->in_member = false;
	if (!b->a)
		return next_single(b, m);
	/* a member that passed a limit of the whole ends the whole */
	if (b->n_entries && fsc_source_budget_add(&b->budget, 0, err) != FSC_OK)
		return FSC_ELIMIT;
	for (;;) {
		enum fsc_status st = next_entry(b, &e, err);
		if (st == FSC_END)
			return finish(b, err);
		if (st != FSC_OK)
			return st;
		bool first = b->n_files++ == 0;
		start_member(b);
		if (strcmp(b->path.data, FSC_MANIFEST_NAME) != 0)
			break;
		st = first ? read_manifest(b, err)
			   : skip(b, b->path.data, "manifest_not_first", err);
		if (st != FSC_OK)
			return st;
	}
	*m = (struct fsc_member){ .path = b->path.data,
				  .renamed = b->renamed,
				  .size = archive_entry_size_is_set(e) ? archive_entry_size(e) : -1,
				  .file = b->file };
	if (m->size > (int64_t)FSC_MAX_ENTRY_BYTES)
		return fsc_err_set(err, FSC_ELIMIT, "member_too_big",
				   "a member holds more than %llu bytes", FSC_MAX_ENTRY_BYTES);
	return FSC_OK;
}

bool fsc_bundle_is_archive(const struct fsc_bundle *b)
{
	return b->a != NULL;
}

const struct fsc_manifest *fsc_bundle_manifest(const struct fsc_bundle *b)
{
	return b->manifest;
}

const char *fsc_bundle_manifest_json(const struct fsc_bundle *b, size_t *n)
{
	*n = b->manifest ? b->manifest_json.len : 0;
	return b->manifest ? b->manifest_json.data : NULL;
}

const struct fsc_skipped *fsc_bundle_skipped(const struct fsc_bundle *b, size_t *n)
{
	*n = b->skipped.n;
	return b->skipped.v;
}
