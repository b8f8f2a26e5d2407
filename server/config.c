/* SPDX-License-Identifier: Apache-2.0 */
/* Options: one table for argp, one function that takes them. */
#include "server/config.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/num.h"

const char *argp_program_version = "fleetscope-server " FSC_VERSION;

enum key {
	KEY_LISTEN = 'l',
	KEY_DATA = 'd',
	KEY_DEMO = 256,
	KEY_ROLE,
	KEY_PERFETTO,
	KEY_WORKERS,
	KEY_INDEXER,
	KEY_LOG,
	KEY_MAX_UPLOAD,
	KEY_TOKENS,
	KEY_NO_TOKENS,
	KEY_ALLOW_HOST,
	KEY_HEADER_TIMEOUT,
	KEY_BODY_GRACE,
	KEY_QUERY_TIMEOUT,
	KEY_NO_BROWSER,
	KEY_NAME,
	KEY_SCOPES,
	KEY_PROJECT,
};

static const struct argp_option options[] = {
	{ "listen", KEY_LISTEN, "HOST:PORT", 0,
	  "Address (127.0.0.1:8080). Port 0 takes a free one. Any other address than loopback "
	  "needs tokens",
	  0 },
	{ "data", KEY_DATA, "DIR", 0, "Data folder (~/.local/share/fleetscope)", 0 },
	{ "demo", KEY_DEMO, NULL, 0,
	  "Index the synthetic demo capture when the data folder is empty", 0 },
	{ "perfetto-origin", KEY_PERFETTO, "URL", 0,
	  "Perfetto UI that pages hand traces to (https://ui.perfetto.dev); empty switches it off",
	  0 },
	{ "workers", KEY_WORKERS, "N", 0, "Indexers at a time (half of the CPUs)", 0 },
	{ "indexer", KEY_INDEXER, "PATH", 0,
	  "fleetscope-indexer (beside this program, or FLEETSCOPE_INDEXER)", 0 },
	{ "max-upload", KEY_MAX_UPLOAD, "BYTES", 0, "Largest upload (16 GiB)", 0 },
	{ "require-tokens", KEY_TOKENS, NULL, 0, "Ask for tokens on loopback too", 0 },
	{ "no-tokens", KEY_NO_TOKENS, NULL, 0,
	  "On loopback, admit everyone with all rights even behind a proxy that checks who asks",
	  0 },
	{ "allow-host", KEY_ALLOW_HOST, "NAME", 0,
	  "Also answer to this Host name, as behind a proxy; may be repeated. Needs tokens", 0 },
	{ "role", KEY_ROLE, "ROLE", 0, "all; web and worker need a shared store", 0 },
	{ "log-level", KEY_LOG, "LEVEL", 0, "debug, info, warn or error (info)", 0 },
	{ "header-timeout", KEY_HEADER_TIMEOUT, "S", 0, "Time for a whole request head (10)", 1 },
	{ "body-grace", KEY_BODY_GRACE, "S", 0,
	  "Time before the minimum body rate of 16 KiB/s counts (30)", 1 },
	{ "query-timeout", KEY_QUERY_TIMEOUT, "S", 0, "Time for one answer, then it is 503 (60)",
	  1 },
	{ "no-browser", KEY_NO_BROWSER, NULL, 0, "open: only print the address", 2 },
	{ "name", KEY_NAME, "NAME", 0, "token create: its name", 2 },
	{ "scopes", KEY_SCOPES, "LIST", 0, "token create: read,upload,capture,admin (read)", 2 },
	{ "project", KEY_PROJECT, "NAME", 0, "token: the project (default)", 2 },
	{ 0 },
};

static bool parse_unsigned(unsigned *out, const char *text, unsigned min, unsigned max)
{
	uint64_t v;

	if (!fsc_parse_u64(&v, text, strlen(text)) || v < min || v > max)
		return false;
	*out = (unsigned)v;
	return true;
}

static bool parse_level(enum fsc_log_level *out, const char *text)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(names); i++)
		if (!strcmp(names[i], text)) {
			*out = (enum fsc_log_level)i;
			return true;
		}
	return false;
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

enum fsc_status fsc_config_listen(struct fsc_config *c, const char *text, struct fsc_err *err)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t port;

	if (!n || n >= sizeof(c->host) || !fsc_parse_u64(&port, colon + 1, strlen(colon + 1)) ||
	    port > UINT16_MAX)
		return fsc_err_set(err, FSC_EINVAL, "bad_listen", "listen: %s is not HOST:PORT",
				   text);
	if (*text == '[') {
		if (n < 3 || text[n - 1] != ']')
			return fsc_err_set(err, FSC_EINVAL, "bad_listen",
					   "listen: %s is not [ADDRESS]:PORT", text);
		text++;
		n -= 2;
	}
	memcpy(c->host, text, n);
	c->host[n] = '\0';
	c->port = (uint16_t)port;
	c->listen_given = true;
	return FSC_OK;
}

static void take_arg(struct fsc_config *c, const char *arg, const struct argp_state *state)
{
	if (c->verb == FSC_VERB_SERVE && !c->n_args) {
		if (!strcmp(arg, "open"))
			c->verb = FSC_VERB_OPEN;
		else if (!strcmp(arg, "token"))
			c->verb = FSC_VERB_TOKEN;
		else
			argp_error(state, "there is no command %s", arg);
		return;
	}
	if (c->n_args == (int)FSC_ARRAY_LEN(c->args))
		argp_error(state, "too many arguments");
	else
		c->args[c->n_args++] = arg;
}

