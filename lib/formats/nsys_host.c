/* SPDX-License-Identifier: Apache-2.0 */
/* What threads did: CUDA calls, NVTX ranges and marks, calls of the operating system, the profiler's own overhead. */
#include "formats/nsys_int.h"

/* ENUM_NSYS_EVENT_TYPE; those ending in T come from NVTXT files. */
enum {
	EVENT_MARK = 34,
	EVENT_THREAD = 39,
	EVENT_PUSH_POP = 59,
	EVENT_START_END = 60,
	EVENT_PUSH_POP_T = 70,
	EVENT_START_END_T = 71,
	EVENT_DOMAIN = 75,
	EVENT_CATEGORY = 33,
	EVENT_DOMAIN_END = 76
};
#define MAX_DOMAINS 4096u

/* ---- common ---- */

bool fsc_ns_time(int64_t *ts, int64_t *dur, struct nsys *x, const struct ns_row *r,
		 bool may_be_open)
{
	int64_t end;

	if (!fsc_ns_i64(ts, r, NC_START)) {
		fsc_ns_note(x, &x->n.bad_row, 1);
		return false;
	}
	if (!fsc_ns_i64(&end, r, NC_END)) {
		*dur = FSC_BUILD_PENDING;
		fsc_ns_note(x, &x->n.bad_row, !may_be_open);
		return may_be_open;
	}
	if (*ts > INT64_MAX / 2 || *ts < INT64_MIN / 2 || end > INT64_MAX / 2 ||
	    end < INT64_MIN / 2) {
		fsc_ns_note(x, &x->n.bad_time, 1);
		return false;
	}
	*dur = end - *ts;
	return true;
}

void fsc_ns_args_begin(struct nsys *x)
{
	fsc_buf_clear(&x->args);
	fsc_json_init(&x->json, &x->args);
	fsc_json_obj(&x->json);
}

enum fsc_status fsc_ns_args_end(uint32_t *args, struct nsys *x)
{
	fsc_json_obj_end(&x->json);
	*args = FSC_NO_ARGS;
	if (x->args.failed == FSC_ELIMIT) {
		fsc_ns_note(x, &x->n.too_big, 1);
		return FSC_OK;
	}
	FSC_TRY(fsc_buf_status(&x->args));
	return x->args.len > 2 ? fsc_build_args(args, x->b, x->args.data, x->args.len) : FSC_OK;
}

/* The track of the row's thread; FSC_END and counted when the row names none. */
static enum fsc_status thread_track(uint32_t *track, int64_t *global, struct nsys *x,
				    const struct ns_row *r)
{
	uint32_t ident;

	if (!fsc_ns_i64(global, r, NC_GLOBAL_TID)) {
		fsc_ns_note(x, &x->n.bad_row, 1);
		return FSC_END;
	}
	FSC_TRY(fsc_ns_thread(&ident, x, *global));
	return fsc_build_thread(track, x->b, ident);
}

/* ---- calls ---- */

/* "cudaLaunchKernel_v7000": the version of the runtime that the symbol came with is no part of the name. */
static enum fsc_status call_name(uint32_t *id, struct nsys *x, const struct ns_row *r)
{
	size_t n = 0, k;
	const char *s;

	FSC_TRY(fsc_ns_name(id, x, r, NC_NAME_ID));
	s = fsc_strtab_get(fsc_build_trace(x->b)->strings, *id, &n);
	for (k = n; k > 0 && s[k - 1] >= '0' && s[k - 1] <= '9'; k--)
		;
	if (n - k < 4 || n - k > 5 || k < 3 || s[k - 1] != 'v' || s[k - 2] != '_')
		return FSC_OK;
	fsc_buf_clear(&x->text);
	fsc_buf_add(&x->text, s, k - 2);
	FSC_TRY(fsc_buf_status(&x->text));
	return fsc_build_str(id, x->b, x->text.data, x->text.len);
}

static enum fsc_status call_kind(struct fsc_build_slice *s, struct nsys *x, enum ns_table t)
{
	size_t n = 0;
	const char *name = fsc_strtab_get(fsc_build_trace(x->b)->strings, s->name, &n);

	if (t == NS_OSRT) {
		s->kind = FSC_KIND_OTHER;
		return fsc_ns_cat(&s->cat, x, NS_CAT_OSRT);
	}
	if (t == NS_OVERHEAD) {
		s->kind = FSC_KIND_OVERHEAD;
		return fsc_ns_cat(&s->cat, x, NS_CAT_OVERHEAD);
	}
	s->kind = (uint8_t)fsc_classify(FSC_CAT_RUNTIME, name, n);
	return fsc_ns_cat(&s->cat, x,
			  n > 2 && !strncmp(name, "cu", 2) && strncmp(name, "cuda", 4) != 0
				  ? NS_CAT_DRIVER
				  : NS_CAT_RUNTIME);
}

