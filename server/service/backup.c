/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking a backup. Files are immutable, come before the row that names them and go after it. So: first nothing is
 * deleted any more, then the database is copied, then whatever that copy names; and the mark of a finished backup last.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json_out.h"
#include "service/backup_int.h"
#include "store/files.h"

#define WAIT_MS 60000

enum fsc_status fsc_backup_check_data(const char *data, struct fsc_err *err)
{
	if (fsc_backup_has(data, FSC_RESTORE_PART))
		return fsc_err_set(err, FSC_EUNSUPPORTED, "restore_unfinished",
				   "%.150s: a restore into it was cut off; run it again", data);
	if (fsc_backup_has(data, FSC_BACKUP_JSON) || fsc_backup_has(data, FSC_BACKUP_PART))
		return fsc_err_set(err, FSC_EUNSUPPORTED, "is_backup",
				   "%.150s: is a backup; restore it into another folder", data);
	return FSC_OK;
}

static bool inside(const char *inner, const char *outer)
{
	size_t n = strlen(outer);

	return !strncmp(inner, outer, n) && (inner[n] == '/' || !inner[n]);
}

static enum fsc_status check_places(const struct fsc_backup_opts *o, struct fsc_err *err)
{
	char data[PATH_MAX], out[PATH_MAX];

	if (!fsc_backup_has(o->data, FSC_BACKUP_DB))
		return fsc_err_set(err, FSC_ENOTFOUND, "no_data",
				   "%.150s: no data folder, it has no " FSC_BACKUP_DB, o->data);
	if (!fsc_backup_is_empty(o->out) && !fsc_backup_has(o->out, FSC_BACKUP_PART) &&
	    !fsc_backup_has(o->out, FSC_BACKUP_JSON))
		return fsc_err_set(err, FSC_EEXIST, "not_empty",
				   "%.150s: is not empty and no earlier backup", o->out);
	enum fsc_status st = fsc_fs_mkdirs(o->out, 0700, err);

	if (st != FSC_OK)
		return st;
	if (!realpath(o->data, data) || !realpath(o->out, out))
		return fsc_err_sys(err, errno, "%s or %s", o->data, o->out);
	if (inside(out, data) || inside(data, out))
		return fsc_err_set(err, FSC_EINVAL, "backup_inside",
				   "a backup lies outside of the data folder, and not around it");
	return FSC_OK;
}

/* ---- what an earlier backup has and this one does not ---- */

struct pruning {
	struct fsc_store *store;
	struct fsc_blobs *out;
};

static enum fsc_status prune_one(void *ctx, const struct fsc_blob_entry *e, struct fsc_err *err)
{
	struct pruning *p = ctx;
	bool kept = false;
	enum fsc_status st = FSC_OK;

	if (e->kind == FSC_BLOB_TEMP)
		return fsc_blobs_temp_delete(p->out, e->temp, err);
	if (e->kind == FSC_BLOB_BLOB)
		st = fsc_store_blob_referenced(p->store, e->sha256, &kept, err);
	else
		st = fsc_store_segment_referenced(p->store, e->segment, &kept, err);
	if (st != FSC_OK || kept)
		return st;
	return e->kind == FSC_BLOB_BLOB ? fsc_blob_delete(p->out, e->sha256, err)
					: fsc_seg_file_delete(p->out, e->segment, err);
}

static enum fsc_status prune(struct fsc_store *copy, struct fsc_blobs *out, struct fsc_err *err)
{
	static const enum fsc_blob_kind kinds[] = { FSC_BLOB_TEMP, FSC_BLOB_BLOB,
						    FSC_BLOB_SEGMENT };
	struct pruning p = { copy, out };
	enum fsc_status st = FSC_OK;

	for (size_t i = 0; i < FSC_ARRAY_LEN(kinds) && st == FSC_OK; i++)
		st = fsc_blobs_list(out, kinds[i], prune_one, &p, err);
	return st;
}

/* ---- the parts ---- */

static enum fsc_status copy_database(const struct fsc_backup_opts *o, struct fsc_err *err)
{
	char *part = fsc_backup_path(o->out, FSC_BACKUP_DB_PART);
	struct fsc_store *live = NULL;
	enum fsc_status st = FSC_OK;

	if (unlink(part) && errno != ENOENT)
		st = fsc_err_sys(err, errno, "remove %s", part);
	if (st == FSC_OK)
		st = fsc_backup_open_db(&live, o->data, FSC_BACKUP_DB, err);
	if (st == FSC_OK)
		st = fsc_store_backup(live, part, err);
	fsc_store_close(live);
	fsc_free(part);
	return st;
}

