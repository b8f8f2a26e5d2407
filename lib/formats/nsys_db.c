/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The database of an untrusted export: opened so that nothing in it can run, and walked row by row. Only tables that are
 * plain tables are read: views, virtual tables and triggers could name themselves like one.
 */
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "formats/nsys_int.h"

#define READ_STEP ((size_t)FSC_MIB)
#define HEADER_BYTES 100u
/* Steps of SQLite's machine: a row takes one or two for each column, and a column a byte or more. */
#define STEPS_EACH 1000
#define STEPS_FREE 2000000u
#define STEPS_PER_BYTE 16u
/* Lengths, row number, header and pointer of a row: a table of more rows visits pages more than once. */
#define ROW_BYTES_MIN 5u
#define PROGRESS_ROWS 0x10000u

static const char *const columns[NC_COLS] = {
	[NC_START] = "start",
	[NC_END] = "end",
	[NC_DEVICE] = "deviceId",
	[NC_CONTEXT] = "contextId",
	[NC_STREAM] = "streamId",
	[NC_CORRELATION] = "correlationId",
	[NC_GLOBAL_PID] = "globalPid",
	[NC_GLOBAL_TID] = "globalTid",
	[NC_DEMANGLED] = "demangledName",
	[NC_SHORT] = "shortName",
	[NC_MANGLED] = "mangledName",
	[NC_GRID_X] = "gridX",
	[NC_GRID_Y] = "gridY",
	[NC_GRID_Z] = "gridZ",
	[NC_BLOCK_X] = "blockX",
	[NC_BLOCK_Y] = "blockY",
	[NC_BLOCK_Z] = "blockZ",
	[NC_REGISTERS] = "registersPerThread",
	[NC_STATIC_SHARED] = "staticSharedMemory",
	[NC_DYNAMIC_SHARED] = "dynamicSharedMemory",
	[NC_GRAPH] = "graphId",
	[NC_GRAPH_NODE] = "graphNodeId",
	[NC_BYTES] = "bytes",
	[NC_COPY_KIND] = "copyKind",
	[NC_SRC_KIND] = "srcKind",
	[NC_DST_KIND] = "dstKind",
	[NC_MEM_KIND] = "memKind",
	[NC_NAME_ID] = "nameId",
	[NC_EVENT_TYPE] = "eventType",
	[NC_TEXT] = "text",
	[NC_TEXT_ID] = "textId",
	[NC_DOMAIN] = "domainId",
	[NC_RANGE] = "rangeId",
	[NC_END_TID] = "endGlobalTid",
	[NC_JSON_TEXT] = "jsonText",
	[NC_JSON_TEXT_ID] = "jsonTextId",
	[NC_SYNC_TYPE] = "syncType",
	[NC_ID] = "id",
	[NC_VALUE] = "value",
	[NC_NAME] = "name",
	[NC_PID] = "pid",
	[NC_EPOCH] = "utcEpochNs",
	[NC_RANK] = "rank",
};

/* ---- errors ---- */

static enum fsc_status at_page(struct nsys *x, enum fsc_status st)
{
	fsc_err_at(x->err, NULL, (int64_t)x->vfs.last);
	return st;
}

enum fsc_status fsc_ns_sql_failed(struct nsys *x, int rc)
{
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return fsc_err_set(x->err, FSC_ENOMEM, NULL, "no memory for the database");
	case SQLITE_INTERRUPT:
		return at_page(x, fsc_err_set(x->err, FSC_ELIMIT, "nsys_too_slow",
					      "nsys: reading this database takes more steps than "
					      "its size explains: it is damaged"));
	case SQLITE_IOERR:
		if (x->vfs.errnum)
			return fsc_err_sys(x->err, x->vfs.errnum, "read input");
		/* fallthrough */
	default:
		return at_page(x, fsc_err_set(x->err, FSC_ECORRUPT, "nsys_corrupt",
					      "nsys: the database is damaged: %s",
					      x->db ? sqlite3_errmsg(x->db) : "it does not open"));
	}
}

