/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of trace-event JSON: PyTorch/Kineto files ("kineto") and everything else of that format
 * ("chrome_json"), one reader because only their content tells them apart. Walks the top level; events are
 * scanned by chrome_event.c and emitted by fsc_chrome_emit.c. What is tolerated is listed in docs/losses.md.
 */
#include <inttypes.h>

#include "base/alloc.h"
#include "formats/chrome.h"
#include "formats/chrome_int.h"

static const char events_key[] = "\"traceEvents\"";

static int64_t offset_of(const struct chrome *c, const char *p)
{
	return (int64_t)fsc_jt_offset(&c->t, p);
}

/* For what the builder counts: the event it is given. */
static int64_t where(const void *ctx)
{
	const struct chrome *c = ctx;
	return c->at ? offset_of(c, c->at) : -1;
}

/* ---- errors ---- */

static enum fsc_status truncated(struct chrome *c)
{
	enum fsc_status st = fsc_err_set(
		c->err, FSC_ECORRUPT, "json_truncated",
		"line %" PRIu64 ": the file ends inside a JSON value: it was cut or is still "
		"being written; copy it again when the program that writes it has ended",
		fsc_jt_line(&c->t, c->t.end));
	fsc_err_at(c->err, NULL, (int64_t)fsc_jt_offset(&c->t, c->t.end));
	return st;
}

/* The item that failed at t.fail_at is broken for good. */
static enum fsc_status broken(struct chrome *c)
{
	struct fsc_jt *t = &c->t;
	enum fsc_status st;
	unsigned char ch = (unsigned char)*t->fail_at;
	uint64_t line = fsc_jt_line(t, t->fail_at);
	if (t->fail == FSC_JT_DEEP)
		st = fsc_err_set(c->err, FSC_ELIMIT, "json_too_deep",
				 "line %" PRIu64
				 ": JSON is nested deeper than %u brackets, which no "
				 "trace needs",
				 line, FSC_MAX_JSON_DEPTH);
	else if (ch > ' ' && ch < 0x7F)
		st = fsc_err_set(c->err, FSC_EPARSE, "json_syntax",
				 "line %" PRIu64
				 ": no JSON from here on, unexpected character '%c' "
				 "(perhaps a quote inside a text is not escaped)",
				 line, ch);
	else
		st = fsc_err_set(c->err, FSC_EPARSE, "json_syntax",
				 "line %" PRIu64 ": no JSON from here on, unexpected byte 0x%02X",
				 line, ch);
	fsc_err_at(c->err, NULL, (int64_t)fsc_jt_offset(t, t->fail_at));
	return st;
}

static enum fsc_status no_memory(struct chrome *c, enum fsc_status st)
{
	if (st == FSC_ELIMIT)
		st = fsc_err_set(c->err, st, "too_many_names",
				 "the file has more events, names or tracks than the limits allow");
	else if (st == FSC_ENOMEM)
		st = fsc_err_set(c->err, st, NULL, "no memory for the trace");
	return st;
}

/* ---- the window ---- */

enum fsc_status fsc_chrome_fill(struct chrome *c, const char **p)
{
	c->at = NULL; /* the window moves */
	enum fsc_status st = fsc_jt_fill(&c->t, p, c->err);
	uint64_t at = fsc_jt_offset(&c->t, c->t.end);
	if (st < 0 && c->err && c->err->offset < 0)
		fsc_err_at(c->err, NULL, (int64_t)fsc_jt_offset(&c->t, *p));
	if (c->sink->progress && at - c->bytes_reported >= FSC_MIB) {
		c->bytes_reported = at;
		c->sink->progress(c->sink->ctx, at, fsc_build_events(c->b));
	}
	return st;
}

/* Next character that is no white space, 0 at the end of the file. */
static enum fsc_status peek(struct chrome *c, const char **p, char *ch)
{
	for (;;) {
		*p = fsc_jt_ws(*p);
		if (FSC_LIKELY(*p < c->t.end)) {
			*ch = **p;
			return FSC_OK;
		}
		enum fsc_status st = fsc_chrome_fill(c, p);
		*ch = 0;
		if (st == FSC_END)
			return FSC_OK;
		if (st != FSC_OK)
			return st;
	}
}

/* ---- events ---- */