static void check_args(const struct fsc_config *c, const struct argp_state *state)
{
	if (c->verb == FSC_VERB_OPEN && c->n_args != 1)
		argp_error(state, "open takes one FILE");
	if (c->verb == FSC_VERB_TOKEN && !c->n_args)
		argp_error(state, "token takes create, list or revoke ID");
}

/* Numbers and words with a range. */
static error_t take_value(struct fsc_config *c, int key, char *arg, struct argp_state *state)
{
	uint64_t bytes;

	switch (key) {
	case KEY_ROLE:
		if (strcmp(arg, "all") != 0)
			argp_error(state,
				   "role %s needs a store that several processes share; SQLite is "
				   "not one",
				   arg);
		break;
	case KEY_WORKERS:
		if (!parse_unsigned(&c->workers, arg, 1, 256))
			argp_error(state, "workers is 1 to 256");
		break;
	case KEY_LOG:
		if (!parse_level(&c->log_level, arg))
			argp_error(state, "log-level is debug, info, warn or error");
		break;
	case KEY_MAX_UPLOAD:
		if (!fsc_parse_u64(&bytes, arg, strlen(arg)) || !bytes ||
		    bytes > FSC_MAX_UPLOAD_BYTES)
			argp_error(state, "max-upload is 1 to %llu",
				   (unsigned long long)FSC_MAX_UPLOAD_BYTES);
		else
			c->max_upload = bytes;
		break;
	case KEY_HEADER_TIMEOUT:
		if (!parse_unsigned(&c->header_timeout_s, arg, 1, 600))
			argp_error(state, "header-timeout is 1 to 600");
		break;
	case KEY_QUERY_TIMEOUT:
		if (!parse_unsigned(&c->query_timeout_s, arg, 1, 3600))
			argp_error(state, "query-timeout is 1 to 3600");
		break;
	case KEY_BODY_GRACE:
		if (!parse_unsigned(&c->body_grace_s, arg, 1, 3600))
			argp_error(state, "body-grace is 1 to 3600");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	struct fsc_config *c = state->input;
	struct fsc_err err = FSC_ERR_INIT;

	switch (key) {
	case KEY_LISTEN:
		if (fsc_config_listen(c, arg, &err))
			argp_error(state, "%s", err.msg);
		break;
	case KEY_DATA:
		snprintf(c->data, sizeof(c->data), "%s", arg);
		break;
	case KEY_DEMO:
		c->demo = true;
		break;
	case KEY_PERFETTO:
		c->perfetto_origin = arg;
		if (!is_origin(arg))
			argp_error(state, "%s is no origin like https://ui.perfetto.dev", arg);
		break;
	case KEY_INDEXER:
		snprintf(c->indexer, sizeof(c->indexer), "%s", arg);
		break;
	case KEY_TOKENS:
		c->require_tokens = true;
		break;
	case KEY_NO_TOKENS:
		c->no_tokens = true;
		break;
	case KEY_ALLOW_HOST:
		if (c->n_allow_hosts == FSC_CONFIG_MAX_HOSTS)
			argp_error(state, "at most %d allow-host", FSC_CONFIG_MAX_HOSTS);
		else
			c->allow_hosts[c->n_allow_hosts++] = arg;
		break;
	case KEY_NO_BROWSER:
		c->no_browser = true;
		break;
	case KEY_NAME:
		c->token_name = arg;
		break;
	case KEY_SCOPES:
		c->token_scopes = arg;
		break;
	case KEY_PROJECT:
		c->project = arg;
		break;
	case ARGP_KEY_ARG:
		take_arg(c, arg, state);
		break;
	case ARGP_KEY_END:
		check_args(c, state);
		break;
	default:
		return take_value(c, key, arg, state);
	}
	return 0;
}

static void set_defaults(struct fsc_config *c)
{
	const char *home = getenv("HOME");
	const char *indexer = getenv("FLEETSCOPE_INDEXER");
	ssize_t n;

	memset(c, 0, sizeof(*c));
	snprintf(c->host, sizeof(c->host), "127.0.0.1");
	c->port = 8080;
	snprintf(c->data, sizeof(c->data), "%s/.local/share/fleetscope",
		 home && *home ? home : ".");
	c->perfetto_origin = "https://ui.perfetto.dev";
	c->max_upload = FSC_MAX_UPLOAD_BYTES;
	c->log_level = FSC_LOG_INFO;
	c->header_timeout_s = 10;
	c->body_grace_s = 30;
	c->query_timeout_s = 60;
	c->token_scopes = "read";
	c->project = "default";
	if (indexer && *indexer) {
		snprintf(c->indexer, sizeof(c->indexer), "%s", indexer);
		return;
	}
	n = readlink("/proc/self/exe", c->indexer,
		     sizeof(c->indexer) - sizeof("/fleetscope-indexer"));
	c->indexer[n > 0 ? n : 0] = '\0';
	if (n > 0 && strrchr(c->indexer, '/'))
		memcpy(strrchr(c->indexer, '/'), "/fleetscope-indexer",
		       sizeof("/fleetscope-indexer"));
}

void fsc_config_parse(struct fsc_config *c, int argc, char **argv)
{
	static const struct argp argp = {
		options,
		take_option,
		"\nopen FILE\ntoken create --name NAME [--scopes LIST]\ntoken list\ntoken revoke "
		"ID",
		"Fleetscope: performance analysis of GPU and CPU fleets.\v"
		"FLEETSCOPE_ADMIN_TOKEN_FILE names a file with the first admin token; otherwise "
		"one is made and shown "
		"once, when tokens are needed and there is none.",
		NULL,
		NULL,
		NULL
	};

	set_defaults(c);
	argp_parse(&argp, argc, argv, 0, NULL, c);
}
