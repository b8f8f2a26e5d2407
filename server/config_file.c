/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config file: [server] with the options, [groups] with what groups of the proxy may do. Lines are read by
 * inih; it cuts long section names and ignores what follows one without a word, so lines are looked at before.
 */
#include <ini.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fs.h"
#include "server/config.h"

#define FILE_MAX_BYTES (1u << 20)
#define LINE_MAX_BYTES 4096

struct reading {
	struct fsc_config *c;
	const char *path, *next;
	unsigned line; /* of what was read last */
	bool known;    /* the section */
};

static void take_group(struct fsc_config *c, const struct reading *r, const char *name,
		       const char *value)
{
	struct fsc_config_group *g = &c->groups[c->n_groups];

	if (c->n_groups == FSC_CONFIG_MAX_GROUPS) {
		fsc_config_mistake(c, r->path, r->line, "more than %d groups",
				   FSC_CONFIG_MAX_GROUPS);
		return;
	}
	/* Neither could be meant, and the first would be whoever sends ",,". */
	if (!*name || strchr(name, ',')) {
		fsc_config_mistake(c, r->path, r->line,
				   *name ? "group %s: the header divides groups by commas"
					 : "a group needs a name%s",
				   name);
		return;
	}
	for (size_t i = 0; i < c->n_groups; i++)
		if (!strcmp(c->groups[i].name, name)) {
			fsc_config_mistake(c, r->path, r->line,
					   "group %s stands in line %u already", name,
					   c->groups[i].line);
			return;
		}
	g->name = fsc_arena_dup(&c->arena, name, strlen(name));
	g->value = fsc_arena_dup(&c->arena, value, strlen(value));
	g->line = r->line;
	if (g->name && g->value)
		c->n_groups++;
}

static void take_server(struct fsc_config *c, const struct reading *r, const char *name,
			const char *value)
{
	const struct fsc_option *o = fsc_option_find(name);

	if (!o)
		fsc_config_mistake(c, r->path, r->line, "there is no option %s", name);
	else if (o->group == FSC_OPTION_VERB || o->flags & FSC_OPTION_NO_FILE)
		fsc_config_mistake(c, r->path, r->line, "%s belongs on the command line", name);
	else
		fsc_config_take(c, o, value,
				(struct fsc_config_from){ .source = FSC_FROM_FILE,
							  .line = r->line });
}

/* Never stops the parser: every mistake shall be told at once. */
static int on_pair(void *ctx, const char *section, const char *name, const char *value)
{
	struct reading *r = ctx;

	if (!strcmp(section, "groups"))
		take_group(r->c, r, name, value);
	else if (!strcmp(section, "server"))
		take_server(r->c, r, name, value);
	else if (!*section)
		fsc_config_mistake(r->c, r->path, r->line,
				   "%s stands before a section: options belong to [server]", name);
	return 1;
}

static bool is_section(const char *s, size_t n)
{
	static const char *const names[] = { "[server]", "[groups]" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(names); i++)
		if (strlen(names[i]) == n && !strncmp(names[i], s, n))
			return true;
	return false;
}

/* True when inih is to see the line, and takes it as it is meant. */
static bool check_line(struct reading *r, const char *s, size_t n)
{
	while (n && strchr(" \t\r", s[n - 1]))
		n--;
	while (n && strchr(" \t", *s)) {
		s++;
		n--;
	}
	if (!n || *s == '#' || *s == ';')
		return true;
	if (*s == '[') {
		r->known = is_section(s, n);
		if (!r->known)
			fsc_config_mistake(r->c, r->path, r->line,
					   "there is no section %.*s, only [server] and [groups]",
					   (int)(n < 80 ? n : 80), s);
		return r->known;
	}
	if (!r->known)
		return false; /* of a section that was complained about */
	if (!memchr(s, '=', n)) {
		fsc_config_mistake(r->c, r->path, r->line, "%.*s: not NAME = VALUE",
				   (int)(n < 80 ? n : 80), s);
		return false;
	}
	/* inih takes a colon for a sign of equality, and group names may have one. */
	if (memchr(s, ':', (size_t)((const char *)memchr(s, '=', n) - s))) {
		fsc_config_mistake(r->c, r->path, r->line, "a name has no colon");
		return false;
	}
	return true;
}

/* A line for inih, as fgets does it; a line that is no good is left empty. */
static char *next_line(char *dst, int cap, void *ctx)
{
	struct reading *r = ctx;
	size_t n = strcspn(r->next, "\n");
	const char *s = r->next;

	if (!*s)
		return NULL;
	r->line++;
	r->next += n + (r->next[n] == '\n');
	if (n > LINE_MAX_BYTES || n + 2 > (size_t)cap) {
		fsc_config_mistake(r->c, r->path, r->line, "longer than %d bytes", LINE_MAX_BYTES);
		n = 0;
	} else if (!check_line(r, s, n)) {
		n = 0;
	}
	memcpy(dst, s, n);
	dst[n] = '\n';
	dst[n + 1] = '\0';
	return dst;
}

void fsc_config_read_file(struct fsc_config *c, const char *path)
{
	struct reading r = { .c = c, .path = path, .known = true };
	struct fsc_err err = FSC_ERR_INIT;
	char *text = NULL;
	size_t n;
	int rc;

	if (fsc_fs_read_file(&text, &n, path, FILE_MAX_BYTES, &err)) {
		fsc_config_mistake(c, path, 0, "%s", err.msg);
		return;
	}
	if (strlen(text) != n)
		fsc_config_mistake(c, path, 0, "has a NUL byte");
	r.next = text + (strncmp(text, "\xef\xbb\xbf", 3) ? 0 : 3);
	/* Settings of the library; nothing else in the process uses it. */
	ini_use_stack = false;
	ini_initial_alloc = ini_max_line = LINE_MAX_BYTES + 16;
	ini_allow_multiline = false;
	ini_allow_inline_comments = false;
	rc = ini_parse_stream(next_line, &r, on_pair, &r);
	if (rc)
		fsc_config_mistake(c, path, rc > 0 ? (unsigned)rc : 0, "cannot be read");
	fsc_free(text);
}
