/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the sources, what comes from the environment, and what no table can say. */
#include "server/config.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "auth/proxy.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/num.h"
#include "base/vec.h"

#define ARENA_BYTES (4u << 20)
#define MISTAKES_BYTES (64u << 10)
#define ENV_NAME_MAX 64

static const char indexer_name[] = "/fleetscope-indexer";

enum fsc_status fsc_config_listen(struct fsc_config_address *out, const char *text,
				  struct fsc_err *err)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t port;

	if (!n || n >= sizeof(out->host) || !fsc_parse_u64(&port, colon + 1, strlen(colon + 1)) ||
	    port > UINT16_MAX)
		return fsc_err_set(err, FSC_EINVAL, "bad_option",
				   "listen: \"%.80s\" is not HOST:PORT", text);
	if (*text == '[') {
		if (n < 3 || text[n - 1] != ']')
			return fsc_err_set(err, FSC_EINVAL, "bad_option",
					   "listen: \"%.80s\" is not [ADDRESS]:PORT", text);
		text++;
		n -= 2;
	}
	memcpy(out->host, text, n);
	out->host[n] = '\0';
	out->port = (uint16_t)port;
	return FSC_OK;
}

void fsc_config_mistake(struct fsc_config *c, const char *where, unsigned line, const char *fmt,
			...)
{
	va_list ap;

	fsc_buf_adds(&c->mistakes, where);
	if (line)
		fsc_buf_addf(&c->mistakes, ":%u", line);
	fsc_buf_adds(&c->mistakes, ": ");
	va_start(ap, fmt);
	fsc_buf_vaddf(&c->mistakes, fmt, ap);
	va_end(ap);
	fsc_buf_addc(&c->mistakes, '\n');
	c->n_mistakes++;
}

static void where_of(struct fsc_buf *b, const struct fsc_config *c, const struct fsc_option *o,
		     struct fsc_config_from from)
{
	char env[ENV_NAME_MAX];

	switch (from.source) {
	case FSC_FROM_DEFAULT:
		fsc_buf_adds(b, "default");
		break;
	case FSC_FROM_FILE:
		fsc_buf_adds(b, c->config);
		break;
	case FSC_FROM_ENV:
		fsc_option_env(env, sizeof(env), o);
		fsc_buf_adds(b, env);
		break;
	case FSC_FROM_ARGS:
		fsc_buf_adds(b, "command line");
		break;
	}
}

void fsc_config_take(struct fsc_config *c, const struct fsc_option *o, const char *text,
		     struct fsc_config_from from)
{
	struct fsc_config_from *had = &c->from[o - fsc_options];
	struct fsc_option_list *list = (struct fsc_option_list *)((char *)c + o->field);
	struct fsc_buf where = FSC_BUF_INIT(4096);
	struct fsc_err err = FSC_ERR_INIT;

	where_of(&where, c, o, from);
	if (had->source == FSC_FROM_FILE && from.source == FSC_FROM_FILE &&
	    o->kind != FSC_OPTION_LIST)
		fsc_config_mistake(c, where.data, from.line, "%s: stands in line %u already",
				   o->name, had->line);
	if (o->kind == FSC_OPTION_LIST && had->source != from.source)
		list->n_items = 0;
	if (fsc_option_set(c, o, text, &c->arena, &err))
		fsc_config_mistake(c, where.data, from.line, "%s", err.msg);
	*had = from;
	fsc_buf_fini(&where);
}

/* Defaults that depend on who runs it and where the program is. */
static void set_places(struct fsc_config *c)
{
	const struct fsc_config_from from = { .source = FSC_FROM_DEFAULT };
	const char *home = getenv("HOME");
	char *data = fsc_xasprintf("%s/.local/share/fleetscope", home && *home ? home : ".");
	char self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - sizeof(indexer_name));
	char *slash;

	fsc_config_take(c, &fsc_options[FSC_OPT_data], data, from);
	fsc_free(data);
	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return;
	memcpy(slash, indexer_name, sizeof(indexer_name));
	fsc_config_take(c, &fsc_options[FSC_OPT_indexer], self, from);
}

void fsc_config_init(struct fsc_config *c)
{
	const struct fsc_config_from from = { .source = FSC_FROM_DEFAULT };

	memset(c, 0, sizeof(*c));
	fsc_arena_init(&c->arena, ARENA_BYTES);
	fsc_buf_init(&c->mistakes, MISTAKES_BYTES);
	for (size_t i = 0; i < FSC_OPTION_COUNT; i++)
		if (fsc_options[i].def)
			fsc_config_take(c, &fsc_options[i], fsc_options[i].def, from);
	set_places(c);
}

void fsc_config_fini(struct fsc_config *c)
{
	fsc_arena_fini(&c->arena);
	fsc_buf_fini(&c->mistakes);
}