/* The fault is told unless there is a next event to go on with. */
static enum fsc_status skip_broken(struct chrome *c, const char **p)
{
	struct fsc_err fault = FSC_ERR_INIT, *caller = c->err;
	c->err = &fault;
	enum fsc_status st = broken(c);
	c->err = NULL;
	if (st == FSC_EPARSE && fsc_chrome_resync(c, p) == FSC_OK)
		st = FSC_OK;
	c->err = caller;
	if (st != FSC_OK && caller)
		*caller = fault;
	return st;
}

static fsc_noinline void keep_counts(struct chrome *c)
{
	c->kept.repairs = c->t.repairs;
	c->kept.n = c->n;
	c->kept.counted = c->t.counted;
}

static enum fsc_status one_event(struct chrome *c, const char **p)
{
	if (FSC_UNLIKELY(c->kept.counted != c->t.counted))
		keep_counts(c);
	for (;;) {
		const char *q = fsc_chrome_scan_event(c, *p);
		if (FSC_LIKELY(q != NULL)) {
			c->at = *p;
			enum fsc_status st = fsc_chrome_emit(c);
			*p = q;
			if (FSC_LIKELY(st == FSC_OK))
				return st;
			st = no_memory(c, st);
			fsc_err_at(c->err, NULL, (int64_t)fsc_jt_offset(&c->t, q));
			return st;
		}
		fsc_chrome_undo(c);
		enum fsc_status st;
		if (c->t.fail != FSC_JT_MORE)
			st = skip_broken(c, p);
		else
			st = fsc_chrome_fill(c, p);
		if (st == FSC_END)
			return truncated(c);
		if (st != FSC_OK)
			return st;
	}
}

/* An array item that is no object. */
static enum fsc_status plain_item(struct chrome *c, const char **p)
{
	struct fsc_jt_val v;
	for (;;) {
		const char *q = fsc_jt_value(&c->t, *p, &v, 1, NULL);
		if (q) {
			fsc_jt_note(&c->t, &c->plain_items, 1, *p);
			*p = q;
			return FSC_OK;
		}
		if (c->t.fail != FSC_JT_MORE)
			return broken(c);
		enum fsc_status st = fsc_chrome_fill(c, p);
		if (st != FSC_OK)
			return st == FSC_END ? truncated(c) : st;
	}
}

/* The items of traceEvents, or of a top-level array; p is behind the bracket. */
static enum fsc_status event_list(struct chrome *c, const char **p, bool top)
{
	bool want_comma = false;
	for (;;) {
		char ch;
		FSC_TRY(peek(c, p, &ch));
		switch (ch) {
		case '{':
			if (FSC_UNLIKELY(want_comma))
				fsc_jt_note(&c->t, &c->commas, 1, *p);
			FSC_TRY(one_event(c, p));
			want_comma = true;
			break;
		case ',':
			if (FSC_UNLIKELY(!want_comma))
				fsc_jt_note(&c->t, &c->commas, 1, *p);
			want_comma = false;
			++*p;
			break;
		case ']':
			if (!want_comma && c->events)
				fsc_jt_note(&c->t, &c->commas, 1, *p);
			++*p;
			return FSC_OK;
		case '\0':
			if (*p < c->t.end)
				return plain_item(c, p);
			if (!top)
				return truncated(c);
			/* Chrome writes arrays without the bracket; every importer takes them. */
			fsc_build_loss_at(c->b, "array_not_closed", 1, offset_of(c, *p));
			return FSC_END;
		default:
			if (want_comma)
				fsc_jt_note(&c->t, &c->commas, 1, *p);
			FSC_TRY(plain_item(c, p));
			want_comma = true;
		}
	}
}

/* ---- top-level members ---- */

/* Members that are read item by item. */
enum list { LIST_NONE, LIST_EVENTS, LIST_SAMPLES, LIST_FRAMES };

enum member_state {
	MEMBER_READ,
	MEMBER_SKIPPED, /* too big, counted */
	MEMBER_LOST, /* unreadable, counted; the position is at another member of the top level */
};

struct member {
	const char *key, *value; /* canonical, in c->args */
	size_t key_n, value_n, all_n;
	enum list list; /* the position is behind the bracket of this one */
	enum member_state state;
	bool full;
};

