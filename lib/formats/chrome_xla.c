/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The `*.trace.json.gz` of JAX and TensorFlow: an XPlane file as trace events without categories. What its processes
 * and threads are is told by their names, which come first: "/device:GPU:0", "Stream #13(Compute)", "XLA Ops". The same
 * rules as in xplane_plane.c; a file without such a process is not touched.
 */
#include "base/json_scan.h"
#include "base/num.h"
#include "formats/chrome_int.h"

#define MAX_DEVICES 1024u

static const char device_mark[] = "/device:", stream_mark[] = "Stream #";

static const char *text_of(const struct chrome *c, uint32_t id, size_t *n)
{
	return fsc_strtab_get(fsc_build_trace(c->b)->strings, id, n);
}

static bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* ---- names ---- */

static struct chrome_xla_device *device_of(struct chrome *c, uint32_t process)
{
	for (size_t i = 0; i < c->xla.devices.n; i++)
		if (c->xla.devices.v[i].process == process)
			return &c->xla.devices.v[i];
	return NULL;
}

static struct chrome_xla_line *line_of(struct chrome *c, uint32_t ident)
{
	struct chrome_xla *x = &c->xla;

	if (x->last < x->lines.n && x->lines.v[x->last].ident == ident)
		return &x->lines.v[x->last];
	for (size_t i = 0; i < x->lines.n; i++)
		if (x->lines.v[i].ident == ident) {
			x->last = i;
			return &x->lines.v[i];
		}
	return NULL;
}

/* Digits at s up to one of the characters in end; -1 when there are none. */
static int32_t number_at(const char *s, const char *end)
{
	size_t n = strspn(s, "0123456789");
	int64_t v;

	if (!n || (s[n] && !strchr(end, s[n])) || !fsc_parse_i64(&v, s, n) || v > INT32_MAX)
		return -1;
	return (int32_t)v;
}

/* Streams may be named before their process. */
static void look_for_streams(struct chrome *c, struct chrome_xla_device *d)
{
	for (size_t i = 0; i < c->xla.lines.n; i++)
		if (c->xla.lines.v[i].process == d->process && c->xla.lines.v[i].stream >= 0)
			d->has_streams = true;
}

enum fsc_status fsc_chrome_xla_process(struct chrome *c, uint32_t process, uint32_t name)
{
	struct chrome_xla_device d = { .process = process, .ordinal = FSC_NO_ORDINAL };
	const char *s = text_of(c, name, NULL), *colon;

	if (!starts(s, device_mark) || device_of(c, process) || c->xla.devices.n >= MAX_DEVICES)
		return FSC_OK;
	colon = strchr(s + strlen(device_mark), ':');
	if (colon && number_at(colon + 1, " (") >= 0)
		d.ordinal = number_at(colon + 1, " (");
	look_for_streams(c, &d);
	return fsc_vec_push(&c->xla.devices, d) ? FSC_OK : FSC_ENOMEM;
}

enum fsc_status fsc_chrome_xla_thread(struct chrome *c, uint32_t ident, uint32_t name)
{
	struct chrome_xla_line l = { .ident = ident, .stream = -1 };
	struct chrome_xla_device *d;
	const char *s = text_of(c, name, NULL);

	if (starts(s, stream_mark))
		l.stream = number_at(s + strlen(stream_mark), "(");
	l.is_ops = !strcmp(s, "XLA Ops") || !strcmp(s, "Sparse Core Ops");
	if ((l.stream < 0 && !l.is_ops) || line_of(c, ident) || c->xla.lines.n >= CHROME_XLA_LINES)
		return FSC_OK;
	l.process = fsc_build_ident_process(c->b, ident);
	d = device_of(c, l.process);
	if (d)
		d->has_streams |= l.stream >= 0;
	return fsc_vec_push(&c->xla.lines, l) ? FSC_OK : FSC_ENOMEM;
}

/* ---- slices ---- */

/* A text or number of the event's args. */
static struct fsc_cur arg(const struct chrome *c, const char *key)
{
	struct fsc_json_member m;
	bool quoted;

	if (!c->args_n || !fsc_json_find(&m, c->args, c->args_n, key) ||
	    (m.type != FSC_JSON_STRING && m.type != FSC_JSON_NUMBER))
		return fsc_cur_of("", 0);
	quoted = m.type == FSC_JSON_STRING;
	return fsc_cur_of(m.value + quoted, m.value_len - 2 * (size_t)quoted);
}

static int64_t correlation_of(const struct chrome *c)
{
	struct fsc_cur v = arg(c, "correlation_id");
	int64_t n;

	return fsc_parse_i64(&n, (const char *)v.p, fsc_cur_left(&v)) ? n : FSC_NO_CORRELATION;
}

