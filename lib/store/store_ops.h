/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam under the store: what an implementation provides. It knows named queries (store/queries.h, one SQL
 * text per implementation) and how to run a piece of work inside a read or a write transaction; everything
 * that has meaning is above it in lib/store/ and written once. Private to lib/store and its tests.
 *
 * Work functions may be run again from the start when the implementation has to (a group of writes that must
 * be split, a serialization failure): they set their outputs anew each time and touch nothing else. They may
 * run on another thread than the caller's, which waits.
 */
#ifndef FSC_STORE_STORE_OPS_H
#define FSC_STORE_STORE_OPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"
#include "store/queries.h"
#include "store/store.h"

struct fsc_db; /* a connection inside a transaction */

enum fsc_value_type { FSC_VALUE_NULL, FSC_VALUE_INT, FSC_VALUE_TEXT, FSC_VALUE_BYTES };
struct fsc_value {
	enum fsc_value_type type;
	int64_t i;
	const void *p; /* borrowed; text of a row has a NUL after its n bytes */
	size_t n;
};

static inline struct fsc_value fsc_v_int(int64_t i)
{
	return (struct fsc_value){ .type = FSC_VALUE_INT, .i = i };
}
static inline struct fsc_value fsc_v_null(void)
{
	return (struct fsc_value){ .type = FSC_VALUE_NULL };
}
/* NULL gives NULL. */
static inline struct fsc_value fsc_v_text(const char *s)
{
	if (!s)
		return fsc_v_null();
	return (struct fsc_value){ .type = FSC_VALUE_TEXT, .p = s, .n = strlen(s) };
}
/* NULL and "" give NULL: unknown. */
static inline struct fsc_value fsc_v_known(const char *s)
{
	return fsc_v_text(s && s[0] ? s : NULL);
}
static inline struct fsc_value fsc_v_bytes(const void *p, size_t n)
{
	return (struct fsc_value){ .type = FSC_VALUE_BYTES, .p = p, .n = n };
}
/* Negative gives NULL: unknown. */
static inline struct fsc_value fsc_v_count(int64_t i)
{
	return i < 0 ? fsc_v_null() : fsc_v_int(i);
}

struct fsc_row {
	const struct fsc_value *v;
	size_t n;
};
/* NULL reads as `none`. */
int64_t fsc_row_int(const struct fsc_row *row, size_t col, int64_t none);
/* Copies into the arena; NULL stays NULL. *ok becomes false when the arena is full. */
const char *fsc_row_text(const struct fsc_row *row, size_t col, struct fsc_arena *a, bool *ok);
/* As fsc_row_text, but NULL gives "". */
const char *fsc_row_text0(const struct fsc_row *row, size_t col, struct fsc_arena *a, bool *ok);
/* False unless the column holds exactly n bytes. */
fsc_nodiscard bool fsc_row_bytes(const struct fsc_row *row, size_t col, void *dst, size_t n);

/* A row for the caller; anything but FSC_OK stops and is returned. Values are borrowed for the call. */
typedef enum fsc_status fsc_row_fn(void *ctx, const struct fsc_row *row, struct fsc_err *err);
/* Work inside one transaction; anything but FSC_OK rolls it back and is returned. */
typedef enum fsc_status fsc_work_fn(struct fsc_db *db, void *arg, struct fsc_err *err);

struct fsc_query_call {
	enum fsc_query id;
	const struct fsc_value *args; /* one per parameter of the query */
	size_t n_args;
	fsc_row_fn *row; /* NULL: rows are not looked at */
	void *ctx;
	int64_t *changed; /* rows written, may be NULL */
};

struct fsc_store_ops {
	const char *name;
	void (*close)(struct fsc_store *s); /* frees s */
	enum fsc_status (*read)(struct fsc_store *s, fsc_work_fn *fn, void *arg,
				struct fsc_err *err);
	/* Durable on FSC_OK. solo: never grouped with others, fn runs once only. */
	enum fsc_status (*write)(struct fsc_store *s, fsc_work_fn *fn, void *arg, bool solo,
				 struct fsc_err *err);
	enum fsc_status (*run)(struct fsc_db *db, const struct fsc_query_call *c,
			       struct fsc_err *err);
	enum fsc_status (*health)(struct fsc_store *s, struct fsc_err *err);
	enum fsc_status (*backup)(struct fsc_store *s, const char *path, struct fsc_err *err);
	enum fsc_status (*check)(struct fsc_store *s, void (*found)(void *ctx, const char *what),
				 void *ctx, struct fsc_err *err);
	int64_t (*bytes)(struct fsc_store *s); /* size of the database, -1 unknown */
};