static enum fsc_status copy_files(const struct fsc_backup_opts *o, struct fsc_blobs *src,
				  bool again, struct fsc_backup_done *done, struct fsc_err *err)
{
	const struct fsc_blobs_opts use = { .use = FSC_BLOBS_COPY };
	struct fsc_blob_copy c = { .src = src, .link = o->link, .again = again };
	struct fsc_store *copy = NULL;
	enum fsc_status st = fsc_blobs_open(&c.dst, o->out, &use, err);

	if (st == FSC_OK)
		st = fsc_backup_open_db(&copy, o->out, FSC_BACKUP_DB_PART, err);
	if (st == FSC_OK)
		st = fsc_backup_copy_files(o, &c, copy, done, err);
	if (st == FSC_OK)
		st = prune(copy, c.dst, err);
	fsc_store_close(copy);
	if (st == FSC_OK)
		st = fsc_blobs_sync(c.dst, err);
	fsc_blobs_close(c.dst);
	return st;
}

static enum fsc_status write_json(const struct fsc_backup_opts *o,
				  const struct fsc_backup_done *done,
				  const uint8_t sha256[FSC_SHA256_LEN], struct fsc_err *err)
{
	char *path = fsc_backup_path(o->out, FSC_BACKUP_JSON);
	char hex[FSC_SHA256_HEX], now[32];
	struct fsc_buf b = FSC_BUF_INIT(64 << 10);
	struct fsc_json j;
	enum fsc_status st;

	fsc_hex(hex, sha256, FSC_SHA256_LEN);
	fsc_clock_iso8601(now, fsc_clock_real_ns());
	fsc_json_init(&j, &b);
	fsc_json_obj(&j);
	fsc_json_kstr(&j, "format", FSC_BACKUP_FORMAT);
	fsc_json_kint(&j, "version", FSC_BACKUP_VERSION);
	fsc_json_kstr(&j, "program", FSC_VERSION);
	fsc_json_kstr(&j, "finished_at", now);
	fsc_json_kstr(&j, "database_sha256", hex);
	fsc_json_kuint(&j, "database_bytes", done->database_bytes);
	fsc_json_kuint(&j, "blobs", done->blobs);
	fsc_json_kuint(&j, "segments", done->segments);
	fsc_json_kuint(&j, "file_bytes", done->bytes);
	fsc_json_kuint(&j, "lost_files", done->lost);
	fsc_json_obj_end(&j);
	fsc_buf_addc(&b, '\n');
	st = fsc_buf_status(&b);
	if (st == FSC_OK)
		st = fsc_fs_replace(path, b.data, b.len, 0600, err);
	fsc_buf_fini(&b);
	fsc_free(path);
	return st;
}

static enum fsc_status finish(const struct fsc_backup_opts *o, struct fsc_backup_done *done,
			      struct fsc_err *err)
{
	char *db = fsc_backup_path(o->out, FSC_BACKUP_DB);
	uint8_t sha256[FSC_SHA256_LEN];
	enum fsc_status st = fsc_backup_rename(o->out, FSC_BACKUP_DB_PART, FSC_BACKUP_DB, err);

	if (st == FSC_OK)
		st = fsc_backup_digest(sha256, &done->database_bytes, db, NULL, err);
	if (st == FSC_OK)
		st = write_json(o, done, sha256, err);
	if (st == FSC_OK)
		st = fsc_backup_unmark(o->out, FSC_BACKUP_PART, err);
	fsc_free(db);
	return st;
}

enum fsc_status fsc_backup(const struct fsc_backup_opts *o, struct fsc_backup_done *done,
			   struct fsc_err *err)
{
	const struct fsc_blobs_opts use = { .use = FSC_BLOBS_READ };
	struct fsc_blobs *src = NULL;
	bool again = false;
	int hold = -1;
	enum fsc_status st;

	*done = (struct fsc_backup_done){ 0 };
	st = fsc_backup_check_data(o->data, err);
	if (st == FSC_OK)
		st = check_places(o, err);
	if (st == FSC_OK)
		st = fsc_blobs_open(&src, o->data, &use, err);
	/* Held to the very end: a second backup that waits may be one into the same folder. */
	if (st == FSC_OK)
		st = fsc_blobs_hold(&hold, src, o->wait_ms ? o->wait_ms : WAIT_MS, err);
	if (st == FSC_OK)
		st = fsc_backup_mark(o->out, FSC_BACKUP_PART, &again, err);
	/* From here on the backup that was here before does not count any more. */
	if (st == FSC_OK)
		st = fsc_backup_unmark(o->out, FSC_BACKUP_JSON, err);
	if (st == FSC_OK)
		st = copy_database(o, err);
	if (st == FSC_OK)
		st = copy_files(o, src, again, done, err);
	if (st == FSC_OK)
		st = finish(o, done, err);
	if (hold >= 0)
		close(hold);
	fsc_blobs_close(src);
	return st;
}
