/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU packets (gpu_render_stage_event.proto, gpu_counter_event.proto, gpu_info.proto): work of a queue on a stream
 * track, counters of a GPU, and the links between a call on the host and the work that it submitted or waited for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_copy.h"
#include "base/num.h"
#include "formats/perfetto_int.h"

struct stage {
	struct pft_seq *s;
	const struct pft_packet *k;
	uint64_t event, duration, queue, stage, gpu, context, kernel, name_iid;
	bool has_gpu, has_context;
	struct fsc_cur name, launch, whole;
};

static const char *text_of(const struct pft *p, uint32_t text)
{
	return fsc_strtab_get(p->texts, text, NULL);
}

static enum fsc_status parse(struct pft *p, struct stage *g)
{
	struct fsc_cur c = g->whole;
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		switch (f.num) {
		case 1:
			g->event = f.v;
			break;
		case 2:
			g->duration = f.v;
			break;
		case 5:
			g->context = f.v;
			g->has_context = true;
			break;
		case 11:
			g->gpu = f.v;
			g->has_gpu = true;
			break;
		case 13:
			g->queue = f.v;
			break;
		case 14:
			g->stage = f.v;
			break;
		case 17:
			g->name = f.body;
			break;
		case 19:
			g->kernel = f.v;
			break;
		case 20:
			g->name_iid = f.v;
			break;
		case 21:
			g->launch = f.body;
			break;
		default:
			break;
		}
	}
	return c.failed ? fsc_pft_damaged(p, "a GPU render stage does not hold together") : FSC_OK;
}

/* Own name, then the kernel's as people write it, then its symbol, then the stage. */
static enum fsc_status find_name(uint32_t *text, struct pft *p, const struct stage *g,
				 const struct pft_entry *stage)
{
	const struct pft_entry *e = NULL;

	*text = 0;
	if (g->name.start)
		return fsc_pft_text(text, p, &g->name);
	if (g->name_iid)
		e = fsc_pft_entry(p, g->s, PFT_EVENT_NAMES, g->name_iid);
	if (e)
		*text = e->text;
	if (!*text && g->kernel)
		e = fsc_pft_entry(p, g->s, PFT_KERNELS, g->kernel);
	if (!*text && e)
		*text = e->text2 ? e->text2 : e->text;
	if (!*text && stage)
		*text = stage->text;
	return FSC_OK;
}

/* Categories as Kineto has them, so that a trace is the same by whichever way it came. */
static const char *category(const struct pft *p, const struct stage *g,
			    const struct pft_entry *stage)
{
	const char *name = stage ? text_of(p, stage->text) : "";

	if (!strncasecmp(name, "memcpy", 6))
		return "gpu_memcpy";
	if (!strncasecmp(name, "memset", 6))
		return "gpu_memset";
	if (g->kernel || (stage && stage->num == 2) || !strcasecmp(name, "kernel"))
		return "kernel";
	return "gpu_render_stage";
}

static void dims(struct pft *p, const char *key, struct fsc_cur c)
{
	uint64_t v[3] = { 1, 1, 1 };
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f))
		if (f.num >= 1 && f.num <= 3)
			v[f.num - 1] = f.v;
	fsc_pft_args_key(p, key, strlen(key));
	fsc_buf_addf(&p->args, "[%llu,%llu,%llu]", (unsigned long long)v[0],
		     (unsigned long long)v[1], (unsigned long long)v[2]);
}

/* extra_data: {name 1, value 2}. */
static void extra(struct pft *p, struct fsc_cur c)
{
	struct fsc_cur name = { 0 }, value = { 0 };
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f))
		if (f.wire == FSC_PB_BYTES && f.num <= 2)
			*(f.num == 1 ? &name : &value) = f.body;
	if (!name.start)
		return;
	fsc_pft_args_key(p, (const char *)name.p, fsc_cur_left(&name));
	fsc_json_copy_text(&p->args, value.start ? (const char *)value.p : "",
			   fsc_cur_left(&value));
}

