/* SPDX-License-Identifier: Apache-2.0 */
/* What is called how: strings, processes, threads, the host, its GPUs and its clock. */
#include "base/utf8.h"
#include "formats/nsys_int.h"

/* Numbers of strings are dense from 0; others are looked up each time. */
#define CACHED_NAMES (1 << 24)

enum fsc_status fsc_ns_repair(uint32_t *id, struct nsys *x, const char *s, size_t n)
{
	uint64_t utf8 = 0, zeros = 0;
	enum fsc_status st = fsc_build_text(id, x->b, s, n, &utf8, &zeros);

	fsc_ns_note(x, &x->n.utf8, utf8);
	fsc_ns_note(x, &x->n.zeros, zeros);
	return st;
}

/* ---- strings ---- */

/* The table's id is the number of the row; where it is not, the row is another's. */
static enum fsc_status look_up(uint32_t *id, struct nsys *x, int64_t number)
{
	enum fsc_status st = FSC_END;
	int rc;

	if (!x->string)
		return FSC_END;
	sqlite3_bind_int64(x->string, 1, number);
	rc = sqlite3_step(x->string);
	if (rc == SQLITE_ROW) {
		if (sqlite3_column_type(x->string, 0) == SQLITE_INTEGER &&
		    sqlite3_column_int64(x->string, 0) == number &&
		    sqlite3_column_type(x->string, 1) == SQLITE_TEXT) {
			const char *s = (const char *)sqlite3_column_text(x->string, 1);
			size_t n = (size_t)sqlite3_column_bytes(x->string, 1);

			st = s ? fsc_ns_failed(x, fsc_ns_repair(id, x, s, n))
			       : fsc_ns_failed(x, FSC_ENOMEM);
		}
	} else if (rc != SQLITE_DONE) {
		st = fsc_ns_sql_failed(x, rc);
	}
	sqlite3_reset(x->string);
	return st;
}

enum fsc_status fsc_ns_string(uint32_t *id, struct nsys *x, int64_t number)
{
	bool cached = number >= 0 && number < CACHED_NAMES;

	*id = 0;
	if (cached && (uint64_t)number < x->names.n && x->names.v[number]) {
		*id = x->names.v[number] - 1;
		return FSC_OK;
	}
	FSC_TRY(look_up(id, x, number));
	if (!cached)
		return FSC_OK;
	if (!fsc_vec_reserve(&x->names, (size_t)number + 1))
		return fsc_ns_failed(x, FSC_ENOMEM);
	while (x->names.n <= (size_t)number)
		x->names.v[x->names.n++] = 0;
	x->names.v[number] = *id + 1;
	return FSC_OK;
}

enum fsc_status fsc_ns_name(uint32_t *id, struct nsys *x, const struct ns_row *r, enum ns_col c)
{
	int64_t number;
	enum fsc_status st;

	*id = 0;
	if (fsc_ns_is_text(r, c))
		return fsc_ns_failed(x, fsc_ns_text(id, x, r, c));
	if (!fsc_ns_i64(&number, r, c)) {
		fsc_ns_note(x, &x->n.no_name, 1);
		return FSC_OK;
	}
	st = fsc_ns_string(id, x, number);
	fsc_ns_note(x, &x->n.no_name, st == FSC_END);
	return st == FSC_END ? FSC_OK : st;
}

static enum fsc_status open_strings(struct nsys *x)
{
	struct ns_row r;
	enum fsc_status st = fsc_ns_rows(&r, x, NS_STRINGS);
	bool whole = st == FSC_OK && r.at[NC_ID] >= 0 && r.at[NC_VALUE] >= 0;
	int rc;

	if (st != FSC_OK)
		return st == FSC_END ? FSC_OK : st;
	fsc_ns_rows_end(&r);
	if (!whole)
		return FSC_OK;
	rc = sqlite3_prepare_v2(x->db, fsc_nsys_string, -1, &x->string, NULL);
	/* a table without row numbers: its names are then counted as missing */
	if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_ERROR && (rc & 0xff) != SQLITE_AUTH)
		return fsc_ns_sql_failed(x, rc);
	return FSC_OK;
}

/* ---- who ---- */

/* A global id is, from the top: hardware 8 bits, virtual machine 8, process 24, thread 24. A report of several
 * machines may have the same process numbers on each: those of all but the first get the machine's bits. */
struct fsc_build_id fsc_ns_pid(struct nsys *x, int64_t global)
{
	uint64_t g = (uint64_t)global;
	uint16_t vm = (uint16_t)(g >> 48);
	struct fsc_build_id id = { .num = (int64_t)(g >> 24 & 0xFFFFFF) };

	if (!x->vm_seen) {
		x->vm = vm;
		x->vm_seen = true;
	}
	if (vm != x->vm)
		id.num |= (int64_t)vm << 24;
	return id;
}