static enum fsc_status set_kind(struct chrome *c, struct fsc_build_slice *s, enum fsc_kind kind,
				const char *cat)
{
	s->kind = (uint8_t)kind;
	return fsc_build_cat(&s->cat, c->b, cat, strlen(cat));
}

static enum fsc_status work(struct chrome *c, uint32_t ident, const struct chrome_xla_device *d,
			    const struct chrome_xla_line *l, struct fsc_build_slice *s)
{
	struct fsc_cur category = arg(c, "hlo_category");
	size_t n = 0;
	const char *name = text_of(c, s->name, &n);
	enum fsc_kind kind = fsc_classify(FSC_CAT_KERNEL, name, n);
	int64_t tid = -1;

	if (fsc_cur_left(&category) && fsc_classify(FSC_CAT_KERNEL, (const char *)category.p,
						    fsc_cur_left(&category)) == FSC_KIND_COMM)
		kind = FSC_KIND_COMM;
	FSC_TRY(set_kind(c, s, kind,
			 kind == FSC_KIND_MEMCPY   ? "gpu_memcpy"
			 : kind == FSC_KIND_MEMSET ? "gpu_memset"
						   : "kernel"));
	if (l->stream < 0 && (!fsc_chrome_i64(&tid, &c->f[F_TID]) || tid < 0 || tid > INT32_MAX))
		tid = -1;
	return fsc_build_stream(&s->track, c->b, ident, d->ordinal, FSC_NO_ORDINAL,
				l->stream >= 0 ? l->stream
				: tid >= 0     ? (int32_t)tid
					       : FSC_NO_ORDINAL);
}

/* Other rows of a device repeat its work. Their stream gives them the device, and is not used. */
static enum fsc_status annotation(struct chrome *c, uint32_t ident,
				  const struct chrome_xla_device *d, struct fsc_build_slice *s)
{
	FSC_TRY(set_kind(c, s, FSC_KIND_GPU_ANNOTATION, "gpu_user_annotation"));
	FSC_TRY(fsc_build_stream(&s->track, c->b, ident, d->ordinal, FSC_NO_ORDINAL,
				 FSC_NO_ORDINAL));
	return fsc_build_annotation(&s->track, c->b, ident, 0);
}

enum fsc_status fsc_chrome_xla_slice(struct chrome *c, uint32_t ident, struct fsc_build_slice *s)
{
	const struct chrome_xla_device *d = device_of(c, fsc_build_ident_process(c->b, ident));
	const struct chrome_xla_line *l = d ? line_of(c, ident) : NULL;
	size_t n = 0;
	const char *name;

	if (s->correlation == FSC_NO_CORRELATION)
		s->correlation = correlation_of(c);
	if (d && l && (l->stream >= 0 || !d->has_streams))
		return work(c, ident, d, l, s);
	if (d)
		return annotation(c, ident, d, s);
	/* only calls of the driver have a number on the host */
	if (s->correlation == FSC_NO_CORRELATION)
		return FSC_OK;
	name = text_of(c, s->name, &n);
	return set_kind(c, s, fsc_classify(FSC_CAT_RUNTIME, name, n), "cuda_runtime");
}

enum fsc_status fsc_chrome_xla_rows(struct chrome *c, uint32_t ident, uint32_t slice,
				    const struct fsc_build_slice *s)
{
	struct fsc_launch_side side = { .correlation = s->correlation,
					.ts = s->ts,
					.slice = slice };
	struct fsc_cur kernel = arg(c, "kernel_details"), bytes = arg(c, "memcpy_details");
	struct fsc_launch l;

	if (!fsc_cur_left(&bytes))
		bytes = arg(c, "Memset_details");
	if (fsc_kind_is_gpu_work(s->kind) && (fsc_cur_left(&kernel) || fsc_cur_left(&bytes))) {
		fsc_launch_details(&l, kernel, bytes);
		l.slice = slice;
		FSC_TRY(fsc_build_launch(c->b, &l));
	}
	if (s->correlation == FSC_NO_CORRELATION)
		return FSC_OK;
	if (fsc_kind_is_gpu_work(s->kind))
		return fsc_launch_pairs_work(&c->xla.pairs, side);
	return device_of(c, fsc_build_ident_process(c->b, ident))
		       ? FSC_OK
		       : fsc_launch_pairs_call(&c->xla.pairs, side);
}

enum fsc_status fsc_chrome_xla_finish(struct chrome *c)
{
	if (!c->xla.devices.n)
		return FSC_OK;
	FSC_TRY(fsc_launch_pairs_bind(&c->xla.pairs, c->b, &c->xla.unmatched));
	fsc_build_loss_at(c->b, "launch_without_call", c->xla.unmatched, -1);
	return FSC_OK;
}

void fsc_chrome_xla_fini(struct chrome *c)
{
	fsc_vec_fini(&c->xla.devices);
	fsc_vec_fini(&c->xla.lines);
	fsc_launch_pairs_fini(&c->xla.pairs);
}