static bool key_is(const struct member *m, const char *quoted)
{
	return m->key_n == strlen(quoted) - 2 && !memcmp(m->key, quoted + 1, m->key_n);
}

static enum list list_of(const struct member *m, char bracket)
{
	if (bracket == '[')
		return key_is(m, events_key)	  ? LIST_EVENTS
		       : key_is(m, "\"samples\"") ? LIST_SAMPLES
						  : LIST_NONE;
	return bracket == '{' && key_is(m, "\"stackFrames\"") ? LIST_FRAMES : LIST_NONE;
}

/* One member: key, colon, value; canonical in c->args. At the top level it stops before lists, which are no value. */
static const char *scan_member(struct chrome *c, const char *p, struct member *m, bool top)
{
	struct fsc_jt *t = &c->t;
	struct fsc_jt_val key, v;
	struct fsc_jt_out o;
	fsc_jt_out_init(&o, c->args, CHROME_ARGS_CAP, p);
	if (*p != '"')
		return fsc_jt_failed(t, p);
	p = fsc_jt_string(t, p + 1, &key);
	if (!p)
		return NULL;
	if (key.flags)
		fsc_jt_out_string(t, &o, &key);
	fsc_jt_out_flush(&o, p);
	o.run = p;
	m->key = o.start + 1;
	m->key_n = o.full ? 0 : (size_t)(o.w - o.start) - 2;
	p = fsc_jt_ws_out(p, &o);
	if (*p != ':')
		return fsc_jt_failed(t, p);
	p = fsc_jt_ws_out(p + 1, &o);
	fsc_jt_out_flush(&o, p);
	o.run = p;
	m->value = o.w;
	if (p >= t->end)
		return fsc_jt_failed(t, p);
	m->list = top ? list_of(m, *p) : LIST_NONE;
	if (m->list != LIST_NONE)
		return p + 1;
	p = fsc_jt_value(t, p, &v, 1, &o);
	if (!p)
		return NULL;
	fsc_jt_out_flush(&o, p);
	m->full = o.full;
	m->value_n = (size_t)(o.w - m->value);
	m->all_n = (size_t)(o.w - o.start);
	return p;
}

/* For messages about files that are no timeline. */
static void note_key(struct chrome *c, const struct member *m)
{
	if (c->keys.len >= 160 || !m->key_n)
		return;
	fsc_buf_adds(&c->keys, c->keys.len ? ", " : "");
	fsc_buf_add(&c->keys, m->key, m->key_n < 40 ? m->key_n : 40);
}

/* Passes over a member that does not fit into the window, looking at brackets and strings only. */
static enum fsc_status skip_member(struct chrome *c, const char **p, const struct member *m)
{
	unsigned depth = 0;
	bool text = false, esc = false;
	fsc_build_loss_at(c->b, "meta_value_too_big", 1, offset_of(c, *p));
	fsc_err_clear(c->err);
	note_key(c, m);
	for (;; ++*p) {
		if (*p >= c->t.end) {
			enum fsc_status st = fsc_chrome_fill(c, p);
			if (st != FSC_OK)
				return st == FSC_END ? truncated(c) : st;
		}
		char ch = **p;
		if (text) {
			text = esc || ch != '"';
			esc = !esc && ch == '\\';
		} else if (ch == '"') {
			text = true;
		} else if (ch == '{' || ch == '[') {
			if (++depth + 1 > FSC_MAX_JSON_DEPTH) {
				c->t.fail = FSC_JT_DEEP;
				c->t.fail_at = *p;
				return broken(c);
			}
		} else if (depth == 0 && (ch == ',' || ch == '}')) {
			return FSC_OK;
		} else if (ch == '}' || ch == ']') {
			if (depth == 0) {
				fsc_jt_failed(&c->t, *p);
				return broken(c);
			}
			depth--;
		}
	}
}

/* Moves to the next `"traceEvents"`; FSC_END when there is none. */
static enum fsc_status find_events(struct chrome *c, const char **p)
{
	size_t n = sizeof(events_key) - 1;
	for (;;) {
		const char *q = memmem(*p, (size_t)(c->t.end - *p), events_key, n);
		if (q) {
			*p = q;
			return FSC_OK;
		}
		if ((size_t)(c->t.end - *p) >= n)
			*p = c->t.end - n + 1;
		enum fsc_status st = fsc_chrome_fill(c, p);
		if (st != FSC_OK)
			return st;
	}
}

