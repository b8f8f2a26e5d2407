/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON writer into a struct fsc_buf. Commas are put by the writer; nesting up to 32. Strings are escaped,
 * ill-formed UTF-8 is written as U+FFFD, and '<' '>' '&' are escaped so that the text is inert in HTML.
 * Check fsc_buf_status() of the buffer once at the end. Owner thread.
 */
#ifndef FSC_BASE_JSON_OUT_H
#define FSC_BASE_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct fsc_json {
	struct fsc_buf *b; /* borrowed */
	uint32_t depth;
	bool first[33];
};

void fsc_json_init(struct fsc_json *j, struct fsc_buf *b);
void fsc_json_obj(struct fsc_json *j);
void fsc_json_obj_end(struct fsc_json *j);
void fsc_json_arr(struct fsc_json *j);
void fsc_json_arr_end(struct fsc_json *j);
void fsc_json_key(struct fsc_json *j, const char *key);
void fsc_json_str(struct fsc_json *j, const char *s); /* NULL writes null */
void fsc_json_strn(struct fsc_json *j, const char *s, size_t n);
void fsc_json_int(struct fsc_json *j, int64_t v);
void fsc_json_uint(struct fsc_json *j, uint64_t v);
void fsc_json_double(struct fsc_json *j, double v); /* shortest round trip; null for NaN and Inf */
void fsc_json_bool(struct fsc_json *j, bool v);
void fsc_json_null(struct fsc_json *j);
void fsc_json_raw(struct fsc_json *j, const char *s, size_t n); /* already JSON */
/* key + value in one call */
void fsc_json_kstr(struct fsc_json *j, const char *key, const char *s);
void fsc_json_kint(struct fsc_json *j, const char *key, int64_t v);
void fsc_json_kuint(struct fsc_json *j, const char *key, uint64_t v);
void fsc_json_kbool(struct fsc_json *j, const char *key, bool v);
void fsc_json_kdouble(struct fsc_json *j, const char *key, double v);
void fsc_json_kid(struct fsc_json *j, const char *key,
		  uint64_t id); /* decimal string: ids and absolute ns */

#endif
