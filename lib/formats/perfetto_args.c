/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations to canonical JSON args (debug_annotation.proto). Whatever cannot be a JSON value becomes a text. */
#include <math.h>
#include <string.h>

#include "base/json_copy.h"
#include "base/json_out.h"
#include "formats/perfetto_int.h"

#define DEPTH_MAX 32

void fsc_pft_args_begin(struct pft *p)
{
	fsc_buf_clear(&p->args);
	p->args_open = false;
}

void fsc_pft_args_key(struct pft *p, const char *key, size_t n)
{
	fsc_buf_addc(&p->args, p->args_open ? ',' : '{');
	fsc_json_copy_text(&p->args, key, n);
	fsc_buf_addc(&p->args, ':');
	p->args_open = true;
}

enum fsc_status fsc_pft_args_end(uint32_t *record, struct pft *p)
{
	*record = FSC_NO_ARGS;
	if (!p->args_open)
		return FSC_OK;
	fsc_buf_addc(&p->args, '}');
	if (fsc_buf_status(&p->args) == FSC_ELIMIT) {
		fsc_pft_note(p, &p->n.args_too_big, 1);
		fsc_pft_args_begin(p);
		return FSC_OK;
	}
	FSC_TRY(fsc_buf_status(&p->args));
	return fsc_build_args(record, p->b, p->args.data, p->args.len);
}

/* ---- values ---- */

static void put_double(struct pft *p, double v)
{
	struct fsc_json j;

	if (!isfinite(v))
		fsc_pft_note(p, &p->n.nonfinite, 1);
	fsc_json_init(&j, &p->args);
	fsc_json_double(&j, v);
}

static void put_cursor(struct pft *p, const struct fsc_cur *c)
{
	fsc_json_copy_text(&p->args, (const char *)c->p, fsc_cur_left(c));
}

static void put_text(struct pft *p, uint32_t text)
{
	size_t n;
	const char *s = fsc_strtab_get(p->texts, text, &n);

	fsc_json_copy_text(&p->args, s, n);
}

static void put_entry(struct pft *p, struct pft_seq *s, enum pft_dict dict, uint64_t iid)
{
	const struct pft_entry *e = fsc_pft_entry(p, s, dict, iid);

	if (e)
		put_text(p, e->text);
	else
		fsc_buf_adds(&p->args, "null");
}

/* DebugAnnotation.NestedValue, as Chrome wrote it before dict_entries and array_values. */
static void nested(struct pft *p, struct fsc_cur c, int depth)
{
	struct fsc_cur keys = c, values = c;
	struct fsc_pb_field f, key;
	bool list = false, dict = false, any = false;
	const struct fsc_cur whole = c;

	if (depth > DEPTH_MAX) {
		fsc_pft_note(p, &p->n.deep, 1);
		fsc_buf_adds(&p->args, "null");
		return;
	}
	while (fsc_pb_next(&c, &f)) {
		dict |= (f.num == 1 && f.v == 1) || f.num == 3;
		list |= (f.num == 1 && f.v == 2) || f.num == 4;
	}
	if (dict || list) {
		fsc_buf_addc(&p->args, dict ? '{' : '[');
		while (fsc_pb_next(&values, &f)) {
			if (f.num != (dict ? 3u : 4u) || f.wire != FSC_PB_BYTES)
				continue;
			fsc_buf_adds(&p->args, any ? "," : "");
			any = true;
			while (dict && fsc_pb_next(&keys, &key))
				if (key.num == 2 && key.wire == FSC_PB_BYTES)
					break;
			if (dict) {
				put_cursor(p, keys.failed ? &whole : &key.body);
				fsc_buf_addc(&p->args, ':');
			}
			nested(p, f.body, depth + 1);
		}
		fsc_buf_addc(&p->args, dict ? '}' : ']');
		return;
	}
	for (c = whole; fsc_pb_next(&c, &f);) {
		if (f.num < 5 || f.num > 8)
			continue;
		if (f.num == 5)
			fsc_buf_addi(&p->args, fsc_pb_int(&f));
		else if (f.num == 6)
			put_double(p, fsc_pb_double(&f));
		else if (f.num == 7)
			fsc_buf_adds(&p->args, f.v ? "true" : "false");
		else
			put_cursor(p, &f.body);
		return;
	}
	fsc_buf_adds(&p->args, "null");
}

static void value(struct pft *p, struct pft_seq *s, struct fsc_cur c, int depth);