/* Last character of the file that is no white space. */
static enum fsc_status last_char(struct chrome *c, const char **p, char *last)
{
	*last = 0;
	for (;;) {
		for (; *p < c->t.end; ++*p)
			if ((unsigned char)**p > ' ')
				*last = **p;
		enum fsc_status st = fsc_chrome_fill(c, p);
		if (st != FSC_OK)
			return st == FSC_END ? FSC_OK : st;
	}
}

/*
 * Metadata that is no JSON (profilers wrote unescaped quotes into INFO lists). Before the events: go on at
 * them. Behind them: the file counts as whole when it ends in a brace. Otherwise the fault stands.
 */
static enum fsc_status bad_metadata(struct chrome *c, const char **p)
{
	struct fsc_err fault = FSC_ERR_INIT, *caller = c->err;
	c->err = &fault;
	enum fsc_status st = broken(c), st2;
	char last = 0;
	c->err = caller;
	if (fault.status == FSC_ELIMIT) {
		st2 = FSC_END;
	} else if (c->saw_events_key) {
		st2 = last_char(c, p, &last);
	} else {
		++*p; /* not this member again */
		st2 = find_events(c, p);
	}
	if (st2 < 0)
		return st2;
	if (st2 == FSC_END || (c->saw_events_key && last != '}')) {
		if (c->err)
			*c->err = fault;
		return st;
	}
	fsc_build_loss_at(c->b, "metadata_unreadable", 1, fault.offset);
	return c->saw_events_key ? FSC_END : FSC_OK;
}

/* p is behind the member. */
static enum fsc_status keep_member(struct chrome *c, const struct member *m, const char *p)
{
	note_key(c, m);
	c->at = p - 1;
	if (m->full || c->meta.len + m->all_n + 2 > FSC_MAX_META_BYTES) {
		fsc_build_loss(c->b, "meta_value_too_big", 1);
		return FSC_OK;
	}
	fsc_buf_addc(&c->meta, c->meta.len ? ',' : '{');
	fsc_buf_add(&c->meta, c->args, m->all_n);
	enum fsc_status st = fsc_chrome_top_value(c, m->key, m->key_n, m->value, m->value_n);
	return st == FSC_OK ? st : no_memory(c, st);
}

/* The member at *p; FSC_END when the rest of the file is to be left alone. */
static enum fsc_status read_member(struct chrome *c, const char **p, struct member *m, bool top)
{
	struct fsc_jt_repairs repairs = c->t.repairs;
	*m = (struct member){ .state = MEMBER_READ };
	for (;;) {
		const char *q = scan_member(c, *p, m, top);
		if (q) {
			*p = q;
			return FSC_OK;
		}
		if (c->t.fail != FSC_JT_MORE) {
			m->state = MEMBER_LOST;
			c->lost_member = true;
			return bad_metadata(c, p);
		}
		c->t.repairs = repairs;
		enum fsc_status st = fsc_chrome_fill(c, p);
		if (st == FSC_END)
			return truncated(c);
		if (st == FSC_ELIMIT && (size_t)(c->t.end - *p) >= c->t.cap) {
			m->state = MEMBER_SKIPPED;
			return skip_member(c, p, m);
		}
		if (st != FSC_OK)
			return st;
	}
}

/* The members of stackFrames; *p is behind its brace. */
static enum fsc_status frame_list(struct chrome *c, const char **p)
{
	bool want_comma = false;
	for (;;) {
		struct member m;
		char ch;
		FSC_TRY(peek(c, p, &ch));
		if (ch == '}') {
			++*p;
			return FSC_OK;
		}
		if (ch == ',') {
			if (!want_comma)
				fsc_jt_note(&c->t, &c->commas, 1, *p);
			want_comma = false;
			++*p;
			continue;
		}
		if (ch == 0 && *p >= c->t.end)
			return truncated(c);
		if (want_comma)
			fsc_jt_note(&c->t, &c->commas, 1, *p);
		FSC_TRY(read_member(c, p, &m, false));
		c->at = *p - 1;
		if (m.state == MEMBER_LOST)
			return FSC_OK;
		if (m.state == MEMBER_READ && m.full)
			fsc_build_loss_at(c->b, "meta_value_too_big", 1, offset_of(c, *p - 1));
		else if (m.state == MEMBER_READ)
			FSC_TRY(fsc_chrome_frame(c, m.key, m.key_n, m.value, m.value_n));
		want_comma = true;
	}
}

