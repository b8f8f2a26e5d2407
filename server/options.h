/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of options (server/options.def) and what can be done with one row without knowing where a value
 * came from: read its text into struct fsc_config, write the value back as text. Start-up only.
 */
#ifndef FSC_SERVER_OPTIONS_H
#define FSC_SERVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define FSC_OPTION_LIST_MAX 32

struct fsc_config;

enum fsc_option_kind {
	FSC_OPTION_FLAG,   /* bool */
	FSC_OPTION_NUMBER, /* unsigned */
	FSC_OPTION_SIZE,   /* uint64_t, bytes */
	FSC_OPTION_TEXT,   /* const char *, NULL when there is none */
	FSC_OPTION_LIST,   /* struct fsc_option_list */
	FSC_OPTION_CHOICE, /* unsigned: place in the range */
	FSC_OPTION_LISTEN, /* const char *, HOST:PORT */
	FSC_OPTION_ORIGIN, /* const char *, http(s)://host[:port] or empty */
};
enum fsc_option_group { FSC_OPTION_SERVER, FSC_OPTION_TUNING, FSC_OPTION_VERB };
#define FSC_OPTION_NO_FILE 1u

struct fsc_option_list {
	const char *items[FSC_OPTION_LIST_MAX];
	size_t n_items;
};

struct fsc_option {
	const char *name, *arg, *range, *def, *help;
	char letter; /* 0: only the long name */
	enum fsc_option_kind kind;
	enum fsc_option_group group;
	unsigned flags;
	size_t field, field_size; /* in struct fsc_config */
};

enum fsc_option_index {
/* NOLINTNEXTLINE */
#define OPTION(name, letter, arg, kind, range, def, group, flags, field, help) FSC_OPT_##field,
#include "server/options.def"
#undef OPTION
	FSC_OPTION_COUNT
};
extern const struct fsc_option fsc_options[FSC_OPTION_COUNT];

const struct fsc_option *fsc_option_find(const char *name); /* NULL when there is none */
/* "FLEETSCOPE_MAX_UPLOAD" of "max-upload"; cut to cap, 64 is enough. */
void fsc_option_env(char *dst, size_t cap, const struct fsc_option *o);
/* Reads text into the field of o; a list gets one more item. Text is copied to `a`. FSC_EINVAL "bad_option" with a
 * message that names the option, the text and what is allowed; the field is unchanged then. */
fsc_nodiscard enum fsc_status fsc_option_set(struct fsc_config *c, const struct fsc_option *o,
					     const char *text, struct fsc_arena *a,
					     struct fsc_err *err);
/* Appends the value as one would write it; the items of a list with ", " between them. */
void fsc_option_show(struct fsc_buf *b, const struct fsc_config *c, const struct fsc_option *o);
/* "123", "16GiB": bytes. */
fsc_nodiscard bool fsc_option_parse_size(uint64_t *out, const char *s, size_t n);

#endif