static enum fsc_status truncated(struct nsys *x, uint64_t should)
{
	enum fsc_status st = fsc_err_set(x->err, FSC_ECORRUPT, "nsys_truncated",
					 "nsys: the database ends early: it says that it has "
					 "%" PRIu64 " bytes",
					 should);

	fsc_err_at(x->err, NULL, (int64_t)x->vfs.size);
	return st;
}

/* ---- opening ---- */

/* What is compressed or comes out of an archive is copied: SQLite reads at any place. */
static enum fsc_status copy_source(struct nsys *x)
{
	enum fsc_status st = FSC_OK;

	while (st == FSC_OK) {
		size_t step = x->raw.len < READ_STEP ? READ_STEP / 16 : READ_STEP, n = 0;
		char *room = fsc_buf_room(&x->raw, step);

		if (x->raw.failed == FSC_ELIMIT) {
			fsc_err_set(
				x->err, FSC_ELIMIT, "database_too_big",
				"nsys: a compressed or packed database of more than %llu bytes: "
				"upload it as it is",
				FSC_MAX_DATABASE_BYTES);
			fsc_err_at(x->err, NULL, (int64_t)x->raw.len);
			return FSC_ELIMIT;
		}
		if (!room)
			return fsc_ns_failed(x, FSC_ENOMEM);
		st = fsc_source_read(x->src, room, step, &n, x->err);
		x->raw.len += n;
		if (x->sink->progress)
			x->sink->progress(x->sink->ctx, x->raw.len, 0);
	}
	return st == FSC_END ? FSC_OK : st;
}

static enum fsc_status add_file(struct nsys *x)
{
	int fd = fsc_source_plain_fd(x->src);
	struct stat sb;

	if (fd >= 0) {
		if (fsc_fs_fstat(fd, &sb) < 0)
			return fsc_err_set(x->err, FSC_EIO, NULL, "nsys: the input has no size");
		if (!fsc_nsys_vfs_add(&x->vfs, fd, NULL, (uint64_t)sb.st_size))
			return fsc_ns_failed(x, FSC_ENOMEM);
		return FSC_OK;
	}
	FSC_TRY(copy_source(x));
	if (!fsc_nsys_vfs_add(&x->vfs, -1, x->raw.data, x->raw.len))
		return fsc_ns_failed(x, FSC_ENOMEM);
	return FSC_OK;
}