static enum fsc_status find_args(uint32_t *record, struct pft *p, const struct stage *g)
{
	struct fsc_cur c = g->launch, whole = g->whole;
	struct fsc_pb_field f;

	fsc_pft_args_begin(p);
	while (fsc_pb_next(&c, &f))
		if (f.num == 3 && f.wire == FSC_PB_BYTES)
			fsc_pft_args_compute(p, g->s, f.body);
	for (c = g->launch; fsc_pb_next(&c, &f);)
		if ((f.num == 1 || f.num == 2) && f.wire == FSC_PB_BYTES)
			dims(p, f.num == 1 ? "grid" : "block", f.body);
	while (fsc_pb_next(&whole, &f))
		if (f.num == 6 && f.wire == FSC_PB_BYTES)
			extra(p, f.body);
	return fsc_pft_args_end(record, p);
}

/* "Stream #7": the number, when the args do not say it. */
static int32_t stream_of(const char *queue)
{
	const char *hash = strrchr(queue, '#');
	uint64_t v;

	return hash && fsc_parse_u64(&v, hash + 1, strlen(hash + 1)) && v < INT32_MAX
		       ? (int32_t)v
		       : FSC_NO_ORDINAL;
}

static enum fsc_status find_track(uint32_t *track, struct pft *p, const struct stage *g,
				  struct fsc_gpu_args *a)
{
	const struct pft_entry *context =
		g->has_context ? fsc_pft_entry(p, g->s, PFT_CONTEXTS, g->context) : NULL;
	const struct pft_entry *queue =
		g->queue ? fsc_pft_entry(p, g->s, PFT_GPU_SPECS, g->queue) : NULL;
	struct fsc_build_id pid, tid;
	uint32_t ident, name = 0;

	if (a->device == FSC_NO_ORDINAL && g->has_gpu && g->gpu < INT32_MAX)
		a->device = (int32_t)g->gpu;
	if (a->stream == FSC_NO_ORDINAL && queue)
		a->stream = stream_of(text_of(p, queue->text));
	if (context && context->num)
		pid = fsc_pft_pid(p, (int32_t)context->num);
	else
		FSC_TRY(fsc_pft_text_id(&pid, p, "GPU"));
	if (queue)
		FSC_TRY(fsc_pft_name(&name, p, queue->text));
	tid = (struct fsc_build_id){ .is_text = true, .text = name };
	FSC_TRY(fsc_build_ident(&ident, p->b, pid, tid));
	if (name)
		fsc_build_name_ident(p->b, ident, name);
	return fsc_build_stream(track, p->b, ident, a->device, a->context, a->stream);
}

static enum fsc_status add_link(struct pft *p, uint64_t event, uint32_t slice, int64_t ts,
				enum pft_link_kind kind)
{
	struct pft_link l = { .event = event,
			      .at = p->base + p->at,
			      .slice = slice,
			      .ts = ts,
			      .kind = (uint8_t)kind };

	if (!event)
		return FSC_OK;
	if (p->links.n >= FSC_MAX_EVENTS)
		return FSC_ELIMIT;
	return fsc_vec_push(&p->links, l) ? FSC_OK : FSC_ENOMEM;
}

static enum fsc_status note_stage(struct pft *p, const struct stage *g, uint32_t slice)
{
	struct pft_gpu_slice at = { .event = g->event, .slice = slice };
	struct fsc_cur c = g->whole;
	struct fsc_pb_field f;

	if (g->event && !fsc_vec_push(&p->gpu_slices, at))
		return FSC_ENOMEM;
	while (fsc_pb_next(&c, &f)) {
		struct fsc_pb_numbers n = FSC_PB_NUMBERS(&f, FSC_PB_VARINT);
		uint64_t id;

		while (f.num == 18 && fsc_pb_number(&n, &id))
			FSC_TRY(add_link(p, id, slice, g->k->ns, PFT_WAITS));
	}
	return FSC_OK;
}