/* One member; FSC_END when the rest of the file is to be left alone. */
static enum fsc_status one_member(struct chrome *c, const char **p)
{
	struct member m;
	enum fsc_status st;
	FSC_TRY(read_member(c, p, &m, true));
	if (m.state != MEMBER_READ)
		return FSC_OK;
	switch (m.list) {
	case LIST_EVENTS:
		if (c->saw_events_key)
			fsc_jt_note(&c->t, &c->n.duplicates, 1, *p - 1);
		c->saw_events_key = true;
		return event_list(c, p, false);
	case LIST_SAMPLES:
		note_key(c, &m);
		c->in_samples = true;
		st = event_list(c, p, false);
		c->in_samples = false;
		return st;
	case LIST_FRAMES:
		note_key(c, &m);
		return frame_list(c, p);
	case LIST_NONE:
		break;
	}
	return keep_member(c, &m, *p);
}

static enum fsc_status object(struct chrome *c, const char **p)
{
	bool want_comma = false;
	for (;;) {
		char ch;
		FSC_TRY(peek(c, p, &ch));
		if (ch == '}') {
			++*p;
			return FSC_OK;
		}
		if (ch == ',') {
			if (!want_comma)
				fsc_jt_note(&c->t, &c->commas, 1, p[0]);
			want_comma = false;
			++*p;
			continue;
		}
		if (ch == 0 && *p >= c->t.end)
			return truncated(c);
		uint64_t at = fsc_jt_offset(&c->t, *p);
		c->lost_member = false;
		enum fsc_status st = one_member(c, p);
		if (st != FSC_OK)
			return st == FSC_END ? FSC_OK : st;
		/* What is missing around text that is no JSON is part of that fault. */
		if (want_comma && !c->lost_member)
			fsc_jt_note_at(&c->t, &c->commas, 1, at);
		want_comma = !c->lost_member;
	}
}

/* ---- the file ---- */

static enum fsc_status trailing(struct chrome *c, const char **p)
{
	char ch;
	FSC_TRY(peek(c, p, &ch));
	if (*p < c->t.end)
		fsc_build_loss_at(c->b, "trailing_data", 1, offset_of(c, *p));
	return FSC_OK;
}

static enum fsc_status walk(struct chrome *c)
{
	const char *p = c->t.end;
	char ch;
	enum fsc_status st;
	FSC_TRY(peek(c, &p, &ch));
	if (c->t.end - p >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3)) {
		p += 3;
		FSC_TRY(peek(c, &p, &ch));
	}
	if (ch != '{' && ch != '[') {
		if (ch == 0 && p >= c->t.end)
			return fsc_err_set(c->err, FSC_EUNSUPPORTED, "empty_file",
					   "the file is empty");
		fsc_jt_failed(&c->t, p);
		return broken(c);
	}
	p++;
	c->saw_array = ch == '[';
	st = c->saw_array ? event_list(c, &p, true) : object(c, &p);
	if (st == FSC_END)
		return FSC_OK;
	return st == FSC_OK ? trailing(c, &p) : st;
}

static bool has_key(const struct chrome *c, const char *key)
{
	return c->keys.data && strstr(c->keys.data, key) != NULL;
}

/* What a well-formed file without events seems to be. */
static enum fsc_status not_a_timeline(struct chrome *c)
{
	const char *guess = NULL;
	if (c->saw_events_key && !c->plain_items.n && !fsc_build_events(c->b))
		guess = "its traceEvents is empty";
	else if (c->saw_events_key || (c->saw_array && fsc_build_events(c->b)))
		guess = "its items have no \"ph\", so they are no trace events";
	else if (c->saw_array && c->plain_items.n)
		guess = "a JSON list of lists or values, such as PyTorch's raw memory timeline";
	else if (c->saw_array)
		guess = "an empty JSON list";
	else if (has_key(c, "ph") && has_key(c, "pid"))
		guess = "it is one event, or one on each line: put them into a list, [ ... ], with "
			"commas between them";
	else if (has_key(c, "rocprofiler-sdk-tool"))
		guess = "rocprofiler-sdk output, not a trace-event file";
	else if (has_key(c, "nodes") && has_key(c, "schema"))
		guess = "a PyTorch execution trace (operators without times)";
	else if (has_key(c, "resourceSpans"))
		guess = "OpenTelemetry spans";
	else if (has_key(c, "threads") && has_key(c, "meta"))
		guess = "a Firefox profile";
	if (guess)
		return fsc_err_set(c->err, FSC_EUNSUPPORTED, "not_a_timeline",
				   "JSON without a timeline: %s", guess);
	return fsc_err_set(c->err, FSC_EUNSUPPORTED, "not_a_timeline",
			   "JSON without a timeline: no traceEvents, its keys are %s",
			   c->keys.len ? c->keys.data : "none");
}

