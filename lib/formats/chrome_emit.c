/* SPDX-License-Identifier: Apache-2.0 */
/* Gives scanned events to the builder: which track, which kind, which typed rows. */
#include "formats/chrome_int.h"

#include <float.h>

#include "base/alloc.h"
#include "base/json_scan.h"
#include "base/num.h"

/* ---- values ---- */

/*
 * n <= 8 digits at once; false when one is none. Reads 8 bytes at s: values lie in buffers with slack behind
 * them. The text is moved up and zeros put before it, then pairs, fours and eights are added up.
 */
static inline bool digits8(uint64_t *out, const char *s, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t v;
	memcpy(&v, s, 8);
	if (n < 8)
		v = v << (64 - 8 * n) | 0x3030303030303030ULL >> (8 * n);
	v ^= 0x3030303030303030ULL;
	if ((v | (v + 0x0606060606060606ULL)) & 0xF0F0F0F0F0F0F0F0ULL)
		return false;
	v = v * 10 + (v >> 8);
	*out = ((v & 0x000000FF000000FFULL) * 0x000F424000000064ULL +
		((v >> 16) & 0x000000FF000000FFULL) * 0x0000271000000001ULL) >>
	       32;
	return true;
#else
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)(s[i] - '0') >= 10)
			return false;
		*out = *out * 10 + (uint64_t)(s[i] - '0');
	}
	return true;
#endif
}

/* As digits8 for 1 to 16 digits. */
static inline bool digits16(int64_t *out, const char *s, size_t n)
{
	uint64_t hi = 0, lo = 0;
	if (n > 8 && !digits8(&hi, s, n - 8))
		return false;
	if (!(n > 8 ? digits8(&lo, s + n - 8, 8) : digits8(&lo, s, n)))
		return false;
	*out = (int64_t)(hi * 100000000u + lo);
	return true;
}

bool fsc_chrome_i64(int64_t *out, const struct fsc_jt_val *v)
{
	if (v->type != FSC_JT_NUM && v->type != FSC_JT_STR)
		return false;
	/* Most are short plain digits. */
	if (FSC_LIKELY(v->n - 1u < 16u) && FSC_LIKELY(digits16(out, v->s, v->n)))
		return true;
	if (fsc_parse_i64(out, v->s, v->n))
		return true;
	double d;
	if (!fsc_chrome_double(&d, v) || !(d > -9.2e18 && d < 9.2e18))
		return false;
	*out = (int64_t)d;
	return true;
}

