/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration of fleetscope-server: defaults, then config file, environment and command line, each going
 * before the one named earlier. The options are rows of server/options.def. Start-up only, one thread.
 */
#ifndef FSC_SERVER_CONFIG_H
#define FSC_SERVER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "server/options.h"

#define FSC_CONFIG_MAX_GROUPS 64
#define FSC_CONFIG_MAX_ARGS 8

enum fsc_verb {
	FSC_VERB_SERVE,
	FSC_VERB_OPEN,
	FSC_VERB_TOKEN,
	FSC_VERB_BACKUP,
	FSC_VERB_RESTORE,
	FSC_VERB_VERIFY
};

/* Where a value came from; the later goes before the earlier. */
enum fsc_config_source { FSC_FROM_DEFAULT, FSC_FROM_FILE, FSC_FROM_ENV, FSC_FROM_ARGS };
struct fsc_config_from {
	enum fsc_config_source source;
	unsigned line; /* of the config file */
};

/* A line of [groups]: a group of the proxy and what it may do, as written (read by auth). */
struct fsc_config_group {
	const char *name, *value;
	unsigned line;
};

struct fsc_config_address {
	char host[256]; /* without brackets */
	uint16_t port;
};

struct fsc_config {
	enum fsc_verb verb;
	const char *args[FSC_CONFIG_MAX_ARGS]; /* after the verb */
	int n_args;

	/* one field for each row of options.def; texts are in arena */
	const char *listen, *data, *config, *admin_token_file, *perfetto_origin, *indexer;
	const char *perfetto_ui, *perfetto_ui_listen, *perfetto_ui_url;
	struct fsc_option_list allow_host;
	struct fsc_option_list trusted_proxy;
	const char *proxy_user_header, *proxy_groups_header;
	unsigned rate_limit;
	bool demo, require_tokens, no_tokens;
	unsigned workers;	       /* 0: chosen by jobs/worker.h */
	uint64_t max_upload, min_free; /* bytes */
	const char *log_file;
	unsigned role, log_level; /* log_level: enum fsc_log_level */
	unsigned header_timeout, body_grace, query_timeout;
	bool check_config, no_browser, hard_link;
	const char *token_name, *token_scopes, *project;

	struct fsc_config_address address; /* of listen */
	struct fsc_config_group groups[FSC_CONFIG_MAX_GROUPS];
	size_t n_groups;
	struct fsc_config_from from[FSC_OPTION_COUNT];

	struct fsc_arena arena;	 /* owned */
	struct fsc_buf mistakes; /* owned; a line for each, "WHERE: what" */
	size_t n_mistakes;
};

/* Everything from every source. Mistakes are collected, all of them, in c->mistakes, and the result is then
 * FSC_EINVAL. For --help, --version and options that do not exist it prints and leaves the process, as argp does
 * (status 2 for mistakes). c is to be finished in every case. */
fsc_nodiscard enum fsc_status fsc_config_load(struct fsc_config *c, int argc, char **argv);
void fsc_config_fini(struct fsc_config *c);

/* "HOST:PORT", "[V6]:PORT", "localhost:PORT". FSC_EINVAL. */
fsc_nodiscard enum fsc_status fsc_config_listen(struct fsc_config_address *out, const char *text,
						struct fsc_err *err);

/* The steps of fsc_config_load. */
void fsc_config_init(struct fsc_config *c); /* the defaults */
/* One value. A source that goes before the one a list came from replaces the list. */
void fsc_config_take(struct fsc_config *c, const struct fsc_option *o, const char *text,
		     struct fsc_config_from from);
void fsc_config_read_file(struct fsc_config *c, const char *path); /* config_file.c */
void fsc_config_read_env(struct fsc_config *c);
/* Reads the command line: verb and arguments into c, and each option with its text to `each`, in order. */
void fsc_config_read_args(struct fsc_config *c, int argc, char **argv,
			  void (*each)(void *ctx, const struct fsc_option *o, const char *text),
			  void *ctx); /* config_args.c */
/* Notes a mistake; line 0: none. */
void fsc_config_mistake(struct fsc_config *c, const char *where, unsigned line, const char *fmt,
			...) fsc_printf(4, 5);

#endif
