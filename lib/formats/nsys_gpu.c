/* SPDX-License-Identifier: Apache-2.0 */
/* GPU work: kernels, copies, sets, whole graphs, and synchronisation beside them. */
#include "formats/nsys_int.h"

/* Tracks of the rows before, by what makes them. */
#define TRACKS 64u
struct place {
	int64_t global;
	int32_t device, context, stream;
	uint32_t track, ident;
	bool used, has_pid;
};

struct gpu {
	struct nsys *x;
	const struct ns_row *r;
	struct place places[TRACKS], *at;
	struct fsc_build_slice s;
	struct fsc_launch l;
	int64_t copy_kind;
};

/* ---- where ---- */

static int32_t ordinal(const struct ns_row *r, enum ns_col c)
{
	int64_t v;

	return fsc_ns_i64(&v, r, c) && v >= 0 && v < INT32_MAX ? (int32_t)v : FSC_NO_ORDINAL;
}

/* Streams have no thread of their own: they are told apart by this text. */
static enum fsc_status make_place(struct nsys *x, struct place *p)
{
	struct fsc_build_id pid = { .is_text = true }, tid = { .is_text = true };

	fsc_buf_clear(&x->text);
	fsc_buf_addf(&x->text, "GPU %d", p->device);
	if (p->context != FSC_NO_ORDINAL)
		fsc_buf_addf(&x->text, " context %d", p->context);
	if (p->stream != FSC_NO_ORDINAL)
		fsc_buf_addf(&x->text, " stream %d", p->stream);
	FSC_TRY(fsc_buf_status(&x->text));
	FSC_TRY(fsc_build_str(&tid.text, x->b, x->text.data, x->text.len));
	if (p->has_pid)
		pid = fsc_ns_pid(x, p->global);
	else
		FSC_TRY(fsc_build_str(&pid.text, x->b, "GPU", 3));
	FSC_TRY(fsc_build_ident(&p->ident, x->b, pid, tid));
	fsc_build_name_ident(x->b, p->ident, tid.text);
	return fsc_build_stream(&p->track, x->b, p->ident, p->device, p->context, p->stream);
}

static enum fsc_status find_place(struct gpu *g)
{
	struct place want = { .used = true,
			      .device = ordinal(g->r, NC_DEVICE),
			      .context = ordinal(g->r, NC_CONTEXT),
			      .stream = ordinal(g->r, NC_STREAM) };
	struct place *p;
	uint64_t h;

	want.has_pid = fsc_ns_i64(&want.global, g->r, NC_GLOBAL_PID);
	h = ((uint64_t)want.global >> 24) * 31 + (uint32_t)want.device * 7u +
	    (uint32_t)want.context * 5u + (uint32_t)want.stream;
	p = &g->places[h % TRACKS];
	g->at = p;
	if (p->used && p->global == want.global && p->device == want.device &&
	    p->context == want.context && p->stream == want.stream && p->has_pid == want.has_pid)
		return FSC_OK;
	FSC_TRY(make_place(g->x, &want));
	*p = want;
	return FSC_OK;
}

/* ---- names ---- */

static enum fsc_status kernel_name(struct gpu *g)
{
	static const enum ns_col cols[] = { NC_DEMANGLED, NC_SHORT, NC_MANGLED };
	int64_t number;

	for (size_t i = 0; i < FSC_ARRAY_LEN(cols); i++) {
		enum fsc_status st;

		if (fsc_ns_is_text(g->r, cols[i]))
			return fsc_ns_text(&g->s.name, g->x, g->r, cols[i]);
		if (!fsc_ns_i64(&number, g->r, cols[i]))
			continue;
		st = fsc_ns_string(&g->s.name, g->x, number);
		if (st != FSC_END)
			return st;
	}
	fsc_ns_note(g->x, &g->x->n.no_name, 1);
	return FSC_OK;
}

static const char *memory_kind(const struct ns_row *r, enum ns_col c)
{
	static const char *const kinds[] = { "Pageable", "Pinned",	  "Device",	   "Array",
					     "Managed",	 "Device Static", "Managed Static" };
	int64_t v;

	return fsc_ns_i64(&v, r, c) && v >= 0 && v < (int64_t)FSC_ARRAY_LEN(kinds) ? kinds[v]
										   : "Unknown";
}