/* The variable of an option; NULL when it is not there. An empty one counts only where empty is a value. */
static const char *env_of(const struct fsc_option *o)
{
	char name[ENV_NAME_MAX];
	const char *v;

	if (o->group == FSC_OPTION_VERB)
		return NULL;
	fsc_option_env(name, sizeof(name), o);
	v = getenv(name);
	return v && (*v || o->range[0] == '0') ? v : NULL;
}

/* The items of a list are divided by commas and blanks. */
static void take_list(struct fsc_config *c, const struct fsc_option *o, const char *v,
		      struct fsc_config_from from)
{
	while (*(v += strspn(v, ", \t"))) {
		size_t n = strcspn(v, ", \t");
		char *item = fsc_xstrndup(v, n);

		fsc_config_take(c, o, item, from);
		fsc_free(item);
		v += n;
	}
}

void fsc_config_read_env(struct fsc_config *c)
{
	const struct fsc_config_from from = { .source = FSC_FROM_ENV };

	for (size_t i = 0; i < FSC_OPTION_COUNT; i++) {
		const struct fsc_option *o = &fsc_options[i];
		const char *v = env_of(o);

		if (v && o->kind == FSC_OPTION_LIST)
			take_list(c, o, v, from);
		else if (v)
			fsc_config_take(c, o, v, from);
	}
}

/* The command line is read first, since it may name the file, and counts last. */
struct given {
	const struct fsc_option *o;
	const char *text;
};
struct givens {
	FSC_VEC(struct given) all;
};

static void on_arg(void *ctx, const struct fsc_option *o, const char *text)
{
	struct givens *g = ctx;

	FSC_ASSERT(fsc_vec_push(&g->all, ((struct given){ o, text })));
}

/* A Host header is compared without its port: a name with one would never fit. */
static bool is_host_name(const char *s)
{
	struct in6_addr v6;

	return !s[strcspn(s, "/[]@ ")] && (!strchr(s, ':') || inet_pton(AF_INET6, s, &v6) == 1);
}

static void check_access(struct fsc_config *c)
{
	struct fsc_err err = FSC_ERR_INIT;

	for (size_t i = 0; i < c->allow_host.n_items; i++)
		if (!is_host_name(c->allow_host.items[i]))
			fsc_config_mistake(c, "allow-host", 0,
					   "\"%s\" is not a name or address alone, without "
					   "scheme and port",
					   c->allow_host.items[i]);
	for (size_t i = 0; i < c->trusted_proxy.n_items; i++)
		if (fsc_proxy_check_peer(c->trusted_proxy.items[i], &err))
			fsc_config_mistake(c, "trusted-proxy", 0, "%s", err.msg);
	if (fsc_proxy_check_header(c->proxy_user_header, &err))
		fsc_config_mistake(c, "proxy-user-header", 0, "%s", err.msg);
	if (fsc_proxy_check_header(c->proxy_groups_header, &err))
		fsc_config_mistake(c, "proxy-groups-header", 0, "%s", err.msg);
	if (!strcasecmp(c->proxy_user_header, c->proxy_groups_header))
		fsc_config_mistake(c, "proxy-groups-header", 0, "is the same as proxy-user-header");
	for (size_t i = 0; i < c->n_groups; i++)
		if (fsc_proxy_check_group(c->groups[i].value, &err))
			fsc_config_mistake(c, c->config, c->groups[i].line, "group %s: %s",
					   c->groups[i].name, err.msg);
	if (c->no_tokens && c->trusted_proxy.n_items)
		fsc_config_mistake(c, "no-tokens", 0, "contradicts trusted-proxy");
}

static void check(struct fsc_config *c)
{
	struct fsc_err err = FSC_ERR_INIT;

	check_access(c);
	if (fsc_config_listen(&c->address, c->listen, &err))
		fsc_config_mistake(c, "listen", 0, "%s", err.msg);
	if (c->no_tokens && c->require_tokens)
		fsc_config_mistake(c, "no-tokens", 0, "contradicts require-tokens");
}

enum fsc_status fsc_config_load(struct fsc_config *c, int argc, char **argv)
{
	struct givens g = { 0 };
	const char *path;

	fsc_config_init(c);
	fsc_config_read_args(c, argc, argv, on_arg, &g);
	path = env_of(&fsc_options[FSC_OPT_config]);
	for (size_t i = 0; i < g.all.n; i++)
		if (g.all.v[i].o == &fsc_options[FSC_OPT_config])
			path = g.all.v[i].text;
	if (path) {
		c->config = path;
		fsc_config_read_file(c, path);
	}
	fsc_config_read_env(c);
	for (size_t i = 0; i < g.all.n; i++)
		fsc_config_take(c, g.all.v[i].o, g.all.v[i].text,
				(struct fsc_config_from){ .source = FSC_FROM_ARGS });
	fsc_vec_fini(&g.all);
	check(c);
	return c->n_mistakes ? FSC_EINVAL : FSC_OK;
}
