/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options, reading and showing values. Nothing is ever cut to fit: too long is an error. */
#include "server/options.h"

#include <ctype.h>
#include <string.h>

#include "base/assert.h"
#include "base/num.h"
#include "server/config.h"

#define SERVER FSC_OPTION_SERVER
#define TUNING FSC_OPTION_TUNING
#define VERB FSC_OPTION_VERB
#define NO_FILE FSC_OPTION_NO_FILE

/* clang-format off */
const struct fsc_option fsc_options[FSC_OPTION_COUNT] = {
#define OPTION(n, l, a, k, r, d, g, fl, f, h)                                                  \
	{ .name = n, .letter = l, .arg = a, .kind = FSC_OPTION_##k, .range = r, .def = d, .group = g, \
	  .flags = fl, .help = h, .field = offsetof(struct fsc_config, f),                            \
	  .field_size = sizeof(((struct fsc_config *)0)->f) },
#include "server/options.def"
#undef OPTION
};
/* clang-format on */

static const char units[][4] = { "KiB", "MiB", "GiB", "TiB" };

const struct fsc_option *fsc_option_find(const char *name)
{
	for (size_t i = 0; i < FSC_OPTION_COUNT; i++)
		if (!strcmp(fsc_options[i].name, name))
			return &fsc_options[i];
	return NULL;
}

void fsc_option_env(char *dst, size_t cap, const struct fsc_option *o)
{
	static const char prefix[] = "FLEETSCOPE_";
	size_t n = 0;

	for (const char *s = prefix; *s && n + 1 < cap; s++)
		dst[n++] = *s;
	for (const char *s = o->name; *s && n + 1 < cap; s++)
		dst[n++] = *s == '-' ? '_' : (char)toupper((unsigned char)*s);
	dst[n] = '\0';
}

bool fsc_option_parse_size(uint64_t *out, const char *s, size_t n)
{
	unsigned shift = 0;

	for (unsigned i = 0; n > 3 && i < FSC_ARRAY_LEN(units); i++)
		if (!strncmp(s + n - 3, units[i], 3))
			shift = 10 * (i + 1);
	if (shift)
		n -= 3;
	if (!fsc_parse_u64(out, s, n) || *out > UINT64_MAX >> shift)
		return false;
	*out <<= shift;
	return true;
}

/* "MIN..MAX" of the table. */
static void range_of(const struct fsc_option *o, uint64_t *min, uint64_t *max)
{
	const char *dots = strstr(o->range, "..");

	FSC_ASSERT(dots && fsc_option_parse_size(min, o->range, (size_t)(dots - o->range)) &&
		   fsc_option_parse_size(max, dots + 2, strlen(dots + 2)));
}

static enum fsc_status bad(const struct fsc_option *o, const char *text, const char *want,
			   struct fsc_err *err)
{
	return fsc_err_set(err, FSC_EINVAL, "bad_option", "%s: \"%.80s\" is not %s%s", o->name,
			   text, want, o->kind == FSC_OPTION_FLAG ? "" : o->range);
}

static enum fsc_status set_flag(bool *out, const struct fsc_option *o, const char *text,
				struct fsc_err *err)
{
	static const char *const yes[] = { "yes", "true", "on", "1" };
	static const char *const no[] = { "no", "false", "off", "0" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(yes); i++) {
		if (strcmp(text, yes[i]) != 0 && strcmp(text, no[i]) != 0)
			continue;
		*out = !strcmp(text, yes[i]);
		return FSC_OK;
	}
	return bad(o, text, "yes or no", err);
}

static enum fsc_status set_choice(unsigned *out, const struct fsc_option *o, const char *text,
				  struct fsc_err *err)
{
	const char *s = o->range;

	for (unsigned i = 0; *s; i++) {
		size_t n = strcspn(s, "|");

		if (strlen(text) == n && !strncmp(s, text, n)) {
			*out = i;
			return FSC_OK;
		}
		s += n + (s[n] == '|');
	}
	fsc_err_set(err, FSC_EINVAL, "bad_option", "%s: \"%.40s\" is not one of %s (%s)", o->name,
		    text, o->range, o->help);
	return FSC_EINVAL;
}

static enum fsc_status read_number(uint64_t *out, const struct fsc_option *o, const char *text,
				   struct fsc_err *err)
{
	uint64_t min, max, v;
	bool ok = o->kind == FSC_OPTION_SIZE ? fsc_option_parse_size(&v, text, strlen(text))
					     : fsc_parse_u64(&v, text, strlen(text));

	range_of(o, &min, &max);
	if (!ok || v < min || v > max)
		return bad(o, text, o->kind == FSC_OPTION_SIZE ? "bytes in " : "in ", err);
	*out = v;
	return FSC_OK;
}