static enum fsc_status take_call(struct nsys *x, const struct ns_row *r, enum ns_table t)
{
	struct fsc_build_slice s = { .correlation = FSC_NO_CORRELATION };
	struct fsc_launch_side side = { .scope = 0 };
	int64_t global, correlation;
	enum fsc_status st;

	fsc_build_count_event(x->b);
	if (!fsc_ns_time(&s.ts, &s.dur, x, r, false))
		return FSC_OK;
	st = thread_track(&s.track, &global, x, r);
	if (st != FSC_OK)
		return st == FSC_END ? FSC_OK : st;
	FSC_TRY(call_name(&s.name, x, r));
	FSC_TRY(call_kind(&s, x, t));
	if (fsc_ns_i64(&correlation, r, NC_CORRELATION) && correlation > 0)
		s.correlation = correlation;
	fsc_ns_args_begin(x);
	fsc_launch_args_put(&x->json, FSC_NO_ORDINAL, FSC_NO_ORDINAL, FSC_NO_ORDINAL, s.correlation,
			    NULL);
	fsc_ns_rest(x, r);
	FSC_TRY(fsc_ns_args_end(&s.args, x));
	FSC_TRY(fsc_build_slice(&side.slice, x->b, &s));
	if (t != NS_RUNTIME || s.correlation == FSC_NO_CORRELATION)
		return FSC_OK;
	side.scope = (uint64_t)global >> 24;
	side.correlation = s.correlation;
	side.ts = s.ts;
	return fsc_launch_pairs_call(&x->pairs, side);
}

/* ---- NVTX ---- */

static enum fsc_status nvtx_name(uint32_t *id, struct nsys *x, const struct ns_row *r)
{
	if (fsc_ns_is_text(r, NC_TEXT))
		return fsc_ns_text(id, x, r, NC_TEXT);
	return fsc_ns_name(id, x, r, NC_TEXT_ID);
}

static int64_t domain_of(const struct ns_row *r)
{
	int64_t v;

	return fsc_ns_i64(&v, r, NC_DOMAIN) ? v : 0;
}

static uint32_t domain_name(const struct nsys *x, int64_t vm_pid, int64_t id)
{
	for (size_t i = 0; id && i < x->domains.n; i++)
		if (x->domains.v[i].id == id && x->domains.v[i].vm_pid == vm_pid)
			return x->domains.v[i].name;
	return 0;
}

/* Domains are made before they are used, but rows have no order: they are looked for first. */
static enum fsc_status take_domain(struct nsys *x, const struct ns_row *r)
{
	struct ns_domain d = { .id = domain_of(r) };
	int64_t type, global;

	if (!fsc_ns_i64(&type, r, NC_EVENT_TYPE) || type != EVENT_DOMAIN ||
	    !fsc_ns_i64(&global, r, NC_GLOBAL_TID) || x->domains.n >= MAX_DOMAINS)
		return FSC_OK;
	d.vm_pid = (int64_t)((uint64_t)global >> 24);
	FSC_TRY(nvtx_name(&d.name, x, r));
	return fsc_vec_push(&x->domains, d) ? FSC_OK : FSC_ENOMEM;
}

/* A text of another table into the args. Every row may refer to the same long one, so that what they make of it has the
 * ratio limit of decompression. */
static void put_text(struct nsys *x, const char *key, uint32_t id)
{
	size_t n = 0;
	const char *s = fsc_strtab_get(fsc_build_trace(x->b)->strings, id, &n);

	x->expanded += n;
	if (x->expanded > FSC_RATIO_GRACE_BYTES && x->expanded / FSC_MAX_RATIO > x->vfs.size) {
		fsc_ns_note(x, &x->n.too_big, 1);
		return;
	}
	fsc_json_key(&x->json, key);
	fsc_json_strn(&x->json, s, n);
}

static enum fsc_status nvtx_args(uint32_t *args, struct nsys *x, const struct ns_row *r,
				 int64_t global)
{
	int64_t id = domain_of(r), end_tid, json;
	uint32_t name = domain_name(x, (int64_t)((uint64_t)global >> 24), id), text = 0;

	if (fsc_ns_is_text(r, NC_JSON_TEXT))
		FSC_TRY(fsc_ns_text(&text, x, r, NC_JSON_TEXT));
	else if (fsc_ns_i64(&json, r, NC_JSON_TEXT_ID) && json > 0)
		FSC_TRY(fsc_ns_name(&text, x, r, NC_JSON_TEXT_ID));
	fsc_ns_args_begin(x);
	if (name)
		put_text(x, "domain", name);
	else if (id)
		fsc_json_kint(&x->json, "domain", id);
	if (text)
		put_text(x, "json", text);
	if (fsc_ns_i64(&end_tid, r, NC_END_TID) && end_tid && end_tid != global)
		fsc_json_kint(&x->json, "end thread", (int64_t)((uint64_t)end_tid & 0xFFFFFF));
	fsc_ns_rest(x, r);
	return fsc_ns_args_end(args, x);
}