enum fsc_status fsc_pft_gpu_stage(struct pft *p, struct pft_seq *s, const struct pft_packet *k)
{
	struct stage g = { .s = s, .k = k, .whole = k->gpu_stage };
	struct fsc_build_slice slice = { .ts = k->ns };
	const struct pft_entry *stage;
	struct fsc_gpu_args a;
	enum fsc_cat_class cls;
	const char *cat, *name;
	uint32_t text, at;
	size_t n;

	FSC_TRY(parse(p, &g));
	stage = g.stage ? fsc_pft_entry(p, s, PFT_GPU_SPECS, g.stage) : NULL;
	FSC_TRY(find_name(&text, p, &g, stage));
	FSC_TRY(fsc_pft_name(&slice.name, p, text));
	cat = category(p, &g, stage);
	cls = fsc_classify_cat(cat, strlen(cat));
	FSC_TRY(fsc_build_cat(&slice.cat, p->b, cat, strlen(cat)));
	FSC_TRY(find_args(&slice.args, p, &g));
	FSC_TRY(fsc_gpu_args_read(&a, p->b, p->args.len ? p->args.data : "", p->args.len));
	FSC_TRY(find_track(&slice.track, p, &g, &a));
	name = fsc_strtab_get(fsc_build_trace(p->b)->strings, slice.name, &n);
	slice.dur = g.duration > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)g.duration;
	slice.correlation = a.correlation;
	slice.kind = (uint8_t)fsc_classify(cls == FSC_CAT_UNKNOWN ? FSC_CAT_DEVICE : cls, name, n);
	FSC_TRY(fsc_build_slice(&at, p->b, &slice));
	FSC_TRY(fsc_gpu_args_put(&a, p->b, at, slice.kind));
	return note_stage(p, &g, at);
}

/* ---- links ---- */

/* gpu_correlation of a track event: {submission ids 1, wait ids 2}. */
enum fsc_status fsc_pft_link(struct pft *p, struct fsc_cur c, uint32_t slice, int64_t ts)
{
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		struct fsc_pb_numbers n = FSC_PB_NUMBERS(&f, FSC_PB_VARINT);
		uint64_t id;

		while ((f.num == 1 || f.num == 2) && fsc_pb_number(&n, &id))
			FSC_TRY(add_link(p, id, slice, ts, f.num == 1 ? PFT_SUBMITS : PFT_WAITS));
	}
	return FSC_OK;
}

static int by_event(const void *a, const void *b)
{
	const struct pft_gpu_slice *x = a, *y = b;

	return x->event != y->event ? (x->event < y->event ? -1 : 1)
				    : (x->slice > y->slice) - (x->slice < y->slice);
}

static const struct pft_gpu_slice *find_event(const struct pft *p, uint64_t event)
{
	size_t lo = 0, hi = p->gpu_slices.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (p->gpu_slices.v[mid].event < event)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->gpu_slices.n && p->gpu_slices.v[lo].event == event ? &p->gpu_slices.v[lo]
									  : NULL;
}

/* Analyses find the launch of a kernel by their common correlation: the writer's, or else the number of the event. */
static void correlate(struct pft *p, uint32_t call, uint32_t work, uint64_t event)
{
	int64_t *c = fsc_build_trace(p->b)->slices.correlation;

	if (c[call] == FSC_NO_CORRELATION)
		c[call] = c[work] != FSC_NO_CORRELATION ? c[work] : (int64_t)event;
	if (c[work] == FSC_NO_CORRELATION)
		c[work] = c[call];
}

static enum fsc_status add_arrow(struct pft *p, uint64_t id, uint32_t from, uint32_t to,
				 const char *cat)
{
	const int64_t *ts = fsc_build_trace(p->b)->slices.ts;
	struct fsc_build_flow f = {
		.id = id, .ts = ts[from], .slice = from, .phase = FSC_FLOW_START
	};

	FSC_TRY(fsc_build_str(&f.cat, p->b, cat, strlen(cat)));
	f.name = f.cat;
	FSC_TRY(fsc_build_flow(p->b, &f));
	f.ts = ts[to];
	f.slice = to;
	f.phase = FSC_FLOW_END;
	return fsc_build_flow(p->b, &f);
}