static uint64_t big_endian(const uint8_t *p, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

/* The file header (sqlite.org/fileformat.html): a file that was cut short is told as that, not as damage. */
static enum fsc_status check_header(struct nsys *x)
{
	uint8_t h[HEADER_BYTES];
	uint64_t page;

	if (x->vfs.size < sizeof(h))
		return truncated(x, sizeof(h));
	if (x->vfs.fd < 0)
		memcpy(h, x->vfs.p, sizeof(h));
	else if (pread(x->vfs.fd, h, sizeof(h), 0) != (ssize_t)sizeof(h))
		return fsc_err_set(x->err, FSC_EIO, NULL, "nsys: the input cannot be read");
	page = big_endian(h + 16, 2);
	if (page == 1)
		page = 65536;
	/* the number of pages counts when the writer said that it kept it up to date */
	if (big_endian(h + 24, 4) == big_endian(h + 92, 4) &&
	    big_endian(h + 28, 4) * page > x->vfs.size)
		return truncated(x, big_endian(h + 28, 4) * page);
	x->wal = h[18] == 2 || h[19] == 2;
	return FSC_OK;
}

/* Reading columns is allowed, counting rows, and nothing else. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *c,
		     const char *d)
{
	const struct nsys *x = ctx;

	(void)a;
	(void)c;
	(void)d;
	if (x->asking || action == SQLITE_SELECT || action == SQLITE_READ)
		return SQLITE_OK;
	if (action == SQLITE_FUNCTION && b && !strcmp(b, "count"))
		return SQLITE_OK;
	return SQLITE_DENY;
}

static int on_steps(void *ctx)
{
	struct nsys *x = ctx;

	return ++x->steps > x->max_steps;
}

static void forbid(struct nsys *x)
{
	static const struct {
		int what, max;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, 64 << 20 },   { SQLITE_LIMIT_SQL_LENGTH, 1 << 18 },
		{ SQLITE_LIMIT_COLUMN, 500 },	     { SQLITE_LIMIT_EXPR_DEPTH, 50 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 2 }, { SQLITE_LIMIT_VDBE_OP, 25000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 8 },    { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 8 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },  { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64 },
	};
	static const int off[] = { SQLITE_DBCONFIG_ENABLE_VIEW,
				   SQLITE_DBCONFIG_ENABLE_TRIGGER,
				   SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
				   SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
				   SQLITE_DBCONFIG_TRUSTED_SCHEMA,
				   SQLITE_DBCONFIG_DQS_DML,
				   SQLITE_DBCONFIG_DQS_DDL };

	for (size_t i = 0; i < FSC_ARRAY_LEN(limits); i++)
		sqlite3_limit(x->db, limits[i].what, limits[i].max);
	for (size_t i = 0; i < FSC_ARRAY_LEN(off); i++)
		sqlite3_db_config(x->db, off[i], 0, NULL);
	sqlite3_db_config(x->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
}

enum fsc_status fsc_ns_open(struct nsys *x)
{
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
		    SQLITE_OPEN_PRIVATECACHE;
	int rc;

	FSC_TRY(add_file(x));
	FSC_TRY(check_header(x));
	rc = sqlite3_open_v2("nsys", &x->db, flags, x->vfs.name);
	if (rc == SQLITE_OK) {
		forbid(x);
		rc = sqlite3_exec(x->db, fsc_nsys_settings, NULL, NULL, NULL);
	}
	if (rc != SQLITE_OK)
		return fsc_ns_sql_failed(x, rc);
	x->max_steps = (STEPS_FREE + STEPS_PER_BYTE * x->vfs.size) / STEPS_EACH;
	sqlite3_progress_handler(x->db, STEPS_EACH, on_steps, x);
	sqlite3_set_authorizer(x->db, authorize, x);
	return FSC_OK;
}

void fsc_ns_close(struct nsys *x)
{
	sqlite3_finalize(x->string);
	sqlite3_close(x->db);
	x->string = NULL;
	x->db = NULL;
	fsc_nsys_vfs_remove(&x->vfs);
}

/* ---- rows ---- */

/* The first row of a statement about a table: SQLITE_ROW, SQLITE_DONE or an error. */
static int ask(sqlite3_stmt **s, struct nsys *x, const char *sql, const char *table)
{
	int rc = sqlite3_prepare_v2(x->db, sql, -1, s, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(*s, 1, table, -1, SQLITE_STATIC);
	return rc == SQLITE_OK ? sqlite3_step(*s) : rc;
}

/* A plain table has pages of its own, and no column that is computed when it is read. */
static int is_plain(bool *plain, bool *there, struct nsys *x, const char *table)
{
	sqlite3_stmt *s = NULL;
	int rc = ask(&s, x, fsc_nsys_look, table);

	*there = rc == SQLITE_ROW;
	*plain = false;
	if (rc == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(s, 0);

		*plain = type && !strcmp(type, "table") && sqlite3_column_int64(s, 1) > 0;
	}
	sqlite3_finalize(s);
	if (!*plain)
		return rc == SQLITE_ROW ? SQLITE_DONE : rc;
	s = NULL;
	x->asking = true;
	rc = ask(&s, x, fsc_nsys_computed, table);
	x->asking = false;
	sqlite3_finalize(s);
	*plain = rc == SQLITE_DONE;
	return rc == SQLITE_ROW ? SQLITE_DONE : rc;
}

/* FSC_END when there is no plain table of this name. */
static enum fsc_status look(struct nsys *x, const char *table)
{
	bool plain, there;
	int rc = is_plain(&plain, &there, x, table);

	if (rc != SQLITE_DONE)
		return fsc_ns_sql_failed(x, rc);
	fsc_ns_note(x, &x->n.not_plain, there && !plain);
	return plain ? FSC_OK : FSC_END;
}

/* A statement over a table that is there. A table that cannot be read without running something is left out. */
static enum fsc_status prepare(sqlite3_stmt **s, struct nsys *x, const char *sql)
{
	int rc = sqlite3_prepare_v2(x->db, sql, -1, s, NULL);

	if (rc == SQLITE_OK)
		return FSC_OK;
	if ((rc & 0xff) != SQLITE_ERROR && (rc & 0xff) != SQLITE_AUTH)
		return fsc_ns_sql_failed(x, rc);
	fsc_ns_note(x, &x->n.not_plain, 1);
	return FSC_END;
}

static void map_columns(struct ns_row *r)
{
	memset(r->at, 0xFF, sizeof(r->at));
	r->known = 0;
	r->n_cols = sqlite3_column_count(r->s);
	for (int i = 0; i < r->n_cols; i++) {
		const char *name = sqlite3_column_name(r->s, i);

		for (int c = 0; name && c < NC_COLS; c++)
			if (r->at[c] < 0 && !strcmp(name, columns[c])) {
				r->at[c] = (int16_t)i;
				if (i < 64)
					r->known |= 1ULL << i;
			}
	}
}

enum fsc_status fsc_ns_rows(struct ns_row *r, struct nsys *x, enum ns_table t)
{
	*r = (struct ns_row){ .s = NULL };
	FSC_TRY(look(x, fsc_nsys_tables[t]));
	FSC_TRY(prepare(&r->s, x, fsc_nsys_queries[t]));
	map_columns(r);
	return FSC_OK;
}

void fsc_ns_rows_end(struct ns_row *r)
{
	sqlite3_finalize(r->s);
	r->s = NULL;
}

enum fsc_status fsc_ns_next(struct ns_row *r, struct nsys *x)
{
	uint64_t reads = x->vfs.reads;
	int rc = sqlite3_step(r->s);
	enum fsc_status st = FSC_END;

	/* pages come in order, but for those that hold strings */
	if (x->vfs.reads != reads)
		x->where = x->vfs.last;

	if (rc == SQLITE_ROW && ++r->rows > x->vfs.size / ROW_BYTES_MIN)
		rc = SQLITE_INTERRUPT;
	if (rc == SQLITE_ROW) {
		if (!(r->rows % PROGRESS_ROWS) && x->sink->progress)
			x->sink->progress(x->sink->ctx, x->vfs.last, fsc_build_events(x->b));
		return FSC_OK;
	}
	if (rc != SQLITE_DONE)
		st = fsc_ns_sql_failed(x, rc);
	fsc_ns_rows_end(r);
	return st;
}

/* ---- columns ---- */

bool fsc_ns_i64(int64_t *v, const struct ns_row *r, enum ns_col c)
{
	if (r->at[c] < 0 || sqlite3_column_type(r->s, r->at[c]) != SQLITE_INTEGER)
		return false;
	*v = sqlite3_column_int64(r->s, r->at[c]);
	return true;
}

bool fsc_ns_is_text(const struct ns_row *r, enum ns_col c)
{
	return r->at[c] >= 0 && sqlite3_column_type(r->s, r->at[c]) == SQLITE_TEXT;
}

enum fsc_status fsc_ns_text(uint32_t *id, struct nsys *x, const struct ns_row *r, enum ns_col c)
{
	const char *s;

	*id = 0;
	if (!fsc_ns_is_text(r, c))
		return FSC_OK;
	s = (const char *)sqlite3_column_text(r->s, r->at[c]);
	if (!s)
		return FSC_ENOMEM;
	return fsc_ns_repair(id, x, s, (size_t)sqlite3_column_bytes(r->s, r->at[c]));
}

static void put_column(struct nsys *x, const struct ns_row *r, int i, const char *name)
{
	double d;

	switch (sqlite3_column_type(r->s, i)) {
	case SQLITE_INTEGER:
		fsc_json_kint(&x->json, name, sqlite3_column_int64(r->s, i));
		break;
	case SQLITE_FLOAT:
		d = sqlite3_column_double(r->s, i);
		fsc_ns_note(x, &x->n.nonfinite, isfinite(d) ? 0u : 1u);
		fsc_json_kdouble(&x->json, name, d);
		break;
	case SQLITE_TEXT: {
		const char *s = (const char *)sqlite3_column_text(r->s, i);

		fsc_json_key(&x->json, name);
		fsc_json_strn(&x->json, s ? s : "", s ? (size_t)sqlite3_column_bytes(r->s, i) : 0);
		break;
	}
	case SQLITE_BLOB:
		fsc_ns_note(x, &x->n.blobs, 1);
		break;
	default:
		break;
	}
}

void fsc_ns_rest(struct nsys *x, const struct ns_row *r)
{
	for (int i = 0; i < r->n_cols; i++) {
		const char *name = sqlite3_column_name(r->s, i);

		if (name && !(i < 64 && r->known >> i & 1))
			put_column(x, r, i, name);
	}
}

/* ---- what is not read ---- */

static enum fsc_status count_rows(struct nsys *x, const struct fsc_nsys_unread *u)
{
	sqlite3_stmt *s = NULL;
	int rc;

	enum fsc_status st = look(x, u->table);
	if (st == FSC_OK)
		st = prepare(&s, x, u->sql);
	if (st != FSC_OK)
		return st == FSC_END ? FSC_OK : st;
	rc = sqlite3_step(s);
	if (rc == SQLITE_ROW)
		fsc_build_loss_at(x->b, u->code, (uint64_t)sqlite3_column_int64(s, 0), -1);
	sqlite3_finalize(s);
	return rc == SQLITE_ROW ? FSC_OK : fsc_ns_sql_failed(x, rc);
}

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Tables that describe the others, or the machine: nothing that happened. */
static bool is_description(const char *name)
{
	return starts(name, "ENUM_") || starts(name, "TARGET_INFO_") ||
	       starts(name, "META_DATA_") || starts(name, "sqlite_") || starts(name, "EXPORT_") ||
	       starts(name, "ANALYSIS_");
}

static enum fsc_status unread_table(struct nsys *x, const char *name)
{
	struct fsc_json j;

	for (int t = 0; t < NS_TABLES; t++)
		if (!strcmp(name, fsc_nsys_tables[t]))
			return FSC_OK;
	for (const struct fsc_nsys_unread *u = fsc_nsys_unread; u->table; u++)
		if (!strcmp(name, u->table))
			return count_rows(x, u);
	if (is_description(name))
		return FSC_OK;
	fsc_ns_note(x, &x->n.tables, 1);
	if (x->unread.len > 4096 || strlen(name) > 256)
		return FSC_OK;
	fsc_json_init(&j, &x->unread);
	if (x->unread.len)
		fsc_buf_addc(&x->unread, ',');
	fsc_json_str(&j, name);
	return FSC_OK;
}

enum fsc_status fsc_ns_count_unread(struct nsys *x)
{
	sqlite3_stmt *s = NULL;
	enum fsc_status st = FSC_OK;
	int rc = sqlite3_prepare_v2(x->db, fsc_nsys_list, -1, &s, NULL);

	while (rc == SQLITE_OK && st == FSC_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		const char *type = (const char *)sqlite3_column_text(s, 1);

		rc = SQLITE_OK;
		if (name && type && !strcmp(type, "table") && sqlite3_column_int64(s, 2) > 0)
			st = unread_table(x, name);
	}
	sqlite3_finalize(s);
	if (st == FSC_OK && rc != SQLITE_DONE && rc != SQLITE_OK)
		return fsc_ns_sql_failed(x, rc);
	return st;
}