/* As Kineto and nsys' own lists write them. */
static enum fsc_status copy_name(struct gpu *g)
{
	static const char *const kinds[] = { "Unknown",	     "HtoD",	    "DtoH", "HtoA",
					     "AtoH",	     "AtoA",	    "AtoD", "DtoA",
					     "DtoD",	     "HtoH",	    "PtoP", "Unified HtoD",
					     "Unified DtoH", "Unified DtoD" };
	struct fsc_buf *b = &g->x->text;
	int64_t v;
	bool known =
		fsc_ns_i64(&v, g->r, NC_COPY_KIND) && v >= 0 && v < (int64_t)FSC_ARRAY_LEN(kinds);

	fsc_buf_clear(b);
	fsc_buf_addf(b, "Memcpy %s", known ? kinds[v] : "Unknown");
	if (g->r->at[NC_SRC_KIND] >= 0 && g->r->at[NC_DST_KIND] >= 0)
		fsc_buf_addf(b, " (%s -> %s)", memory_kind(g->r, NC_SRC_KIND),
			     memory_kind(g->r, NC_DST_KIND));
	FSC_TRY(fsc_buf_status(b));
	return fsc_build_str(&g->s.name, g->x->b, b->data, b->len);
}

static enum fsc_status set_name(struct gpu *g)
{
	struct fsc_buf *b = &g->x->text;

	fsc_buf_clear(b);
	fsc_buf_addf(b, "Memset (%s)",
		     g->r->at[NC_MEM_KIND] >= 0 ? memory_kind(g->r, NC_MEM_KIND) : "Unknown");
	FSC_TRY(fsc_buf_status(b));
	return fsc_build_str(&g->s.name, g->x->b, b->data, b->len);
}

/* A graph that was traced as a whole; its kernels are not in the file. */
static enum fsc_status graph_name(struct gpu *g)
{
	struct fsc_buf *b = &g->x->text;

	fsc_buf_clear(b);
	fsc_buf_adds(b, "cudaGraph");
	if (g->l.graph_id >= 0)
		fsc_buf_addf(b, " %lld", (long long)g->l.graph_id);
	FSC_TRY(fsc_buf_status(b));
	return fsc_build_str(&g->s.name, g->x->b, b->data, b->len);
}

static enum fsc_status sync_name(struct gpu *g)
{
	static const char *const types[] = { "Unknown Sync", "Event Sync", "Stream Wait Event",
					     "Stream Sync", "Context Sync" };
	int64_t v;
	const char *s = types[0];

	if (fsc_ns_i64(&v, g->r, NC_SYNC_TYPE) && v > 0 && v < (int64_t)FSC_ARRAY_LEN(types))
		s = types[v];
	return fsc_build_str(&g->s.name, g->x->b, s, strlen(s));
}

/* ---- rows ---- */

static int32_t i32_or(const struct ns_row *r, enum ns_col c)
{
	int64_t v;

	return fsc_ns_i64(&v, r, c) && v >= 0 && v <= INT32_MAX ? (int32_t)v : -1;
}

static int64_t positive(const struct ns_row *r, enum ns_col c)
{
	int64_t v;

	/* older exports write 0 where there is nothing */
	return fsc_ns_i64(&v, r, c) && v > 0 ? v : -1;
}

static void fill_launch(struct gpu *g)
{
	struct fsc_launch *l = &g->l;
	int64_t bytes;

	fsc_launch_clear(l);
	for (int i = 0; i < 3; i++) {
		l->grid[i] = i32_or(g->r, (enum ns_col)(NC_GRID_X + i));
		l->block[i] = i32_or(g->r, (enum ns_col)(NC_BLOCK_X + i));
	}
	l->registers = i32_or(g->r, NC_REGISTERS);
	int64_t fixed = i32_or(g->r, NC_STATIC_SHARED), asked = i32_or(g->r, NC_DYNAMIC_SHARED);
	if (fixed >= 0 && asked >= 0 && fixed + asked <= INT32_MAX)
		l->shared_bytes = (int32_t)(fixed + asked);
	l->graph_id = positive(g->r, NC_GRAPH);
	l->graph_node_id = positive(g->r, NC_GRAPH_NODE);
	if (fsc_ns_i64(&bytes, g->r, NC_BYTES) && bytes >= 0) {
		l->bytes = bytes;
		if (g->s.dur > 0)
			l->bandwidth_gbs = (float)((double)bytes / (double)g->s.dur);
	}
}