static enum fsc_status put_on_thread(struct nsys *x, const struct ns_row *r, bool mark)
{
	struct fsc_build_slice s = { .correlation = FSC_NO_CORRELATION, .kind = FSC_KIND_USER };
	uint32_t slice;
	int64_t global;
	enum fsc_status st;

	if (!fsc_ns_time(&s.ts, &s.dur, x, r, true))
		return FSC_OK;
	st = thread_track(&s.track, &global, x, r);
	if (st != FSC_OK)
		return st == FSC_END ? FSC_OK : st;
	FSC_TRY(nvtx_name(&s.name, x, r));
	FSC_TRY(nvtx_args(&s.args, x, r, global));
	FSC_TRY(fsc_ns_cat(&s.cat, x, mark ? NS_CAT_MARK : NS_CAT_USER));
	if (mark) {
		s.dur = 0;
		s.kind = FSC_KIND_INSTANT;
		s.flags = FSC_SLICE_INSTANT;
	}
	return s.dur == FSC_BUILD_PENDING ? fsc_build_begin(&slice, x->b, &s)
					  : fsc_build_slice(&slice, x->b, &s);
}

/* Ranges that one thread may start and another end overlap as they like: they go on lanes of their process. */
static enum fsc_status keep_range(struct nsys *x, const struct ns_row *r)
{
	struct ns_range k = { .domain = domain_of(r), .order = (uint32_t)x->ranges.n };
	int64_t dur, global;

	if (!fsc_ns_time(&k.ts, &dur, x, r, true))
		return FSC_OK;
	if (!fsc_ns_i64(&global, r, NC_GLOBAL_TID)) {
		fsc_ns_note(x, &x->n.bad_row, 1);
		return FSC_OK;
	}
	k.end = dur == FSC_BUILD_PENDING ? INT64_MAX : k.ts + dur;
	k.vm_pid = (uint64_t)global >> 24;
	FSC_TRY(nvtx_name(&k.name, x, r));
	FSC_TRY(nvtx_args(&k.args, x, r, global));
	if (x->ranges.n >= FSC_MAX_EVENTS / 8)
		return FSC_ELIMIT;
	return fsc_vec_push(&x->ranges, k) ? FSC_OK : FSC_ENOMEM;
}

/* A thread's name, unless the system gave it one. */
static enum fsc_status name_thread(struct nsys *x, const struct ns_row *r)
{
	uint32_t ident, name;
	int64_t global;

	if (!fsc_ns_i64(&global, r, NC_GLOBAL_TID))
		return FSC_OK;
	FSC_TRY(nvtx_name(&name, x, r));
	FSC_TRY(fsc_ns_thread(&ident, x, global));
	if (name)
		fsc_build_name_ident(x->b, ident, name);
	return FSC_OK;
}

static enum fsc_status take_nvtx(struct nsys *x, const struct ns_row *r)
{
	int64_t type;

	fsc_build_count_event(x->b);
	if (!fsc_ns_i64(&type, r, NC_EVENT_TYPE)) {
		fsc_ns_note(x, &x->n.bad_row, 1);
		return FSC_OK;
	}
	switch (type) {
	case EVENT_PUSH_POP:
	case EVENT_PUSH_POP_T:
		return put_on_thread(x, r, false);
	case EVENT_START_END:
	case EVENT_START_END_T:
		return keep_range(x, r);
	case EVENT_MARK:
		return put_on_thread(x, r, true);
	case EVENT_THREAD:
		return name_thread(x, r);
	case EVENT_DOMAIN:
	case EVENT_DOMAIN_END:
		return FSC_OK;
	default:
		fsc_ns_note(x, &x->n.nvtx_other, 1);
		return FSC_OK;
	}
}

/* ---- tables ---- */

static enum fsc_status take_any(struct nsys *x, const struct ns_row *r, int what)
{
	if (what < 0)
		return take_domain(x, r);
	return what == NS_NVTX ? take_nvtx(x, r) : take_call(x, r, (enum ns_table)what);
}

static enum fsc_status walk(struct nsys *x, enum ns_table t, int what)
{
	struct ns_row r;
	enum fsc_status st = fsc_ns_rows(&r, x, t);

	while (st == FSC_OK && (st = fsc_ns_next(&r, x)) == FSC_OK)
		st = fsc_ns_failed(x, take_any(x, &r, what));
	fsc_ns_rows_end(&r);
	return st == FSC_END ? FSC_OK : st;
}

enum fsc_status fsc_ns_read_host(struct nsys *x)
{
	FSC_TRY(walk(x, NS_RUNTIME, NS_RUNTIME));
	FSC_TRY(walk(x, NS_NVTX, -1));
	FSC_TRY(walk(x, NS_NVTX, NS_NVTX));
	FSC_TRY(walk(x, NS_OSRT, NS_OSRT));
	return walk(x, NS_OVERHEAD, NS_OVERHEAD);
}