/* First member of an implementation's own struct. */
struct fsc_store {
	const struct fsc_store_ops *ops;
	int64_t (*now_ns)(void *ctx); /* NULL: the system's clock */
	void *now_ctx;
	_Atomic int64_t last_id;
	_Atomic uint64_t commits, writes, busy;
};
/* First member of an implementation's connection. */
struct fsc_db {
	struct fsc_store *store;
};

/* opts complete, without zeros that stand for a default. */
fsc_nodiscard enum fsc_status fsc_store_open_sqlite(struct fsc_store **out, const char *path,
						    const struct fsc_store_opts *opts,
						    struct fsc_err *err);

/* ---- short forms ---- */
static inline enum fsc_status fsc_db_run(struct fsc_db *db, enum fsc_query id,
					 const struct fsc_value *args, size_t n_args,
					 int64_t *changed, struct fsc_err *err)
{
	struct fsc_query_call c = { .id = id, .args = args, .n_args = n_args, .changed = changed };

	return db->store->ops->run(db, &c, err);
}
static inline enum fsc_status fsc_db_rows(struct fsc_db *db, enum fsc_query id,
					  const struct fsc_value *args, size_t n_args,
					  fsc_row_fn *row, void *ctx, struct fsc_err *err)
{
	struct fsc_query_call c = {
		.id = id, .args = args, .n_args = n_args, .row = row, .ctx = ctx
	};

	return db->store->ops->run(db, &c, err);
}
#define FSC_ARGS(...)                              \
	(const struct fsc_value[]){ __VA_ARGS__ }, \
		sizeof((const struct fsc_value[]){ __VA_ARGS__ }) / sizeof(struct fsc_value)

/* First column of the first row. *found false when there is no row (or it is NULL). */
fsc_nodiscard enum fsc_status fsc_db_int(struct fsc_db *db, enum fsc_query id,
					 const struct fsc_value *args, size_t n_args, int64_t *out,
					 bool *found, struct fsc_err *err);

/* One query as a transaction of its own. */
fsc_nodiscard enum fsc_status fsc_store_rows(struct fsc_store *s, enum fsc_query id,
					     const struct fsc_value *args, size_t n_args,
					     fsc_row_fn *row, void *ctx, struct fsc_err *err);
fsc_nodiscard enum fsc_status fsc_store_change(struct fsc_store *s, enum fsc_query id,
					       const struct fsc_value *args, size_t n_args,
					       int64_t *changed, struct fsc_err *err);

fsc_nodiscard enum fsc_status fsc_store_first_int(struct fsc_store *s, enum fsc_query id,
						  const struct fsc_value *args, size_t n_args,
						  int64_t *out, bool *found, struct fsc_err *err);

/* Array of results growing in an arena. */
struct fsc_rows {
	struct fsc_arena *a;
	size_t size; /* of one item */
	void *items;
	size_t n, cap;
};
fsc_nodiscard void *fsc_rows_add(struct fsc_rows *r); /* zeroed item, NULL when the arena is full */

/* "memory": an arena was full. */
enum fsc_status fsc_store_nomem(struct fsc_err *err);

/* ---- cursors: opaque text <-> (kind, int or text key, id) ---- */
struct fsc_cursor {
	char kind[24]; /* what the cursor was made for: "received.desc" */
	bool is_text;
	int64_t key;
	const char *text; /* in the arena */
	int64_t id;
};
fsc_nodiscard const char *fsc_cursor_write(struct fsc_arena *a, const struct fsc_cursor *c);
fsc_nodiscard enum fsc_status fsc_cursor_read(struct fsc_cursor *out, struct fsc_arena *a,
					      const char *s, const char *kind, struct fsc_err *err);

/* ---- search words: "%word%" patterns with \ as escape, NULL past the last ---- */
struct fsc_words {
	const char *like[4]; /* in the arena */
};
fsc_nodiscard enum fsc_status fsc_words_split(struct fsc_words *out, struct fsc_arena *a,
					      const char *q, struct fsc_err *err);

/* ---- shared by files of lib/store ---- */
struct fsc_buf;
/* Queues the indexing of a bundle; no change when it is queued already. */
fsc_nodiscard enum fsc_status fsc_store_enqueue(struct fsc_db *db, int64_t project, int64_t bundle,
						struct fsc_err *err);
enum fsc_status fsc_store_no_bundle(struct fsc_err *err);
enum fsc_bundle_state fsc_store_state(const struct fsc_row *row, size_t col);
void fsc_store_search_text(struct fsc_buf *b, const char *const *parts, size_t n);
static inline uint32_t fsc_store_limit(uint32_t asked)
{
	if (!asked)
		return 50;
	return asked < FSC_STORE_PAGE_MAX ? asked : FSC_STORE_PAGE_MAX;
}

#endif