static enum fsc_status fill_args(struct gpu *g)
{
	struct nsys *x = g->x;

	fsc_ns_args_begin(x);
	fsc_launch_args_put(&x->json, g->at->device, g->at->context, g->at->stream,
			    g->s.correlation, &g->l);
	fsc_ns_rest(x, g->r);
	return fsc_ns_args_end(&g->s.args, x);
}

static enum fsc_status fill_kind(struct gpu *g, enum ns_table t)
{
	size_t n = 0;
	const char *name;

	switch (t) {
	case NS_MEMCPY:
		FSC_TRY(copy_name(g));
		g->s.kind = FSC_KIND_MEMCPY;
		return fsc_ns_cat(&g->s.cat, g->x, NS_CAT_MEMCPY);
	case NS_MEMSET:
		FSC_TRY(set_name(g));
		g->s.kind = FSC_KIND_MEMSET;
		return fsc_ns_cat(&g->s.cat, g->x, NS_CAT_MEMSET);
	case NS_SYNC:
		FSC_TRY(sync_name(g));
		g->s.kind = FSC_KIND_SYNC;
		return fsc_ns_cat(&g->s.cat, g->x, NS_CAT_SYNC);
	case NS_GRAPH:
		FSC_TRY(graph_name(g));
		break;
	default:
		FSC_TRY(kernel_name(g));
	}
	name = fsc_strtab_get(fsc_build_trace(g->x->b)->strings, g->s.name, &n);
	g->s.kind = (uint8_t)fsc_classify(FSC_CAT_KERNEL, name, n);
	return fsc_ns_cat(&g->s.cat, g->x, NS_CAT_KERNEL);
}

static enum fsc_status put_work(struct gpu *g, uint32_t slice)
{
	struct fsc_launch_side side = { .scope = (uint64_t)g->at->global >> 24,
					.correlation = g->s.correlation,
					.ts = g->s.ts,
					.slice = slice };

	g->l.slice = slice;
	FSC_TRY(fsc_build_launch(g->x->b, &g->l));
	return g->s.correlation == FSC_NO_CORRELATION ? FSC_OK
						      : fsc_launch_pairs_work(&g->x->pairs, side);
}

static enum fsc_status take_row(struct gpu *g, enum ns_table t)
{
	struct nsys *x = g->x;
	uint32_t slice;

	fsc_build_count_event(x->b);
	g->s = (struct fsc_build_slice){ .correlation = positive(g->r, NC_CORRELATION) };
	if (g->s.correlation < 0)
		g->s.correlation = FSC_NO_CORRELATION;
	if (!fsc_ns_time(&g->s.ts, &g->s.dur, x, g->r, false))
		return FSC_OK;
	FSC_TRY(find_place(g));
	fill_launch(g);
	FSC_TRY(fill_kind(g, t));
	FSC_TRY(fill_args(g));
	g->s.track = g->at->track;
	if (t == NS_SYNC)
		FSC_TRY(fsc_build_annotation(&g->s.track, x->b, g->at->ident, 1));
	FSC_TRY(fsc_build_slice(&slice, x->b, &g->s));
	return fsc_kind_is_gpu_work(g->s.kind) ? put_work(g, slice) : FSC_OK;
}

enum fsc_status fsc_ns_read_gpu(struct nsys *x)
{
	static const enum ns_table tables[] = { NS_KERNEL, NS_MEMCPY, NS_MEMSET, NS_GRAPH,
						NS_SYNC };
	struct gpu g = { .x = x };

	for (size_t i = 0; i < FSC_ARRAY_LEN(tables); i++) {
		struct ns_row r;
		enum fsc_status st = fsc_ns_rows(&r, x, tables[i]);

		g.r = &r;
		while (st == FSC_OK && (st = fsc_ns_next(&r, x)) == FSC_OK)
			st = fsc_ns_failed(x, take_row(&g, tables[i]));
		fsc_ns_rows_end(&r);
		if (st != FSC_END)
			return st;
	}
	return FSC_OK;
}
