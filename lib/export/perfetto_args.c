/* SPDX-License-Identifier: Apache-2.0 */
/* One annotation per member of the args object. Numbers and strings become typed values; nested values travel
 * as raw JSON text, which Perfetto parses itself. */
#include "export/perfetto_args.h"

#include <string.h>

#include "base/json_scan.h"
#include "base/num.h"
#include "export/pb.h"

enum {
	ANN_NAME_IID = 1,
	ANN_BOOL = 2,
	ANN_INT = 4,
	ANN_DOUBLE = 5,
	ANN_STRING = 6,
	ANN_RAW_JSON = 9,
	ANN_NAME = 10,
	ANN_STRING_IID = 17,
	ARG_NAME_IID = 1,
	ARG_NAME = 2,
	ARG_INT = 3,
	ARG_DOUBLE = 5,
	ARG_STRING = 6,
};

/* Longer values are rarely repeated, so they are written where they stand. */
#define INTERN_VALUE_MAX 128

static bool is_integer(int64_t *v, const struct fsc_json_member *m)
{
	return m->type == FSC_JSON_NUMBER && fsc_parse_i64(v, m->value, m->value_len);
}

static bool is_key(const struct fsc_json_member *m, const char *key)
{
	return m->key_len == strlen(key) && !memcmp(m->key, key, m->key_len);
}

/* The text of a string or a key (its quotes are around s) with its escapes resolved; borrowed until the next call. */
static const char *plain(struct pf_seq *q, const char *s, size_t *n)
{
	if (!memchr(s, '\\', *n))
		return s;
	fsc_buf_clear(&q->text);
	fsc_json_unescape(&q->text, s - 1, *n + 2);
	if (fsc_buf_status(&q->text) != FSC_OK || !q->text.data)
		return s;
	*n = q->text.len;
	return q->text.data;
}

static void annotation_string(struct pf_seq *q, const struct fsc_json_member *m)
{
	size_t n = m->value_len - 2;
	const char *s = plain(q, m->value + 1, &n);
	uint64_t iid;

	iid = n <= INTERN_VALUE_MAX
		      ? fsc_pf_intern_text(q, PF_ANNOTATION_STRINGS, &q->seen_text, s, n)
		      : 0;
	if (iid)
		pb_uint(&q->body, ANN_STRING_IID, iid);
	else
		pb_bytes(&q->body, ANN_STRING, s, n);
}

static void annotation_value(struct pf_seq *q, const struct fsc_json_member *m)
{
	int64_t i;
	double d;

	if (m->type == FSC_JSON_STRING)
		annotation_string(q, m);
	else if (m->type == FSC_JSON_BOOL)
		pb_uint(&q->body, ANN_BOOL, m->value[0] == 't');
	else if (is_integer(&i, m))
		pb_int(&q->body, ANN_INT, i);
	else if (m->type == FSC_JSON_NUMBER && fsc_parse_double(&d, m->value, m->value_len))
		pb_double(&q->body, ANN_DOUBLE, d);
	else
		pb_bytes(&q->body, ANN_RAW_JSON, m->value, m->value_len);
}

void fsc_pf_annotations(struct pf_seq *q, uint32_t field, const char *json, size_t n)
{
	struct fsc_json_scan s = fsc_json_scan_of(json, n);
	struct fsc_json_member m;
	const char *key;
	size_t msg, key_len;
	uint64_t iid;

	while (fsc_json_scan_next(&s, &m)) {
		key_len = m.key_len;
		key = plain(q, m.key, &key_len);
		msg = pb_begin(&q->body, field);
		iid = fsc_pf_intern_text(q, PF_ANNOTATION_NAMES, &q->seen_key, key, key_len);
		if (iid)
			pb_uint(&q->body, ANN_NAME_IID, iid);
		else
			pb_bytes(&q->body, ANN_NAME, key, key_len);
		annotation_value(q, &m);
		pb_end(&q->body, msg);
	}
}

void fsc_pf_launch_args(struct pf_seq *q, uint32_t field, const char *json, size_t n,
			bool typed_size)
{
	struct fsc_json_scan s = fsc_json_scan_of(json, n);
	struct fsc_json_member m;
	uint64_t iid;
	const char *text;
	int64_t i;
	double d;
	size_t msg, text_len;

	while (fsc_json_scan_next(&s, &m)) {
		if (typed_size && (is_key(&m, "grid") || is_key(&m, "block")))
			continue;
		text_len = m.key_len;
		text = plain(q, m.key, &text_len);
		msg = pb_begin(&q->body, field);
		iid = fsc_pf_intern_text(q, PF_COMPUTE_ARG_NAMES, &q->seen_arg, text, text_len);
		if (iid)
			pb_uint(&q->body, ARG_NAME_IID, iid);
		else
			pb_bytes(&q->body, ARG_NAME, text, text_len);
		if (is_integer(&i, &m))
			pb_int(&q->body, ARG_INT, i);
		else if (m.type == FSC_JSON_NUMBER && fsc_parse_double(&d, m.value, m.value_len))
			pb_double(&q->body, ARG_DOUBLE, d);
		else if (m.type == FSC_JSON_STRING) {
			text_len = m.value_len - 2;
			text = plain(q, m.value + 1, &text_len);
			pb_bytes(&q->body, ARG_STRING, text, text_len);
		} else
			pb_bytes(&q->body, ARG_STRING, m.value, m.value_len);
		pb_end(&q->body, msg);
	}
}