enum fsc_status fsc_pft_finish_links(struct pft *p)
{
	uint64_t lost = 0, first = 0;

	if (p->gpu_slices.n)
		qsort(p->gpu_slices.v, p->gpu_slices.n, sizeof(*p->gpu_slices.v), by_event);
	for (size_t i = 0; i < p->links.n; i++) {
		const struct pft_link *l = &p->links.v[i];
		const struct pft_gpu_slice *work = find_event(p, l->event);

		if (!work) {
			first = lost++ ? first : l->at;
		} else if (l->kind == PFT_SUBMITS) {
			correlate(p, l->slice, work->slice, l->event);
			FSC_TRY(add_arrow(p, i, l->slice, work->slice, "ac2g"));
		} else {
			FSC_TRY(add_arrow(p, i, work->slice, l->slice, "gpu_wait"));
		}
	}
	fsc_build_loss_at(p->b, "gpu_event_missing", lost, (int64_t)first);
	return FSC_OK;
}

/* ---- counters ---- */

static const char *unit_name(uint64_t unit)
{
	static const struct {
		uint8_t unit;
		const char *name;
	} units[] = { { 1, "bit" },
		      { 7, "byte" },
		      { 13, "Hz" },
		      { 25, "s" },
		      { 29, "W" },
		      { 33, "\xC2\xB0"
			    "C" },
		      { 37, "%" } };

	for (size_t i = 0; i < FSC_ARRAY_LEN(units); i++)
		if (units[i].unit == unit)
			return units[i].name;
	return "";
}

/* GpuCounterDescriptor.specs: {counter_id 1, name 2, numerator_units 7}. */
enum fsc_status fsc_pft_counter_specs(struct pft *p, struct pft_seq *s, struct pft_entry *e,
				      struct fsc_cur c)
{
	struct fsc_pb_field f, g;

	while (fsc_pb_next(&c, &f)) {
		struct pft_counter_spec spec = { .id = 0 };
		const char *unit = "";

		if (f.num != 1 || f.wire != FSC_PB_BYTES)
			continue;
		while (fsc_pb_next(&f.body, &g)) {
			if (g.num == 1 && g.wire == FSC_PB_VARINT)
				spec.id = g.v;
			else if (g.num == 2 && g.wire == FSC_PB_BYTES)
				FSC_TRY(fsc_pft_text(&spec.name, p, &g.body));
			else if (g.num == 7)
				unit = unit_name(g.v);
		}
		FSC_TRY(fsc_strtab_put(&spec.unit, p->texts, unit, strlen(unit)));
		if (!fsc_vec_push(&s->specs, spec))
			return FSC_ENOMEM;
		e->n++;
	}
	return FSC_OK;
}

static enum fsc_status put_counter(struct pft *p, const struct pft_counter_spec *spec, uint64_t gpu,
				   int64_t ts, double v)
{
	uint32_t process, name, unit, track;
	struct fsc_build_id id;
	char text[32];

	snprintf(text, sizeof(text), "GPU %llu", (unsigned long long)gpu);
	FSC_TRY(fsc_pft_text_id(&id, p, text));
	FSC_TRY(fsc_build_process(&process, p->b, id));
	FSC_TRY(fsc_pft_name(&name, p, spec->name));
	FSC_TRY(fsc_pft_name(&unit, p, spec->unit));
	FSC_TRY(fsc_build_counter_track(&track, p->b, process, name, unit,
					gpu < INT32_MAX ? (int32_t)gpu : FSC_NO_ORDINAL));
	return fsc_build_counter(p->b, track, ts, v);
}

/* A descriptor that stands in the packet is kept as if it had been interned, one for each GPU. */
static enum fsc_status keep_descriptor(struct pft *p, struct pft_seq *s, uint64_t key,
				       struct fsc_cur c)
{
	struct pft_entry e = { .first = (uint32_t)s->specs.n };

