/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the Nsight Systems reader, shared by nsys*.c. nsys.c is the whole, nsys_db.c opens the database and walks
 * rows, nsys_names.c knows what is called how, nsys_gpu.c reads GPU work, nsys_host.c what threads did, and
 * nsys_ranges.c lays ranges that overlap on lanes.
 */
#ifndef FSC_FORMATS_NSYS_INT_H
#define FSC_FORMATS_NSYS_INT_H

#include "base/buf.h"
#include "base/json_out.h"
#include "base/limits.h"
#include "formats/json_tok.h"
#include "formats/launch_args.h"
#include "formats/launch_pairs.h"
#include "formats/nsys_vfs.h"
#include "formats/reader.h"
#include "model/build.h"
#include "model/classify.h"

/* Tables that are read. */
enum ns_table {
	NS_STRINGS,
	NS_KERNEL,
	NS_MEMCPY,
	NS_MEMSET,
	NS_SYNC,
	NS_GRAPH,
	NS_RUNTIME,
	NS_NVTX,
	NS_OSRT,
	NS_OVERHEAD,
	NS_THREADS,
	NS_PROCESSES,
	NS_GPUS,
	NS_START_TIME,
	NS_SYSTEM,
	NS_RANKS,
	NS_TABLES
};

/* Columns that mean something; others become arguments. */
enum ns_col {
	NC_START,
	NC_END,
	NC_DEVICE,
	NC_CONTEXT,
	NC_STREAM,
	NC_CORRELATION,
	NC_GLOBAL_PID,
	NC_GLOBAL_TID,
	NC_DEMANGLED,
	NC_SHORT,
	NC_MANGLED,
	NC_GRID_X,
	NC_GRID_Y,
	NC_GRID_Z,
	NC_BLOCK_X,
	NC_BLOCK_Y,
	NC_BLOCK_Z,
	NC_REGISTERS,
	NC_STATIC_SHARED,
	NC_DYNAMIC_SHARED,
	NC_GRAPH,
	NC_GRAPH_NODE,
	NC_BYTES,
	NC_COPY_KIND,
	NC_SRC_KIND,
	NC_DST_KIND,
	NC_MEM_KIND,
	NC_NAME_ID,
	NC_EVENT_TYPE,
	NC_TEXT,
	NC_TEXT_ID,
	NC_DOMAIN,
	NC_RANGE,
	NC_END_TID,
	NC_JSON_TEXT,
	NC_JSON_TEXT_ID,
	NC_SYNC_TYPE,
	NC_ID,
	NC_VALUE,
	NC_NAME,
	NC_PID,
	NC_EPOCH,
	NC_RANK,
	NC_COLS
};

struct ns_row {
	sqlite3_stmt *s; /* owned */
	int n_cols;
	int16_t at[NC_COLS]; /* column number, -1: the table lacks it */
	uint64_t known;	     /* bits of the first 64 columns that have a meaning */
	uint64_t rows;
};

struct ns_domain {
	int64_t vm_pid, id;
	uint32_t name;
};

struct ns_range {	 /* an NVTX start/end range */
	int64_t ts, end; /* end INT64_MAX: open */
	uint64_t vm_pid;
	int64_t domain;
	uint32_t name, args, order;
};

struct nsys {
	struct fsc_source *src; /* borrowed */
	const struct fsc_reader_sink *sink;
	struct fsc_err *err;
	struct fsc_build *b; /* owned */
	struct fsc_nsys_vfs vfs;
	sqlite3 *db;		   /* owned */
	struct fsc_buf raw;	   /* owned; the database, when it is no plain file */
	uint64_t expanded;	   /* bytes that args took from the tables of names */
	uint64_t where;		   /* offset of the page that the row is on, for counters */
	uint64_t steps, max_steps; /* of SQLite's machine, in units of its progress handler */
	bool asking; /* a fixed statement of ours is prepared, that reads no table of the file */
	sqlite3_stmt *string; /* owned; NULL: there is no table of strings */

	FSC_VEC(uint32_t) names; /* StringIds: id to string id + 1, 0 not asked for */
	FSC_VEC(struct ns_domain) domains;
	FSC_VEC(struct ns_range) ranges;
	struct fsc_launch_pairs pairs;
	uint16_t vm; /* hardware and machine bits of the first process */
	bool vm_seen;
	struct fsc_buf args, text, meta, gpus, unread; /* owned */
	struct fsc_json json;
	uint16_t cat[16]; /* enum ns_cat; FSC_BUILD_NO_CAT not made yet */
	uint64_t launches;
	bool wal;
	struct {
		struct fsc_jt_count bad_row, bad_time, no_name, utf8, zeros, blobs, nonfinite,
			too_big, tables, not_plain, nvtx_other, meta_too_big;
	} n;
};