static enum fsc_status deliver(struct chrome *c)
{
	struct fsc_trace *t = fsc_build_trace(c->b);
	enum fsc_status st;
	if (!c->events)
		return not_a_timeline(c);
	st = fsc_chrome_stacks_resolve(c);
	if (st == FSC_OK)
		st = fsc_chrome_xla_finish(c);
	if (st != FSC_OK)
		return no_memory(c, st);
	fsc_chrome_name_losses(c);
	const char *format = c->kineto ? "kineto" : "chrome_json";
	st = fsc_build_str(&t->meta.format, c->b, format, strlen(format));
	fsc_buf_adds(&c->meta, c->meta.len ? "}" : "{}");
	if (st == FSC_OK)
		st = fsc_buf_status(&c->meta);
	if (st == FSC_OK)
		st = fsc_build_str(&t->meta.json, c->b, c->meta.data, c->meta.len);
	if (st != FSC_OK)
		return no_memory(c, st);
	/* The window is not needed to order the trace. */
	fsc_jt_fini(&c->t);
	FSC_TRY(fsc_build_finish(&t, c->b, c->err));
	return c->sink->trace(c->sink->ctx, t, c->err);
}

enum fsc_status fsc_chrome_read_with(struct fsc_source *src, const struct fsc_reader_sink *sink,
				     const struct fsc_chrome_options *opt, struct fsc_err *err)
{
	enum fsc_status st = FSC_ENOMEM;
	struct chrome *c = fsc_alloc(1, sizeof(*c));
	if (!c)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the reader");
	c->sink = sink;
	c->err = err;
	fsc_buf_init(&c->meta, FSC_MAX_META_BYTES + 16);
	fsc_buf_init(&c->keys, 512);
	c->args = fsc_realloc(NULL, CHROME_ARGS_CAP, 1);
	c->b = fsc_build_new();
	if (c->b)
		fsc_build_where(c->b, where, c);
	if (!fsc_jt_init(&c->t, src, opt->window) || !c->args || !c->b) {
		st = no_memory(c, FSC_ENOMEM);
		goto out;
	}
	if (opt->chunk)
		c->t.chunk = opt->chunk;
	if (opt->scan)
		c->t.scan = opt->scan;
	st = walk(c);
	if (st == FSC_OK)
		st = deliver(c);
out:
	fsc_build_free(c->b);
	fsc_jt_fini(&c->t);
	fsc_buf_fini(&c->meta);
	fsc_buf_fini(&c->keys);
	fsc_vec_fini(&c->memories);
	fsc_chrome_stacks_fini(c);
	fsc_chrome_xla_fini(c);
	fsc_free(c->kinds);
	fsc_free(c->args);
	fsc_free(c);
	return st;
}

enum fsc_status fsc_chrome_read(struct fsc_source *src, const struct fsc_reader_sink *sink,
				struct fsc_err *err)
{
	const struct fsc_chrome_options none = { .window = 0 };
	return fsc_chrome_read_with(src, sink, &none, err);
}

int fsc_chrome_sniff(const uint8_t *head, size_t n)
{
	const char *p = (const char *)head;
	size_t i = n >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3) ? 3 : 0;
	while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t'))
		i++;
	if (i == n || (p[i] != '{' && p[i] != '['))
		return 0;
	if (memmem(p, n, events_key, sizeof(events_key) - 1) || memmem(p, n, "\"ph\"", 4) ||
	    memmem(p, n, "\"schemaVersion\"", 15))
		return 90;
	return 50;
}