enum fsc_status fsc_ns_thread(uint32_t *ident, struct nsys *x, int64_t global_tid)
{
	struct fsc_build_id tid = { .num = (int64_t)((uint64_t)global_tid & 0xFFFFFF) };

	return fsc_build_ident(ident, x->b, fsc_ns_pid(x, global_tid), tid);
}

/* ---- tables of names ---- */

static enum fsc_status name_process(struct nsys *x, const struct ns_row *r)
{
	uint32_t process, name;
	int64_t global;

	if (!fsc_ns_i64(&global, r, NC_GLOBAL_PID) || !fsc_ns_is_text(r, NC_NAME))
		return FSC_OK;
	FSC_TRY(fsc_build_process(&process, x->b, fsc_ns_pid(x, global)));
	FSC_TRY(fsc_ns_text(&name, x, r, NC_NAME));
	fsc_build_name_process(x->b, process, name);
	return FSC_OK;
}

static enum fsc_status name_thread(struct nsys *x, const struct ns_row *r)
{
	uint32_t ident, name;
	int64_t global, id;
	enum fsc_status st;

	if (!fsc_ns_i64(&global, r, NC_GLOBAL_TID) || !fsc_ns_i64(&id, r, NC_NAME_ID))
		return FSC_OK;
	st = fsc_ns_string(&name, x, id);
	if (st != FSC_OK)
		return st == FSC_END ? FSC_OK : st;
	FSC_TRY(fsc_ns_thread(&ident, x, global));
	fsc_build_name_ident(x->b, ident, name);
	return FSC_OK;
}

/* Only this of the environment: what else is in it may be secret. */
static enum fsc_status take_host(struct nsys *x, const struct ns_row *r)
{
	struct fsc_trace_meta *m = &fsc_build_trace(x->b)->meta;
	const char *name;

	if (m->host || !fsc_ns_is_text(r, NC_NAME))
		return FSC_OK;
	name = (const char *)sqlite3_column_text(r->s, r->at[NC_NAME]);
	if (!name || (strcmp(name, "Hostname") != 0 && strcmp(name, "HostName") != 0))
		return FSC_OK;
	return fsc_ns_text(&m->host, x, r, NC_VALUE);
}

static enum fsc_status take_clock(struct nsys *x, const struct ns_row *r)
{
	int64_t epoch;

	if (r->rows == 1 && fsc_ns_i64(&epoch, r, NC_EPOCH) && epoch > 0)
		fsc_build_base_time(x->b, epoch);
	return FSC_OK;
}

/* As Kineto writes them, so that the page shows the models. */
static enum fsc_status take_gpu(struct nsys *x, const struct ns_row *r)
{
	int64_t id;

	fsc_ns_args_begin(x);
	if (fsc_ns_i64(&id, r, NC_ID))
		fsc_json_kint(&x->json, "id", id);
	if (fsc_ns_is_text(r, NC_NAME)) {
		fsc_json_key(&x->json, "name");
		fsc_json_str(&x->json, (const char *)sqlite3_column_text(r->s, r->at[NC_NAME]));
	}
	fsc_ns_rest(x, r);
	fsc_json_obj_end(&x->json);
	if (fsc_buf_status(&x->args) != FSC_OK ||
	    x->gpus.len + x->args.len > FSC_MAX_META_BYTES / 2) {
		fsc_ns_note(x, &x->n.meta_too_big, 1);
		return FSC_OK;
	}
	if (x->gpus.len)
		fsc_buf_addc(&x->gpus, ',');
	fsc_buf_add(&x->gpus, x->args.data, x->args.len);
	return FSC_OK;
}

/* The rank is the trace's when the report has one only. */
static enum fsc_status take_rank(struct nsys *x, const struct ns_row *r)
{
	struct fsc_trace_meta *m = &fsc_build_trace(x->b)->meta;
	int64_t rank;

	if (!fsc_ns_i64(&rank, r, NC_RANK) || rank < 0)
		return FSC_OK;
	if (r->rows == 1)
		m->rank = rank;
	else if (m->rank != rank)
		m->rank = -1;
	return FSC_OK;
}

enum fsc_status fsc_ns_read_names(struct nsys *x)
{
	static const struct {
		enum ns_table table;
		enum fsc_status (*take)(struct nsys *x, const struct ns_row *r);
	} all[] = {
		{ NS_START_TIME, take_clock },	{ NS_SYSTEM, take_host },
		{ NS_GPUS, take_gpu },		{ NS_RANKS, take_rank },
		{ NS_PROCESSES, name_process }, { NS_THREADS, name_thread },
	};

	FSC_TRY(open_strings(x));
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++) {
		struct ns_row r;
		enum fsc_status st = fsc_ns_rows(&r, x, all[i].table);

		while (st == FSC_OK && (st = fsc_ns_next(&r, x)) == FSC_OK)
			st = fsc_ns_failed(x, all[i].take(x, &r));
		fsc_ns_rows_end(&r);
		if (st != FSC_END)
			return st;
	}
	return FSC_OK;
}
