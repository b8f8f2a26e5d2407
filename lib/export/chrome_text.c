/* SPDX-License-Identifier: Apache-2.0 */
/* Values, names and the head of the Chrome JSON export. */
#include <string.h>

#include "base/json_out.h"
#include "base/json_scan.h"
#include "base/num.h"
#include "export/chrome_internal.h"

void fsc_cj_string(struct fsc_buf *b, const char *s, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	size_t done = 0;

	fsc_buf_addc(b, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		fsc_buf_add(b, s + done, i - done);
		done = i + 1;
		if (c >= 0x20) {
			fsc_buf_addc(b, '\\');
			fsc_buf_addc(b, (char)c);
		} else {
			fsc_buf_adds(b, "\\u00");
			fsc_buf_addc(b, hex[c >> 4]);
			fsc_buf_addc(b, hex[c & 15]);
		}
	}
	fsc_buf_add(b, s + done, n - done);
	fsc_buf_addc(b, '"');
}

void fsc_cj_us(struct fsc_buf *b, int64_t ns)
{
	char text[24];
	uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, part = v % 1000;
	size_t n = 0;

	if (ns < 0)
		text[n++] = '-';
	n += fsc_fmt_u64(text + n, v / 1000);
	fsc_buf_add(b, text, n);
	text[0] = '.';
	text[1] = (char)('0' + part / 100);
	text[2] = (char)('0' + part / 10 % 10);
	text[3] = (char)('0' + part % 10);
	fsc_buf_add(b, text, 4);
}