static void key_of(struct pft *p, struct pft_seq *s, struct fsc_cur c)
{
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == 1 && f.wire == FSC_PB_VARINT) {
			const struct pft_entry *e = fsc_pft_entry(p, s, PFT_ANNOTATION_NAMES, f.v);

			put_text(p, e ? e->text : 0);
			return;
		}
		if (f.num == 10 && f.wire == FSC_PB_BYTES) {
			put_cursor(p, &f.body);
			return;
		}
	}
	fsc_buf_adds(&p->args, "\"\"");
}

/* dict_entries (11) and array_values (12) of an annotation. */
static void children(struct pft *p, struct pft_seq *s, struct fsc_cur c, uint32_t field, int depth)
{
	bool dict = field == 11, any = false;
	struct fsc_pb_field f;

	if (depth > DEPTH_MAX) {
		fsc_pft_note(p, &p->n.deep, 1);
		fsc_buf_adds(&p->args, "null");
		return;
	}
	fsc_buf_addc(&p->args, dict ? '{' : '[');
	while (fsc_pb_next(&c, &f)) {
		if (f.num != field || f.wire != FSC_PB_BYTES)
			continue;
		fsc_buf_adds(&p->args, any ? "," : "");
		any = true;
		if (dict) {
			key_of(p, s, f.body);
			fsc_buf_addc(&p->args, ':');
		}
		value(p, s, f.body, depth + 1);
	}
	fsc_buf_addc(&p->args, dict ? '}' : ']');
}

/* True when the field was the value. */
static bool scalar(struct pft *p, struct pft_seq *s, const struct fsc_pb_field *f)
{
	switch (f->num) {
	case 2:
		fsc_buf_adds(&p->args, f->v ? "true" : "false");
		return true;
	case 3:
	case 7:
		fsc_buf_addu(&p->args, f->v);
		return true;
	case 4:
		fsc_buf_addi(&p->args, fsc_pb_int(f));
		return true;
	case 5:
		put_double(p, fsc_pb_double(f));
		return true;
	case 6:
		put_cursor(p, &f->body);
		return true;
	case 9:
		if (!fsc_json_copy_value(&p->args, (const char *)f->body.p, fsc_cur_left(&f->body)))
			put_cursor(p, &f->body);
		return true;
	case 17:
		put_entry(p, s, PFT_ANNOTATION_STRINGS, f->v);
		return true;
	default:
		return false;
	}
}

static void value(struct pft *p, struct pft_seq *s, struct fsc_cur c, int depth)
{
	const struct fsc_cur whole = c;
	struct fsc_pb_field f;

	while (fsc_pb_next(&c, &f)) {
		if (f.num == 11 || f.num == 12) {
			children(p, s, whole, f.num, depth);
			return;
		}
		if (f.num == 8 && f.wire == FSC_PB_BYTES) {
			nested(p, f.body, depth);
			return;
		}
		if (scalar(p, s, &f))
			return;
	}
	fsc_pft_note(p, &p->n.annotations, c.failed);
	fsc_buf_adds(&p->args, "null");
}

void fsc_pft_args_annotation(struct pft *p, struct pft_seq *s, struct fsc_cur c)
{
	fsc_buf_addc(&p->args, p->args_open ? ',' : '{');
	p->args_open = true;
	key_of(p, s, c);
	fsc_buf_addc(&p->args, ':');
	value(p, s, c, 0);
}

/* An arg of a kernel launch: {name_iid 1 | name 2; int 3, uint 4, double 5, string 6, string_iid 7}. */
void fsc_pft_args_compute(struct pft *p, struct pft_seq *s, struct fsc_cur c)
{
	const struct fsc_cur whole = c;
	struct fsc_pb_field f;
	bool named = false;

	fsc_buf_addc(&p->args, p->args_open ? ',' : '{');
	p->args_open = true;
	while (!named && fsc_pb_next(&c, &f)) {
		named = f.num == 1 || f.num == 2;
		if (f.num == 1)
			put_entry(p, s, PFT_ARG_NAMES, f.v);
		else if (f.num == 2)
			put_cursor(p, &f.body);
	}
	fsc_buf_adds(&p->args, named ? ":" : "\"\":");
	for (c = whole; fsc_pb_next(&c, &f);) {
		if (f.num < 3 || f.num > 7)
			continue;
		if (f.num == 3)
			fsc_buf_addi(&p->args, fsc_pb_int(&f));
		else if (f.num == 4)
			fsc_buf_addu(&p->args, f.v);
		else if (f.num == 5)
			put_double(p, fsc_pb_double(&f));
		else if (f.num == 6)
			put_cursor(p, &f.body);
		else
			put_entry(p, s, PFT_ANNOTATION_STRINGS, f.v);
		return;
	}
	fsc_buf_adds(&p->args, "null");
}