bool fsc_chrome_double(double *out, const struct fsc_jt_val *v)
{
	static const double pow10[] = { 1,   1e1, 1e2,	1e3,  1e4,  1e5,  1e6,	1e7,
					1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
	if (v->type != FSC_JT_NUM && v->type != FSC_JT_STR)
		return false;
	/* Up to 15 digits are exact: both the integer and the power of ten are doubles without error. */
	int64_t x = 0;
	uint32_t i = 0, frac = 0;
	bool dot = false;
	if (v->n - 1u < 16u) {
		for (; i < v->n; i++) {
			if ((unsigned char)(v->s[i] - '0') < 10) {
				x = x * 10 + (v->s[i] - '0');
				frac += dot;
			} else if (v->s[i] == '.' && !dot && i > 0) {
				dot = true;
			} else {
				break;
			}
		}
		if (i == v->n && i - dot <= 15 && v->s[i - 1] != '.') {
			*out = (double)x / pow10[frac];
			return true;
		}
	}
	const char *s = v->s;
	size_t n = v->n;
	if (v->type == FSC_JT_STR && n && *s == '+') {
		s++;
		n--;
	}
	return fsc_parse_double(out, s, n);
}

static int32_t arg_i32(const struct chrome *c, enum chrome_arg a, int32_t none)
{
	int64_t v;
	if (!(c->have_arg >> a & 1) || !fsc_chrome_i64(&v, &c->a[a]) || v < INT32_MIN + 1 ||
	    v > INT32_MAX)
		return none;
	return (int32_t)v;
}

static int64_t arg_i64(const struct chrome *c, enum chrome_arg a, int64_t none)
{
	int64_t v;
	return c->have_arg >> a & 1 && fsc_chrome_i64(&v, &c->a[a]) ? v : none;
}

static float arg_float(const struct chrome *c, enum chrome_arg a)
{
	double v;
	/* What no float holds would become infinite. */
	return c->have_arg >> a & 1 && fsc_chrome_double(&v, &c->a[a]) && v > -FLT_MAX &&
			       v < FLT_MAX
		       ? (float)v
		       : -1.0f;
}

static enum fsc_status text_id(uint32_t *id, struct chrome *c, const struct fsc_jt_val *v)
{
	size_t n;
	const char *s = fsc_jt_text(&c->t, v, &n);
	return fsc_build_str(id, c->b, s, n);
}

/* Text of a value: strings without quotes, everything else as it is written. */
static enum fsc_status arg_text(uint32_t *id, struct chrome *c, enum chrome_arg a)
{
	const struct fsc_jt_val *v = &c->a[a];
	*id = 0;
	if (!(c->have_arg >> a & 1) || v->type == FSC_JT_NULL)
		return FSC_OK;
	return v->type == FSC_JT_STR ? text_id(id, c, v) : fsc_build_str(id, c->b, v->s, v->n);
}

static bool has(const struct chrome *c, enum chrome_field f)
{
	return c->have >> f & 1;
}

static bool field_is(const struct chrome *c, enum chrome_field f, const char *s)
{
	size_t n = strlen(s);
	return has(c, f) && c->f[f].type == FSC_JT_STR && c->f[f].n == n &&
	       !memcmp(c->f[f].s, s, n);
}

/* ---- time ---- */

/* Plain digits with up to three decimals are nearly all there is; the rest goes the exact long way. */
static bool time_ns(struct chrome *c, int64_t *ns, const struct fsc_jt_val *v)
{
	if (v->type != FSC_JT_NUM && v->type != FSC_JT_STR)
		return false;
	int64_t whole, part;
	if (FSC_LIKELY(v->n - 1u < 16u) && digits16(&whole, v->s, v->n)) {
		*ns = whole <= INT64_MAX / 1000 ? whole * 1000 : 0;
		return whole <= INT64_MAX / 1000;
	}
	for (size_t k = 1; k <= 3 && k + 1 < v->n && v->n - k - 1 <= 15; k++) {
		if (v->s[v->n - k - 1] != '.')
			continue;
		static const int16_t scale[] = { 0, 100, 10, 1 };
		if (!digits16(&whole, v->s, v->n - k - 1) || !digits16(&part, v->s + v->n - k, k))
			break;
		*ns = whole * 1000 + part * scale[k];
		return true;
	}
	bool inexact = false;
	if (!fsc_parse_us_to_ns(ns, &inexact, v->s, v->n))
		return false;
	if (FSC_UNLIKELY(inexact))
		fsc_chrome_note(c, &c->inexact);
	return true;
}

bool fsc_chrome_time_ns(struct chrome *c, int64_t *ns, const struct fsc_jt_val *v)
{
	return time_ns(c, ns, v);
}

/* Half of int64 keeps every later difference and sum inside. */
static bool event_ts(struct chrome *c, int64_t *ts)
{
	if (!has(c, F_TS) || c->f[F_TS].type == FSC_JT_NULL) {
		fsc_chrome_note(c, &c->no_ts);
		return false;
	}
	if (!time_ns(c, ts, &c->f[F_TS]) || *ts > INT64_MAX / 2 || *ts < INT64_MIN / 2) {
		fsc_chrome_note(c, &c->bad_ts);
		return false;
	}
	return true;
}

bool fsc_chrome_event_ts(struct chrome *c, int64_t *ts)
{
	return event_ts(c, ts);
}

/* ---- identity ---- */

static enum fsc_status raw_id(struct fsc_build_id *id, struct chrome *c, const struct fsc_jt_val *v)
{
	*id = (struct fsc_build_id){ .is_text = false };
	if (v->type == FSC_JT_NUM || v->type == FSC_JT_STR) {
		if ((v->type == FSC_JT_NUM || v->n > 0) && fsc_chrome_i64(&id->num, v))
			return FSC_OK;
		id->is_text = true;
		return text_id(&id->text, c, v);
	}
	return FSC_OK;
}

static bool is_id(const struct chrome *c, enum chrome_field f)
{
	return has(c, f) && (c->f[f].type == FSC_JT_NUM || c->f[f].type == FSC_JT_STR);
}

/* Missing tid: the pid. Missing pid: 0. */
static enum fsc_status event_ident(uint32_t *ident, struct chrome *c)
{
	const struct fsc_jt_val none = { .type = FSC_JT_ABSENT };
	const struct fsc_jt_val *pv = is_id(c, F_PID) ? &c->f[F_PID] : &none;
	const struct fsc_jt_val *tv = is_id(c, F_TID) ? &c->f[F_TID] : pv;
	int64_t p, t;
	if (pv->type == FSC_JT_NUM && tv->type == FSC_JT_NUM && fsc_chrome_i64(&p, pv) &&
	    fsc_chrome_i64(&t, tv)) {
		uint64_t h = ((uint64_t)p * 31 + (uint64_t)t) * 0x9E3779B97F4A7C15ULL;
		struct chrome_ident *e = &c->idents[h >> 56];
		if (FSC_LIKELY(e->used && e->pid == p && e->tid == t)) {
			*ident = e->ident;
			return FSC_OK;
		}
		struct fsc_build_id pid = { .num = p }, tid = { .num = t };
		FSC_TRY(fsc_build_ident(ident, c->b, pid, tid));
		*e = (struct chrome_ident){ .pid = p, .tid = t, .ident = *ident, .used = true };
		return FSC_OK;
	}
	struct fsc_build_id pid, tid;
	FSC_TRY(raw_id(&pid, c, pv));
	FSC_TRY(raw_id(&tid, c, tv));
	return fsc_build_ident(ident, c->b, pid, tid);
}

enum fsc_status fsc_chrome_event_ident(uint32_t *ident, struct chrome *c)
{
	return event_ident(ident, c);
}

/* ---- category, kind ---- */

static enum fsc_status make_cat(struct chrome_cat *e, struct chrome *c, const struct fsc_jt_val *v)
{
	size_t n;
	const char *s = fsc_jt_text(&c->t, v, &n);
	e->cls = (uint8_t)fsc_classify_cat(s, n);
	if (e->cls != FSC_CAT_UNKNOWN && n && memchr(s, '_', n))
		c->kineto = true;
	FSC_TRY(fsc_build_str(&e->name, c->b, s, n));
	return fsc_build_cat(&e->cat, c->b, s, n);
}

/* Absent category: the empty string, cls unknown. *e is valid until the next call. */
static enum fsc_status event_cat(const struct chrome_cat **out, struct chrome *c)
{
	static const struct fsc_jt_val none = { .s = "", .type = FSC_JT_STR };
	const struct fsc_jt_val *v =
		has(c, F_CAT) && c->f[F_CAT].type == FSC_JT_STR ? &c->f[F_CAT] : &none;
	*out = &c->odd_cat;
	if (v->flags || v->n == 0 || v->n >= sizeof(c->odd_cat.text))
		return make_cat(&c->odd_cat, c, v);
	uint32_t h = (v->n * 7u + (unsigned char)v->s[0] + 5u * (unsigned char)v->s[v->n - 1] +
		      3u * (unsigned char)v->s[v->n / 2]) %
		     CHROME_CATS;
	struct chrome_cat *e = &c->cats[h];
	*out = e;
	if (FSC_LIKELY(e->n == v->n && !memcmp(e->text, v->s, v->n)))
		return FSC_OK;
	e->n = 0;
	FSC_TRY(make_cat(e, c, v));
	memcpy(e->text, v->s, v->n);
	e->n = (uint8_t)v->n;
	return FSC_OK;
}

static enum fsc_status event_name(uint32_t *id, struct chrome *c)
{
	*id = 0;
	return has(c, F_NAME) && c->f[F_NAME].type == FSC_JT_STR ? text_id(id, c, &c->f[F_NAME])
								 : FSC_OK;
}

static fsc_noinline enum fsc_status grow_kinds(struct chrome *c, uint32_t name)
{
	uint32_t n = name < 2048 ? 4096 : name * 2;
	uint8_t *k = fsc_realloc(c->kinds, n, 1);
	if (!k)
		return FSC_ENOMEM;
	memset(k + c->n_kinds, 0, n - c->n_kinds);
	c->kinds = k;
	c->n_kinds = n;
	return FSC_OK;
}

#define GPU_ARGS                                                                           \
	(1ULL << A_DEVICE | 1ULL << A_CONTEXT | 1ULL << A_STREAM | 1ULL << A_CORRELATION | \
	 1ULL << A_GRID | 1ULL << A_BYTES | 1ULL << A_QUEUE)

/* "kernel" and "memcpy" are also what other tools call things of an operating system: without any sign of a
 * GPU, in a file that is not Kineto's, they are ordinary slices. */
static inline uint8_t class_of(const struct chrome *c, const struct chrome_cat *cat)
{
	if (FSC_UNLIKELY(cat->cls == FSC_CAT_COLLECTIVE))
		return c->have_arg >> A_STREAM & 1 ? FSC_CAT_COLLECTIVE : FSC_CAT_OTHER;
	if (FSC_LIKELY(!fsc_cat_is_gpu((enum fsc_cat_class)cat->cls) || c->have_arg & GPU_ARGS ||
		       c->kineto))
		return cat->cls;
	return FSC_CAT_OTHER;
}

/* Kind by class and name, remembered per name. */
static enum fsc_status slice_kind(uint8_t *kind, struct chrome *c, uint8_t cls, uint32_t name)
{
	if (FSC_UNLIKELY(name >= c->n_kinds))
		FSC_TRY(grow_kinds(c, name));
	uint8_t k = c->kinds[name];
	if (FSC_UNLIKELY(!k || k >> 4 != cls)) {
		size_t n;
		const char *s = fsc_strtab_get(fsc_build_trace(c->b)->strings, name, &n);
		k = (uint8_t)((unsigned)cls << 4 |
			      (unsigned)fsc_classify((enum fsc_cat_class)cls, s, n));
		c->kinds[name] = k;
	}
	*kind = k & 15;
	return FSC_OK;
}

/* ---- slices ---- */

static enum fsc_status event_args(uint32_t *record, struct chrome *c)
{
	*record = FSC_NO_ARGS;
	if (FSC_UNLIKELY(c->have >> F_RARE))
		fsc_chrome_rare_args(c);
	if (FSC_LIKELY(c->args_n))
		return FSC_UNLIKELY(c->stack_waits)
			       ? FSC_OK
			       : fsc_build_args(record, c->b, c->args, c->args_n);
	if (FSC_UNLIKELY(c->args_full))
		fsc_chrome_note(c, &c->args_too_big);
	return FSC_OK;
}

static int64_t correlation(struct chrome *c)
{
	int64_t v;
	if (!(c->have_arg >> A_CORRELATION & 1) || c->a[A_CORRELATION].type == FSC_JT_NULL)
		return FSC_NO_CORRELATION;
	if (fsc_chrome_i64(&v, &c->a[A_CORRELATION]))
		return v;
	fsc_chrome_note(c, &c->bad_correlation);
	return FSC_NO_CORRELATION;
}

/*
 * Profilers use the device number as pid of its rows and the stream number as tid. That counts where args do not say:
 * older files have no device, MTIA and other accelerators not always a stream, and a stream may be a name or a
 * handle of 64 bits.
 */
static int32_t row_device(const struct chrome *c)
{
	int32_t device = arg_i32(c, A_DEVICE, FSC_NO_ORDINAL);
	int64_t pid;
	if (device == FSC_NO_ORDINAL && is_id(c, F_PID) && fsc_chrome_i64(&pid, &c->f[F_PID]) &&
	    pid >= 0 && pid < 1024)
		device = (int32_t)pid;
	return device;
}

static int32_t row_stream(struct chrome *c)
{
	enum chrome_arg a = c->have_arg >> A_STREAM & 1 ? A_STREAM : A_QUEUE;
	int32_t stream = arg_i32(c, a, FSC_NO_ORDINAL);
	int64_t tid;
	if (FSC_LIKELY(stream != FSC_NO_ORDINAL))
		return stream;
	if (c->have_arg >> a & 1 && c->a[a].type != FSC_JT_NULL)
		fsc_chrome_note(c, &c->bad_stream);
	if (!is_id(c, F_TID) || !fsc_chrome_i64(&tid, &c->f[F_TID]) || tid < 0 || tid > INT32_MAX)
		return FSC_NO_ORDINAL;
	return (int32_t)tid;
}

static enum fsc_status slice_track(uint32_t *track, struct chrome *c, uint8_t cls, uint32_t ident)
{
	if (fsc_cat_is_gpu((enum fsc_cat_class)cls))
		return fsc_build_stream(track, c->b, ident, row_device(c),
					arg_i32(c, A_CONTEXT, FSC_NO_ORDINAL), row_stream(c));
	if (cls == FSC_CAT_GPU_ANNOTATION)
		return fsc_build_annotation(track, c->b, ident, 0);
	if (cls == FSC_CAT_SYNC)
		return fsc_build_annotation(track, c->b, ident, 1);
	return fsc_build_thread(track, c->b, ident);
}

/* Three numbers of an array value. */
static void triple(int32_t out[3], const struct fsc_jt_val *v)
{
	const char *s = v->s, *end = v->s + v->n;
	for (int i = 0; i < 3; i++) {
		while (s < end && (unsigned char)(*s - '0') >= 10)
			s++;
		if (s >= end)
			return;
		int64_t x = 0;
		for (; s < end && (unsigned char)(*s - '0') < 10; s++)
			if (x < INT32_MAX)
				x = x * 10 + (*s - '0');
		out[i] = x > INT32_MAX ? INT32_MAX : (int32_t)x;
	}
}

#define LAUNCH_ARGS                                                                  \
	(1ULL << A_GRID | 1ULL << A_BLOCK | 1ULL << A_REGISTERS | 1ULL << A_SHARED | \
	 1ULL << A_BLOCKS_PER_SM | 1ULL << A_WARPS_PER_SM | 1ULL << A_OCCUPANCY |    \
	 1ULL << A_GRAPH_ID | 1ULL << A_GRAPH_NODE_ID | 1ULL << A_BYTES | 1ULL << A_BANDWIDTH)

static enum fsc_status launch_row(struct chrome *c, uint32_t slice)
{
	if (!(c->have_arg & LAUNCH_ARGS))
		return FSC_OK;
	struct fsc_launch l = { .slice = slice,
				.grid = { -1, -1, -1 },
				.block = { -1, -1, -1 },
				.registers = arg_i32(c, A_REGISTERS, -1),
				.shared_bytes = arg_i32(c, A_SHARED, -1),
				.queued_ns = arg_i64(c, A_QUEUED, 0),
				.blocks_per_sm = arg_float(c, A_BLOCKS_PER_SM),
				.warps_per_sm = arg_float(c, A_WARPS_PER_SM),
				.occupancy_pct = arg_float(c, A_OCCUPANCY),
				.graph_id = arg_i64(c, A_GRAPH_ID, -1),
				.graph_node_id = arg_i64(c, A_GRAPH_NODE_ID, -1),
				.bytes = arg_i64(c, A_BYTES, -1),
				.bandwidth_gbs = arg_float(c, A_BANDWIDTH) };
	if (c->have_arg >> A_GRID & 1)
		triple(l.grid, &c->a[A_GRID]);
	if (c->have_arg >> A_BLOCK & 1)
		triple(l.block, &c->a[A_BLOCK]);
	return fsc_build_launch(c->b, &l);
}

static enum fsc_status collective_row(struct chrome *c, uint32_t slice)
{
	struct fsc_collective k = { .slice = slice,
				    .in_nelems = arg_i64(c, A_IN_NELEMS, -1),
				    .out_nelems = arg_i64(c, A_OUT_NELEMS, -1),
				    .group_size = arg_i32(c, A_GROUP_SIZE, -1),
				    .rank = arg_i32(c, A_RANK, -1),
				    .src_rank = arg_i32(c, A_SRC_RANK, -1),
				    .dst_rank = arg_i32(c, A_DST_RANK, -1),
				    .seq = arg_i64(c, A_SEQ, -1),
				    .comms_id = arg_i64(c, A_COMMS_ID, -1) };
	FSC_TRY(arg_text(&k.name, c, A_COLLECTIVE));
	FSC_TRY(arg_text(&k.dtype, c, A_DTYPE));
	FSC_TRY(arg_text(&k.pg_name, c, A_PG_NAME));
	FSC_TRY(arg_text(&k.pg_desc, c, A_PG_DESC));
	FSC_TRY(arg_text(&k.pg_ranks, c, A_PG_RANKS));
	return fsc_build_collective(c->b, &k);
}

/* FNV-1a; ids that are text only have to be told apart within one file. */
uint64_t fsc_chrome_hash(const char *s, size_t n)
{
	uint64_t h = 0xCBF29CE484222325ULL;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001B3ULL;
	return h | 1ULL << 63;
}

bool fsc_chrome_id(uint64_t *id, const struct fsc_jt_val *v)
{
	int64_t i;
	if (v->type == FSC_JT_NUM && fsc_chrome_i64(&i, v)) {
		*id = (uint64_t)i;
		return true;
	}
	/* A number past int64 (a hash, an address) is told apart by its digits. */
	if (v->type == FSC_JT_NUM) {
		*id = fsc_chrome_hash(v->s, v->n);
		return v->n > 0;
	}
	if (v->type != FSC_JT_STR)
		return false;
	if (!fsc_parse_hex_u64(id, v->s, v->n))
		*id = fsc_chrome_hash(v->s, v->n);
	return true;
}

static bool is_true(const struct chrome *c, enum chrome_field f)
{
	return has(c, f) && (c->f[f].type == FSC_JT_BOOL_TRUE || field_is(c, f, "true"));
}

/* Flows v2: bind_id with flow_in / flow_out on the slice itself. The category marks their key as v2. */
static enum fsc_status bind_flow(struct chrome *c, uint32_t slice, int64_t ts)
{
	bool in = is_true(c, F_FLOW_IN), out = is_true(c, F_FLOW_OUT);
	struct fsc_build_flow f = { .ts = ts, .slice = slice };
	if (!in && !out)
		return FSC_OK;
	if (!fsc_chrome_id(&f.id, &c->f[F_BIND_ID])) {
		fsc_chrome_note(c, &c->no_id);
		return FSC_OK;
	}
	f.phase = in && out ? FSC_FLOW_STEP : out ? FSC_FLOW_START : FSC_FLOW_END;
	FSC_TRY(fsc_build_str(&f.cat, c->b, "bind_id", 7));
	return fsc_build_flow(c->b, &f);
}

static enum fsc_status fill_slice(struct fsc_build_slice *s, const struct chrome_cat **cat,
				  struct chrome *c)
{
	FSC_TRY(event_cat(cat, c));
	FSC_TRY(event_name(&s->name, c));
	FSC_TRY(event_args(&s->args, c));
	s->cat = (*cat)->cat;
	s->correlation = correlation(c);
	return slice_kind(&s->kind, c, class_of(c, *cat), s->name);
}

enum fsc_status fsc_chrome_fill_slice(struct fsc_build_slice *s, struct chrome *c)
{
	const struct chrome_cat *cat;
	return fill_slice(s, &cat, c);
}

static fsc_noinline enum fsc_status rare_rows(struct chrome *c, uint32_t slice, int64_t ts)
{
	if (c->stack_waits) {
		c->stack_waits = false;
		FSC_TRY(fsc_chrome_stack_wait(c, slice));
	}
	return has(c, F_BIND_ID) ? bind_flow(c, slice, ts) : FSC_OK;
}

/* What hangs on a slice besides its columns. */
static enum fsc_status slice_rows(struct chrome *c, uint32_t slice, const struct fsc_build_slice *s)
{
	if (fsc_kind_is_gpu_work(s->kind))
		FSC_TRY(launch_row(c, slice));
	if (FSC_UNLIKELY(c->have_arg >> A_COLLECTIVE & 1))
		FSC_TRY(collective_row(c, slice));
	return FSC_UNLIKELY(c->have >> F_RARE) ? rare_rows(c, slice, s->ts) : FSC_OK;
}

enum fsc_status fsc_chrome_slice_rows(struct chrome *c, uint32_t slice,
				      const struct fsc_build_slice *s)
{
	return slice_rows(c, slice, s);
}

static enum fsc_status complete(struct chrome *c)
{
	struct fsc_build_slice s = { .flags = 0 };
	const struct chrome_cat *cat;
	uint32_t ident, slice;
	if (!event_ts(c, &s.ts))
		return FSC_OK;
	if (!has(c, F_DUR) || c->f[F_DUR].type == FSC_JT_NULL) {
		fsc_chrome_note(c, &c->x_no_dur);
		return FSC_OK;
	}
	if (!time_ns(c, &s.dur, &c->f[F_DUR])) {
		fsc_chrome_note(c, &c->x_bad_dur);
		return FSC_OK;
	}
	FSC_TRY(fill_slice(&s, &cat, c));
	FSC_TRY(event_ident(&ident, c));
	FSC_TRY(slice_track(&s.track, c, class_of(c, cat), ident));
	bool xla = FSC_UNLIKELY(c->xla.devices.n) && !has(c, F_CAT);
	if (xla)
		FSC_TRY(fsc_chrome_xla_slice(c, ident, &s));
	FSC_TRY(fsc_build_slice(&slice, c->b, &s));
	if (xla)
		FSC_TRY(fsc_chrome_xla_rows(c, ident, slice, &s));
	return slice_rows(c, slice, &s);
}

static enum fsc_status begin(struct chrome *c)
{
	struct fsc_build_slice s = { .flags = 0 };
	const struct chrome_cat *cat;
	uint32_t ident, slice;
	if (!event_ts(c, &s.ts))
		return FSC_OK;
	FSC_TRY(fill_slice(&s, &cat, c));
	FSC_TRY(event_ident(&ident, c));
	FSC_TRY(slice_track(&s.track, c, class_of(c, cat), ident));
	FSC_TRY(fsc_build_begin(&slice, c->b, &s));
	return slice_rows(c, slice, &s);
}

static enum fsc_status end(struct chrome *c)
{
	const struct chrome_cat *cat;
	uint32_t ident, track, name, args;
	int64_t ts;
	if (!event_ts(c, &ts))
		return FSC_OK;
	if (FSC_UNLIKELY(c->have >> F_RARE))
		fsc_chrome_rare_ignored(c);
	FSC_TRY(event_cat(&cat, c));
	FSC_TRY(event_name(&name, c));
	FSC_TRY(event_args(&args, c));
	FSC_TRY(event_ident(&ident, c));
	FSC_TRY(slice_track(&track, c, class_of(c, cat), ident));
	return fsc_build_end(c->b, track, ts, name, has(c, F_CAT) ? cat->cat : FSC_BUILD_NO_CAT,
			     args);
}

/* ---- memory instants are counters too ---- */

static enum fsc_status memory_track(uint32_t *track, struct chrome *c,
				    const struct chrome_memory *m, const char *what)
{
	/* PyTorch's device types, those that have memory of their own */
	static const char *const names[] = {
		[1] = "GPU",  [6] = "GPU",  [9] = "XLA",   [12] = "XPU",	[13] = "MPS",
		[15] = "HPU", [18] = "IPU", [19] = "MTIA", [20] = "PrivateUse1"
	};
	struct fsc_buf b = FSC_BUF_INIT(128);
	uint32_t id, unit;
	bool known = m->type > 0 && m->type < (int32_t)FSC_ARRAY_LEN(names) && names[m->type];
	if (m->type == 0)
		fsc_buf_addf(&b, "CPU memory %s", what);
	else if (known)
		fsc_buf_addf(&b, "%s %d memory %s", names[m->type], m->device, what);
	else
		fsc_buf_addf(&b, "device type %d id %d memory %s", m->type, m->device, what);
	enum fsc_status st = fsc_buf_status(&b);
	if (st == FSC_OK)
		st = fsc_build_str(&id, c->b, b.data, b.len);
	fsc_buf_fini(&b);
	FSC_TRY(st);
	FSC_TRY(fsc_build_str(&unit, c->b, "bytes", 5));
	return fsc_build_counter_track(track, c->b, m->process, id, unit,
				       m->type == 0 || m->device < 0 ? FSC_NO_ORDINAL : m->device);
}

static enum fsc_status memory_of(struct chrome_memory **out, struct chrome *c, uint32_t process)
{
	struct chrome_memory m = { .process = process,
				   .track = { FSC_NO_TRACK, FSC_NO_TRACK },
				   .type = arg_i32(c, A_DEVICE_TYPE, -1),
				   .device = arg_i32(c, A_DEVICE_ID, -1) };
	for (size_t i = c->memories.n; i-- > 0;) {
		*out = &c->memories.v[i];
		if ((*out)->process == process && (*out)->type == m.type &&
		    (*out)->device == m.device)
			return FSC_OK;
	}
	*out = NULL;
	if (c->memories.n >= CHROME_MEMORIES) {
		fsc_chrome_note(c, &c->memory_devices);
		return FSC_OK;
	}
	if (!fsc_vec_push(&c->memories, m))
		return FSC_ENOMEM;
	*out = &c->memories.v[c->memories.n - 1];
	return FSC_OK;
}

static enum fsc_status memory_counters(struct chrome *c, uint32_t ident, int64_t ts)
{
	static const struct {
		enum chrome_arg a;
		const char *what;
	} both[] = { { A_TOTAL_ALLOCATED, "allocated" }, { A_TOTAL_RESERVED, "reserved" } };
	struct chrome_memory *m;
	double v;
	FSC_TRY(memory_of(&m, c, fsc_build_ident_process(c->b, ident)));
	for (int i = 0; m && i < 2; i++) {
		if (!(c->have_arg >> both[i].a & 1) || !fsc_chrome_double(&v, &c->a[both[i].a]))
			continue;
		if (m->track[i] == FSC_NO_TRACK)
			FSC_TRY(memory_track(&m->track[i], c, m, both[i].what));
		FSC_TRY(fsc_build_counter(c->b, m->track[i], ts, v));
	}
	return FSC_OK;
}

/* Its "s": what of the trace it concerns, besides the thread that wrote it. */
static uint8_t instant_scope(const struct chrome *c)
{
	return field_is(c, F_SCOPE, "g")   ? FSC_SLICE_SCOPE_GLOBAL
	       : field_is(c, F_SCOPE, "p") ? FSC_SLICE_SCOPE_PROCESS
					   : 0;
}

static enum fsc_status instant(struct chrome *c)
{
	struct fsc_build_slice s = { .flags = FSC_SLICE_INSTANT };
	const struct chrome_cat *cat;
	uint32_t ident, slice;
	if (!event_ts(c, &s.ts))
		return FSC_OK;
	FSC_TRY(fill_slice(&s, &cat, c));
	s.kind = FSC_KIND_INSTANT;
	s.flags |= instant_scope(c);
	FSC_TRY(event_ident(&ident, c));
	FSC_TRY(fsc_build_thread(&s.track, c->b, ident));
	FSC_TRY(fsc_build_slice(&slice, c->b, &s));
	if (FSC_UNLIKELY(c->have >> F_RARE))
		FSC_TRY(rare_rows(c, slice, s.ts));
	if (!field_is(c, F_NAME, "[memory]"))
		return FSC_OK;
	return memory_counters(c, ident, s.ts);
}

/* An item of the top-level list "samples": a call stack at a time, an instant named by its innermost frame. */
static enum fsc_status sample(struct chrome *c)
{
	static const struct fsc_jt_val cat = { .s = "cpu_sample", .n = 10, .type = FSC_JT_STR };
	if (!has(c, F_SF) && !has(c, F_STACK)) {
		fsc_chrome_note(c, &c->no_phase);
		return FSC_OK;
	}
	c->events++;
	fsc_chrome_note(c, &c->samples);
	c->f[F_CAT] = cat;
	c->have |= 1u << F_CAT;
	return instant(c);
}

/* ---- counters: one track per args key ---- */

static enum fsc_status counter_value(struct chrome *c, uint32_t process, int64_t ts,
				     const struct fsc_json_member *m)
{
	struct fsc_jt_val v = { .s = m->value, .n = (uint32_t)m->value_len };
	uint32_t id, track;
	double x;
	if (m->type == FSC_JSON_STRING) {
		v = (struct fsc_jt_val){ .s = m->value + 1, .n = v.n - 2, .type = FSC_JT_STR };
	} else if (m->type == FSC_JSON_NUMBER) {
		v.type = FSC_JT_NUM;
	}
	if (!fsc_chrome_double(&x, &v)) {
		fsc_chrome_note(c, &c->bad_counter);
		return FSC_OK;
	}
	size_t n = 0;
	const char *s = has(c, F_NAME) && c->f[F_NAME].type == FSC_JT_STR
				? fsc_jt_text(&c->t, &c->f[F_NAME], &n)
				: "";
	struct fsc_buf b = FSC_BUF_INIT(FSC_MAX_ARGS_BYTES * 3);
	fsc_buf_add(&b, s, n);
	if (is_id(c, F_ID)) {
		fsc_buf_adds(&b, " id: ");
		fsc_buf_add(&b, c->f[F_ID].s, c->f[F_ID].n);
	}
	fsc_buf_addc(&b, ' ');
	fsc_buf_add(&b, m->key, m->key_len);
	enum fsc_status st = fsc_buf_status(&b);
	if (st == FSC_OK)
		st = fsc_build_str(&id, c->b, b.data, b.len);
	fsc_buf_fini(&b);
	FSC_TRY(st);
	FSC_TRY(fsc_build_counter_track(&track, c->b, process, id, 0, FSC_NO_ORDINAL));
	return fsc_build_counter(c->b, track, ts, x);
}

static enum fsc_status counters(struct chrome *c)
{
	struct fsc_json_member m;
	uint32_t ident;
	int64_t ts;
	if (!event_ts(c, &ts))
		return FSC_OK;
	FSC_TRY(event_ident(&ident, c));
	uint32_t process = fsc_build_ident_process(c->b, ident);
	if (FSC_UNLIKELY(c->have >> F_RARE))
		fsc_chrome_rare_ignored(c);
	if (FSC_UNLIKELY(c->args_full))
		fsc_chrome_note(c, &c->args_too_big);
	struct fsc_json_scan s = fsc_json_scan_of(c->args, c->args_n);
	while (c->args_n && fsc_json_scan_next(&s, &m))
		FSC_TRY(counter_value(c, process, ts, &m));
	return FSC_OK;
}

/* ---- flow events ---- */

static bool flow_id(struct chrome *c, uint64_t *id)
{
	bool local;
	if (FSC_LIKELY(has(c, F_ID)))
		return fsc_chrome_id(id, &c->f[F_ID]);
	if (!fsc_chrome_async_id(c, id, &local))
		return false;
	/* One of a process is told apart from the same one elsewhere by the text of the pid. */
	if (local && is_id(c, F_PID))
		*id ^= fsc_chrome_hash(c->f[F_PID].s, c->f[F_PID].n);
	return true;
}

static enum fsc_status flow(struct chrome *c, char ph)
{
	struct fsc_build_flow f = { .slice = FSC_NO_SLICE };
	const struct chrome_cat *cat;
	if (!event_ts(c, &f.ts))
		return FSC_OK;
	if (!flow_id(c, &f.id)) {
		fsc_chrome_note(c, &c->no_id);
		return FSC_OK;
	}
	if (FSC_UNLIKELY(c->args_n > 0))
		fsc_chrome_note(c, &c->flow_args);
	if (FSC_UNLIKELY(c->have >> F_RARE))
		fsc_chrome_rare_ignored(c);
	FSC_TRY(event_cat(&cat, c));
	f.cat = cat->name;
	FSC_TRY(event_name(&f.name, c));
	FSC_TRY(event_ident(&f.ident, c));
	f.phase = ph == 's'		   ? FSC_FLOW_START
		  : ph == 't'		   ? FSC_FLOW_STEP
		  : field_is(c, F_BP, "e") ? FSC_FLOW_END
					   : FSC_FLOW_END_NEXT;
	return fsc_build_flow(c->b, &f);
}

/* ---- metadata ---- */

static enum fsc_status metadata(struct chrome *c)
{
	uint32_t ident, text;
	FSC_TRY(event_ident(&ident, c));
	uint32_t process = fsc_build_ident_process(c->b, ident);
	if (field_is(c, F_NAME, "process_name")) {
		FSC_TRY(arg_text(&text, c, A_NAME));
		fsc_build_name_process(c->b, process, text);
		return fsc_chrome_xla_process(c, process, text);
	} else if (field_is(c, F_NAME, "thread_name")) {
		FSC_TRY(arg_text(&text, c, A_NAME));
		fsc_build_name_ident(c->b, ident, text);
		return fsc_chrome_xla_thread(c, ident, text);
	} else if (field_is(c, F_NAME, "process_labels")) {
		FSC_TRY(arg_text(&text, c, A_LABELS));
		fsc_build_label_process(c->b, process, text);
	} else if (field_is(c, F_NAME, "process_sort_index")) {
		fsc_build_sort_process(c->b, process, arg_i32(c, A_SORT_INDEX, 0));
	} else if (field_is(c, F_NAME, "thread_sort_index")) {
		fsc_build_sort_ident(c->b, ident, arg_i32(c, A_SORT_INDEX, 0));
	} else {
		fsc_chrome_note(c, &c->metadata_unknown);
	}
	return FSC_OK;
}

enum fsc_status fsc_chrome_emit(struct chrome *c)
{
	fsc_build_count_event(c->b);
	if (!c->have) {
		fsc_chrome_note(c, &c->empty);
		return FSC_OK;
	}
	if (!has(c, F_PH) || c->f[F_PH].type != FSC_JT_STR || !c->f[F_PH].n) {
		if (c->in_samples)
			return sample(c);
		fsc_chrome_note(c, &c->no_phase);
		return FSC_OK;
	}
	c->events++;
	char ph = c->f[F_PH].s[0];
	switch (ph) {
	case 'X':
		return complete(c);
	case 's':
	case 't':
	case 'f':
		return flow(c, ph);
	case 'i':
	case 'I':
	case 'R':
		return instant(c);
	case 'P':
		fsc_chrome_note(c, &c->samples);
		return instant(c);
	case 'M':
		return metadata(c);
	case 'B':
		return begin(c);
	case 'E':
		return end(c);
	case 'T':
		return has(c, F_DUR) ? fsc_chrome_thread_state(c) : fsc_chrome_async(c, ph);
	case 'b':
	case 'n':
	case 'e':
	case 'S':
	case 'p':
	case 'F':
		return fsc_chrome_async(c, ph);
	case 'C':
		return counters(c);
	default:
		fsc_chrome_note(c, &c->phases[(unsigned char)ph & 127]);
		return FSC_OK;
	}
}