enum ns_cat {
	NS_CAT_KERNEL,
	NS_CAT_MEMCPY,
	NS_CAT_MEMSET,
	NS_CAT_SYNC,
	NS_CAT_RUNTIME,
	NS_CAT_DRIVER,
	NS_CAT_USER,
	NS_CAT_MARK,
	NS_CAT_OSRT,
	NS_CAT_OVERHEAD,
	NS_CAT_RANGE,
};

/* What nsys_queries.c holds: the rows of each table, and of tables that are not read their number. */
extern const char *const fsc_nsys_queries[NS_TABLES];
extern const char *const fsc_nsys_tables[NS_TABLES];
extern const char *const fsc_nsys_settings;
extern const char *const fsc_nsys_list, *const fsc_nsys_look, *const fsc_nsys_computed;
extern const char *const fsc_nsys_string;
struct fsc_nsys_unread {
	const char *table, *code, *sql;
};
extern const struct fsc_nsys_unread fsc_nsys_unread[];

/* Counts n at the row that is being read. */
static inline void fsc_ns_note(struct nsys *x, struct fsc_jt_count *k, uint64_t n)
{
	if (!k->n)
		k->first = x->where;
	k->n += n;
}

/* ---- nsys.c ---- */
enum fsc_status fsc_ns_failed(struct nsys *x, enum fsc_status st); /* a status of the builder */
enum fsc_status fsc_ns_cat(uint16_t *cat, struct nsys *x, enum ns_cat c);

/* ---- nsys_db.c ---- */
enum fsc_status fsc_ns_open(struct nsys *x);
void fsc_ns_close(struct nsys *x);
/* err for what SQLite said. */
enum fsc_status fsc_ns_sql_failed(struct nsys *x, int rc);
/* FSC_END when there is no such table, or it is none that may be read. */
enum fsc_status fsc_ns_rows(struct ns_row *r, struct nsys *x, enum ns_table t);
enum fsc_status fsc_ns_next(struct ns_row *r, struct nsys *x); /* FSC_END after the last; ends r */
void fsc_ns_rows_end(struct ns_row *r);
/* Counts what of the database is not read, by table. */
enum fsc_status fsc_ns_count_unread(struct nsys *x);
/* False when the column is not there, NULL or no integer. */
bool fsc_ns_i64(int64_t *v, const struct ns_row *r, enum ns_col c);
bool fsc_ns_is_text(const struct ns_row *r, enum ns_col c);
/* Text of the row, borrowed until the next; as a string id. 0 when there is none. */
enum fsc_status fsc_ns_text(uint32_t *id, struct nsys *x, const struct ns_row *r, enum ns_col c);
/* Every column without a meaning of its own, under its name, into the open object. */
void fsc_ns_rest(struct nsys *x, const struct ns_row *r);

/* ---- nsys_names.c ---- */
enum fsc_status fsc_ns_repair(uint32_t *id, struct nsys *x, const char *s, size_t n);
/* Text behind a StringIds number; FSC_END when there is none. */
enum fsc_status fsc_ns_string(uint32_t *id, struct nsys *x, int64_t number);
/* A column that is a number of StringIds, or a text. 0 and counted when it leads nowhere. */
enum fsc_status fsc_ns_name(uint32_t *id, struct nsys *x, const struct ns_row *r, enum ns_col c);
struct fsc_build_id fsc_ns_pid(struct nsys *x, int64_t global);
/* The raw identity of a thread. */
enum fsc_status fsc_ns_thread(uint32_t *ident, struct nsys *x, int64_t global_tid);
/* Processes, threads, host, clock, GPUs. */
enum fsc_status fsc_ns_read_names(struct nsys *x);

/* ---- nsys_gpu.c, nsys_host.c, nsys_ranges.c ---- */
enum fsc_status fsc_ns_read_gpu(struct nsys *x);
enum fsc_status fsc_ns_read_host(struct nsys *x);
enum fsc_status fsc_ns_put_ranges(struct nsys *x);
/* Start and duration of a row with both; false and counted when they are no times. end may be missing: *dur is then
 * FSC_BUILD_PENDING when open may be, else the row is bad. */
bool fsc_ns_time(int64_t *ts, int64_t *dur, struct nsys *x, const struct ns_row *r,
		 bool may_be_open);
void fsc_ns_args_begin(struct nsys *x);
enum fsc_status fsc_ns_args_end(uint32_t *args, struct nsys *x);

#endif