/* "https://host[:port]" and nothing after it, or empty. */
static bool is_origin(const char *s)
{
	const char *host = strstr(s, "://");

	if (!*s)
		return true;
	return (!strncmp(s, "https://", 8) || !strncmp(s, "http://", 7)) && host[3] &&
	       !strpbrk(host + 3, "/?#\" ");
}

static enum fsc_status check_text(const struct fsc_option *o, const char *text, struct fsc_err *err)
{
	uint64_t min, max;
	size_t n = strlen(text);

	range_of(o, &min, &max);
	if (n < min || n > max)
		return fsc_err_set(err, FSC_EINVAL, "bad_option",
				   "%s: %zu bytes long, allowed are %s", o->name, n, o->range);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return fsc_err_set(err, FSC_EINVAL, "bad_option",
					   "%s: has a control character at byte %zu", o->name, i);
	if (o->kind == FSC_OPTION_ORIGIN && !is_origin(text))
		return fsc_err_set(err, FSC_EINVAL, "bad_option",
				   "%s: \"%.80s\" is no origin like https://ui.perfetto.dev",
				   o->name, text);
	if (o->kind == FSC_OPTION_LISTEN) {
		struct fsc_config_address address;

		if (fsc_config_listen(&address, text, NULL))
			return fsc_err_set(err, FSC_EINVAL, "bad_option",
					   "%s: \"%.80s\" is not HOST:PORT or [ADDRESS]:PORT",
					   o->name, text);
	}
	return FSC_OK;
}

static enum fsc_status set_text(const char **out, const struct fsc_option *o, const char *text,
				struct fsc_arena *a, struct fsc_err *err)
{
	enum fsc_status st = check_text(o, text, err);
	char *copy;

	if (st)
		return st;
	copy = fsc_arena_dup(a, text, strlen(text));
	if (!copy)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "%s: no memory", o->name);
	*out = copy;
	return FSC_OK;
}

enum fsc_status fsc_option_set(struct fsc_config *c, const struct fsc_option *o, const char *text,
			       struct fsc_arena *a, struct fsc_err *err)
{
	void *field = (char *)c + o->field;
	struct fsc_option_list *list = field;
	uint64_t v = 0;
	enum fsc_status st = FSC_OK;

	switch (o->kind) {
	case FSC_OPTION_FLAG:
		return set_flag(field, o, text, err);
	case FSC_OPTION_CHOICE:
		return set_choice(field, o, text, err);
	case FSC_OPTION_NUMBER:
		st = read_number(&v, o, text, err);
		if (!st)
			*(unsigned *)field = (unsigned)v;
		return st;
	case FSC_OPTION_SIZE:
		return read_number(field, o, text, err);
	case FSC_OPTION_LIST:
		if (list->n_items == FSC_OPTION_LIST_MAX)
			return fsc_err_set(err, FSC_EINVAL, "bad_option", "%s: more than %d",
					   o->name, FSC_OPTION_LIST_MAX);
		st = set_text(&list->items[list->n_items], o, text, a, err);
		list->n_items += st == FSC_OK;
		return st;
	case FSC_OPTION_TEXT:
	case FSC_OPTION_LISTEN:
	case FSC_OPTION_ORIGIN:
		return set_text(field, o, text, a, err);
	}
	return FSC_EBUG;
}

static void show_size(struct fsc_buf *b, uint64_t v)
{
	unsigned i = 0;

	while (v && i < FSC_ARRAY_LEN(units) && !(v & 1023)) {
		v >>= 10;
		i++;
	}
	fsc_buf_addu(b, v);
	fsc_buf_adds(b, i ? units[i - 1] : "");
}

static void show_choice(struct fsc_buf *b, const char *range, unsigned idx)
{
	while (idx--)
		range += strcspn(range, "|") + 1;
	fsc_buf_add(b, range, strcspn(range, "|"));
}

void fsc_option_show(struct fsc_buf *b, const struct fsc_config *c, const struct fsc_option *o)
{
	const void *field = (const char *)c + o->field;
	const struct fsc_option_list *list = field;
	const char *text;

	switch (o->kind) {
	case FSC_OPTION_FLAG:
		fsc_buf_adds(b, *(const bool *)field ? "yes" : "no");
		break;
	case FSC_OPTION_CHOICE:
		show_choice(b, o->range, *(const unsigned *)field);
		break;
	case FSC_OPTION_NUMBER:
		fsc_buf_addu(b, *(const unsigned *)field);
		break;
	case FSC_OPTION_SIZE:
		show_size(b, *(const uint64_t *)field);
		break;
	case FSC_OPTION_LIST:
		for (size_t i = 0; i < list->n_items; i++) {
			fsc_buf_adds(b, i ? ", " : "");
			fsc_buf_adds(b, list->items[i]);
		}
		break;
	case FSC_OPTION_TEXT:
	case FSC_OPTION_LISTEN:
	case FSC_OPTION_ORIGIN:
		text = *(const char *const *)field;
		fsc_buf_adds(b, text ? text : "");
		break;
	}
}
