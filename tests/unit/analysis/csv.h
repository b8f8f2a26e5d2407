/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of the small reference tables: RFC 4180 quoting, columns by name. */
#ifndef FSC_TESTS_UNIT_ANALYSIS_CSV_H
#define FSC_TESTS_UNIT_ANALYSIS_CSV_H

#include "base/err.h"
#include "base/fs.h"
#include "base/alloc.h"
#include "tests/support/test.h"

#define CSV_MAX_COLUMNS 64

struct csv {
	char *text; /* owned; cells point into it */
	char *p;
	char *head[CSV_MAX_COLUMNS], *cell[CSV_MAX_COLUMNS];
	unsigned n_columns;
};

/* Cuts one line into cells. False at the end. */
static inline bool csv_line(struct csv *c, char **cell, unsigned *n)
{
	char *p = c->p;

	*n = 0;
	if (!*p)
		return false;
	for (bool more = true; more;) {
		char *out = p;

		assert_true(*n < CSV_MAX_COLUMNS);
		cell[(*n)++] = out;
		if (*p == '"') {
			for (p++; *p && (*p != '"' || p[1] == '"'); *out++ = *p++)
				p += *p == '"';
			p += *p == '"';
		} else {
			for (; *p && *p != ',' && *p != '\n' && *p != '\r'; p++)
				;
			out = p;
		}
		char end = *p;
		*out = '\0';
		if (end == '\r')
			end = *++p;
		more = end == ',';
		p += end != '\0';
	}
	c->p = p;
	return true;
}

static inline void csv_open(struct csv *c, const char *path)
{
	struct fsc_err err = FSC_ERR_INIT;
	size_t n = 0;

	memset(c, 0, sizeof(*c));
	if (fsc_fs_read_file(&c->text, &n, path, 64 << 20, &err) != FSC_OK)
		fail_msg("%s", err.msg);
	c->p = c->text;
	assert_true(csv_line(c, c->head, &c->n_columns));
}

static inline bool csv_next(struct csv *c)
{
	unsigned n = 0;

	if (!csv_line(c, c->cell, &n))
		return false;
	assert_int_equal(n, c->n_columns);
	return true;
}

static inline const char *csv_text(const struct csv *c, const char *column)
{
	for (unsigned i = 0; i < c->n_columns; i++)
		if (!strcmp(c->head[i], column))
			return c->cell[i];
	fail_msg("no column %s", column);
	return NULL;
}

static inline double csv_num(const struct csv *c, const char *column)
{
	return strtod(csv_text(c, column), NULL);
}

static inline void csv_close(struct csv *c)
{
	fsc_free(c->text);
}

#endif
