/* SPDX-License-Identifier: Apache-2.0 */
/* A backup becomes a data folder: files first, the database last, and a mark that keeps servers away meanwhile. */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fs.h"
#include "service/backup_int.h"

#define JSON_MAX_BYTES (64u << 10)

/* What backup.json says of the database. */
static enum fsc_status read_json(char sha256_hex[FSC_SHA256_HEX], const char *in,
				 struct fsc_err *err)
{
	char *path = fsc_backup_path(in, FSC_BACKUP_JSON), *text = NULL;
	const char *format, *hex;
	json_t *root = NULL;
	size_t n = 0;
	enum fsc_status st = fsc_fs_read_file(&text, &n, path, JSON_MAX_BYTES, err);

	fsc_free(path);
	if (st != FSC_OK)
		return fsc_err_set(err, FSC_ECORRUPT,
				   fsc_backup_has(in, FSC_BACKUP_PART) ? "backup_unfinished"
								       : "not_a_backup",
				   "%.150s: no finished backup, it has no " FSC_BACKUP_JSON, in);
	root = json_loadb(text, n, 0, NULL);
	format = json_string_value(json_object_get(root, "format"));
	hex = json_string_value(json_object_get(root, "database_sha256"));
	if (!format || strcmp(format, FSC_BACKUP_FORMAT) != 0 || !hex ||
	    strlen(hex) != FSC_SHA256_HEX - 1)
		st = fsc_err_set(err, FSC_ECORRUPT, "not_a_backup",
				 "%.150s: its " FSC_BACKUP_JSON " is not one", in);
	else if (json_integer_value(json_object_get(root, "version")) != FSC_BACKUP_VERSION)
		st = fsc_err_set(err, FSC_EUNSUPPORTED, "backup_newer",
				 "%.150s: a backup of version %lld, this program knows %d", in,
				 (long long)json_integer_value(json_object_get(root, "version")),
				 FSC_BACKUP_VERSION);
	else
		memcpy(sha256_hex, hex, FSC_SHA256_HEX);
	json_decref(root);
	fsc_free(text);
	return st;
}

static enum fsc_status check_target(const char *data, struct fsc_err *err)
{
	if (fsc_backup_is_empty(data) || fsc_backup_has(data, FSC_RESTORE_PART))
		return FSC_OK;
	return fsc_err_set(err, FSC_EEXIST, "not_empty", "%.150s: is not empty", data);
}

/* For writing, so that the backup of an older version is migrated here and now. */
static enum fsc_status open_part(struct fsc_store **out, const char *data, struct fsc_err *err)
{
	char *url = fsc_xasprintf("sqlite:%s/" FSC_BACKUP_DB_PART, data);
	enum fsc_status st = fsc_store_open(out, url, NULL, err);

	fsc_free(url);
	return st;
}

/* What a restore that was cut off left beside its database. */
static enum fsc_status clear_part(const char *data, struct fsc_err *err)
{
	static const char *const names[] = { FSC_BACKUP_DB_PART, FSC_BACKUP_DB_PART "-wal",
					     FSC_BACKUP_DB_PART "-shm" };
	enum fsc_status st = FSC_OK;

	for (size_t i = 0; i < FSC_ARRAY_LEN(names) && st == FSC_OK; i++)
		st = fsc_backup_unmark(data, names[i], err);
	return st;
}

static enum fsc_status copy_files(const struct fsc_backup_opts *o, bool again,
				  struct fsc_backup_done *done, struct fsc_err *err)
{
	const struct fsc_blobs_opts from = { .use = FSC_BLOBS_READ },
				    to = { .use = FSC_BLOBS_COPY };
	struct fsc_blob_copy c = { .link = o->link, .again = again };
	struct fsc_store *copy = NULL;
	enum fsc_status st = fsc_blobs_open(&c.src, o->out, &from, err);

	if (st == FSC_OK)
		st = fsc_blobs_open(&c.dst, o->data, &to, err);
	if (st == FSC_OK)
		st = open_part(&copy, o->data, err);
	if (st == FSC_OK)
		st = fsc_backup_copy_files(o, &c, copy, done, err);
	fsc_store_close(copy);
	if (st == FSC_OK)
		st = fsc_blobs_sync(c.dst, err);
	fsc_blobs_close(c.dst);
	fsc_blobs_close(c.src);
	return st;
}

static enum fsc_status copy_database(const struct fsc_backup_opts *o, const char *want,
				     uint64_t *bytes, struct fsc_err *err)
{
	char *from = fsc_backup_path(o->out, FSC_BACKUP_DB);
	char *to = fsc_backup_path(o->data, FSC_BACKUP_DB_PART);
	char hex[FSC_SHA256_HEX];
	uint8_t sha256[FSC_SHA256_LEN];
	enum fsc_status st = fsc_backup_digest(sha256, bytes, from, to, err);

	fsc_hex(hex, sha256, FSC_SHA256_LEN);
	if (st == FSC_OK && strcmp(hex, want) != 0)
		st = fsc_err_set(err, FSC_ECORRUPT, "database_differs",
				 "%.150s: is not as it was when the backup was made", from);
	fsc_free(from);
	fsc_free(to);
	return st;
}

enum fsc_status fsc_restore(const struct fsc_backup_opts *o, struct fsc_backup_done *done,
			    struct fsc_err *err)
{
	char want[FSC_SHA256_HEX];
	bool again = false;
	enum fsc_status st;

	*done = (struct fsc_backup_done){ 0 };
	st = read_json(want, o->out, err);
	if (st == FSC_OK)
		st = check_target(o->data, err);
	if (st == FSC_OK)
		st = fsc_fs_mkdirs(o->data, 0700, err);
	if (st == FSC_OK)
		st = fsc_backup_mark(o->data, FSC_RESTORE_PART, &again, err);
	if (st == FSC_OK)
		st = clear_part(o->data, err);
	if (st == FSC_OK)
		st = copy_database(o, want, &done->database_bytes, err);
	if (st == FSC_OK)
		st = copy_files(o, again, done, err);
	if (st == FSC_OK)
		st = fsc_backup_rename(o->data, FSC_BACKUP_DB_PART, FSC_BACKUP_DB, err);
	if (st == FSC_OK)
		st = fsc_backup_unmark(o->data, FSC_RESTORE_PART, err);
	return st;
}