void fsc_cj_event(struct cj *x, struct fsc_buf *b, char ph)
{
	fsc_buf_adds(b, x->any_event ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	fsc_buf_addc(b, ph);
	fsc_buf_addc(b, '"');
	x->any_event = true;
}

void fsc_cj_seg_string(const struct cj *x, struct fsc_buf *b, const char *key, uint32_t id)
{
	size_t n;
	const char *s = fsc_seg_str(x->seg, id, &n);

	fsc_buf_adds(b, key);
	fsc_cj_string(b, s, n);
}

/* An empty text and the number -1 are the same in a segment. Profilers write the number; when two processes are so,
 * the second one gets the text, so that they stay two. */
static bool second_nameless(const struct cj *x, uint32_t process)
{
	const struct fsc_seg_process *p = fsc_seg_process(x->seg, process);

	if (p->pid_text || p->pid != -1)
		return false;
	while (process-- > 0) {
		p = fsc_seg_process(x->seg, process);
		if (!p->pid_text && p->pid == -1)
			return true;
	}
	return false;
}

static void put_id(const struct cj *x, struct fsc_buf *b, int64_t num, uint32_t text, bool empty)
{
	if (text || empty)
		fsc_cj_seg_string(x, b, "", text);
	else
		fsc_buf_addi(b, num);
}

void fsc_cj_pid(const struct cj *x, struct fsc_buf *b, uint32_t process)
{
	const struct fsc_seg_process *p = fsc_seg_process(x->seg, process);

	fsc_buf_adds(b, ",\"pid\":");
	put_id(x, b, p->pid, p->pid_text, second_nameless(x, process));
}

void fsc_cj_who(const struct cj *x, struct fsc_buf *b, uint32_t track)
{
	const struct fsc_seg_track *t = fsc_seg_track(x->seg, track);

	fsc_cj_pid(x, b, t->process);
	if (t->kind == FSC_TRACK_ASYNC || t->kind == FSC_TRACK_COUNTER)
		return;
	fsc_buf_adds(b, ",\"tid\":");
	put_id(x, b, t->tid, t->tid_text, false);
}

/* ---- head ---- */

static bool is_own_key(const struct fsc_json_member *m)
{
	static const char *const own[] = { "schemaVersion", "baseTimeNanoseconds", "traceEvents",
					   "fleetscope" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(own); i++)
		if (m->key_len == strlen(own[i]) && !memcmp(m->key, own[i], m->key_len))
			return true;
	return false;
}

static void marker_text(const struct cj *x, struct fsc_buf *b, const char *key, uint32_t id)
{
	if (id)
		fsc_cj_seg_string(x, b, key, id);
}

static void marker(struct cj *x, struct fsc_buf *b)
{
	fsc_buf_adds(b, ",\n\"fleetscope\":{\"exporter\":\"chrome\",\"version\":1");
	marker_text(x, b, ",\"trace\":", x->info->name);
	marker_text(x, b, ",\"job\":", x->info->job);
	marker_text(x, b, ",\"host\":", x->info->host);
	marker_text(x, b, ",\"capture\":", x->info->capture);
	if (x->info->rank >= 0)
		fsc_buf_addf(b, ",\"rank\":%lld", (long long)x->info->rank);
	if (!x->all)
		fsc_buf_addf(b, ",\"t0_ns\":%lld,\"t1_ns\":%lld", (long long)x->t0,
			     (long long)x->t1);
	fsc_buf_addc(b, '}');
}

void fsc_cj_head(struct cj *x, struct fsc_buf *b)
{
	size_t n;
	const char *meta = fsc_seg_str(x->seg, x->info->meta_json, &n);
	struct fsc_json_scan s = fsc_json_scan_of(meta, n);
	struct fsc_json_member m;

	fsc_buf_addf(b, "{\"schemaVersion\":1,\n\"baseTimeNanoseconds\":%lld",
		     (long long)x->info->t_base_ns);
	while (n && fsc_json_scan_next(&s, &m)) {
		if (is_own_key(&m))
			continue;
		fsc_buf_adds(b, ",\n\"");
		fsc_buf_add(b, m.key, m.key_len);
		fsc_buf_adds(b, "\":");
		fsc_buf_add(b, m.value, m.value_len);
	}
	marker(x, b);
	fsc_buf_adds(b, ",\n\"traceEvents\":[");
}

/* ---- names ---- */

static void meta_text(struct cj *x, struct fsc_buf *b, const char *name, const char *key,
		      uint32_t text)
{
	if (!text)
		return;
	fsc_cj_event(x, b, 'M');
	fsc_buf_addf(b, ",\"name\":\"%s\"", name);
	fsc_buf_add(b, x->who.data, x->who.len);
	fsc_buf_addf(b, ",\"args\":{\"%s\":", key);
	fsc_cj_seg_string(x, b, "", text);
	fsc_buf_adds(b, "}}");
}

static void meta_sort(struct cj *x, struct fsc_buf *b, const char *name, int32_t index)
{
	if (!index)
		return;
	fsc_cj_event(x, b, 'M');
	fsc_buf_addf(b, ",\"name\":\"%s\"", name);
	fsc_buf_add(b, x->who.data, x->who.len);
	fsc_buf_addf(b, ",\"args\":{\"sort_index\":%d}}", index);
}

void fsc_cj_name_process(struct cj *x, struct fsc_buf *b, uint32_t process)
{
	const struct fsc_seg_process *p = fsc_seg_process(x->seg, process);

	fsc_buf_clear(&x->who);
	fsc_cj_pid(x, &x->who, process);
	meta_text(x, b, "process_name", "name", p->name);
	meta_text(x, b, "process_labels", "labels", p->labels);
	meta_sort(x, b, "process_sort_index", p->sort_index);
}

void fsc_cj_name_track(struct cj *x, struct fsc_buf *b, uint32_t track)
{
	const struct fsc_seg_track *t = fsc_seg_track(x->seg, track);

	if (t->kind == FSC_TRACK_ASYNC || t->kind == FSC_TRACK_COUNTER)
		return;
	fsc_buf_clear(&x->who);
	fsc_cj_who(x, &x->who, track);
	meta_text(x, b, "thread_name", "name", t->name);
	meta_sort(x, b, "thread_sort_index", t->sort_index);
}

/* ---- counters ---- */

bool fsc_cj_is_derived(const struct cj *x, const struct fsc_seg_track *t)
{
	const char *format = fsc_seg_str(x->seg, x->info->format, NULL);

	return t->unit && (!strcmp(format, "kineto") || !strcmp(format, "chrome_json"));
}

/* Could stand between quotes as it is: then it is the key's own text, which the track's name was made of. */
static bool is_escaped(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)s[i] < 0x20 || s[i] == '"')
			return false;
		if (s[i] != '\\')
			continue;
		if (++i == n || !strchr("\"\\/bfnrtu", s[i]))
			return false;
		for (int k = 0; s[i] == 'u' && k < 4; k++)
			if (i + 1 + (size_t)k >= n ||
			    !strchr("0123456789abcdefABCDEF", s[i + 1 + (size_t)k]))
				return false;
	}
	return true;
}

/* "queue length" is the event "queue" with the member "length": where the name is cut does not matter to a reader,
 * which joins the two again. */
void fsc_cj_sample(struct cj *x, struct fsc_buf *b, const struct fsc_counter_sample *c)
{
	const struct fsc_seg_track *t = fsc_seg_track(x->seg, x->track);
	struct fsc_json value;
	size_t n, cut;
	const char *name = fsc_seg_str(x->seg, t->name, &n);
	const char *space = memrchr(name, ' ', n);

	cut = space ? (size_t)(space - name) : n;
	fsc_cj_event(x, b, 'C');
	fsc_buf_adds(b, ",\"name\":");
	fsc_cj_string(b, name, cut);
	fsc_buf_add(b, x->who.data, x->who.len);
	fsc_buf_adds(b, ",\"ts\":");
	fsc_cj_us(b, c->ts);
	fsc_buf_adds(b, ",\"args\":{");
	if (!space) {
		fsc_buf_adds(b, "\"value\"");
	} else if (is_escaped(space + 1, n - cut - 1)) {
		fsc_buf_addc(b, '"');
		fsc_buf_add(b, space + 1, n - cut - 1);
		fsc_buf_addc(b, '"');
	} else {
		fsc_cj_string(b, space + 1, n - cut - 1);
	}
	fsc_buf_addc(b, ':');
	fsc_json_init(&value, b);
	fsc_json_double(&value, c->value);
	fsc_buf_adds(b, "}}");
}