	if (fsc_map_get(&s->dict, key, PFT_COUNTER_DESCRIPTORS) != FSC_MAP_NONE)
		return FSC_OK;
	FSC_TRY(fsc_pft_counter_specs(p, s, &e, c));
	return fsc_vec_push(&s->entries, e) && fsc_map_put(&s->dict, key, PFT_COUNTER_DESCRIPTORS,
							   (uint32_t)s->entries.n - 1)
		       ? FSC_OK
		       : FSC_ENOMEM;
}

static enum fsc_status one_counter(struct pft *p, struct pft_seq *s, const struct pft_entry *e,
				   uint64_t gpu, struct fsc_cur c, int64_t ts)
{
	struct fsc_pb_field f;
	uint64_t id = 0;
	double v = 0;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == 1)
			id = f.v;
		else if (f.num == 2)
			v = (double)fsc_pb_int(&f);
		else if (f.num == 3)
			v = fsc_pb_double(&f);
	}
	for (uint32_t i = 0; e && i < e->n; i++)
		if (s->specs.v[e->first + i].id == id)
			return put_counter(p, &s->specs.v[e->first + i], gpu, ts, v);
	fsc_pft_note(p, &p->n.counters_without_track, 1);
	return FSC_OK;
}

enum fsc_status fsc_pft_gpu_counter(struct pft *p, struct pft_seq *s, const struct pft_packet *k)
{
	struct fsc_cur c = k->gpu_counter, inlined = { 0 };
	const struct pft_entry *e;
	struct fsc_pb_field f;
	uint64_t gpu = 0, iid = 0;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == 1 && f.wire == FSC_PB_BYTES)
			inlined = f.body;
		else if (f.num == 3 && f.wire == FSC_PB_VARINT)
			gpu = f.v;
		else if (f.num == 4 && f.wire == FSC_PB_VARINT)
			iid = f.v;
	}
	if (c.failed)
		return fsc_pft_damaged(p, "a GPU counter event does not hold together");
	if (!iid)
		iid = UINT64_MAX - gpu;
	if (inlined.start)
		FSC_TRY(keep_descriptor(p, s, iid, inlined));
	e = fsc_pft_entry(p, s, PFT_COUNTER_DESCRIPTORS, iid);
	if (e && e->num)
		gpu = e->num;
	for (c = k->gpu_counter; fsc_pb_next(&c, &f);)
		if (f.num == 2 && f.wire == FSC_PB_BYTES)
			FSC_TRY(one_counter(p, s, e, gpu, f.body, k->ns));
	return FSC_OK;
}

/* ---- inventory ---- */

/* GpuInfo.gpus: {name 1, vendor 2, model 3, architecture 4, uuid 5, pci_bdf 7} into the metadata of the trace. */
void fsc_pft_gpu_info(struct pft *p, struct fsc_cur c)
{
	static const char *const keys[] = { NULL,	    "name", "vendor", "model",
					    "architecture", NULL,   NULL,     "pci" };
	struct fsc_pb_field f, g;

	while (fsc_pb_next(&c, &f)) {
		bool any = false;

		if (f.num != 1 || f.wire != FSC_PB_BYTES)
			continue;
		fsc_buf_adds(&p->gpus, p->gpus.len ? ",{" : "{");
		while (fsc_pb_next(&f.body, &g)) {
			if (g.wire != FSC_PB_BYTES || g.num >= FSC_ARRAY_LEN(keys) ||
			    (!keys[g.num] && g.num != 5))
				continue;
			fsc_buf_addf(&p->gpus, "%s\"%s\":", any ? "," : "",
				     g.num == 5 ? "uuid" : keys[g.num]);
			any = true;
			if (g.num != 5) {
				fsc_json_copy_text(&p->gpus, (const char *)g.body.p,
						   fsc_cur_left(&g.body));
				continue;
			}
			fsc_buf_addc(&p->gpus, '"');
			for (const uint8_t *b = g.body.p; b < g.body.end; b++)
				fsc_buf_addf(&p->gpus, "%02x", *b);
			fsc_buf_addc(&p->gpus, '"');
		}
		fsc_buf_addc(&p->gpus, '}');
	}
}
