/* SPDX-License-Identifier: Apache-2.0 */
/* Command line and environment of fleetscope-server. Start-up only. */
#ifndef FSC_SERVER_CONFIG_H
#define FSC_SERVER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"

#define FSC_CONFIG_MAX_HOSTS 16

enum fsc_verb { FSC_VERB_SERVE, FSC_VERB_OPEN, FSC_VERB_TOKEN };

struct fsc_config {
	enum fsc_verb verb;
	const char *args[8]; /* after the verb */
	int n_args;

	char host[256];
	uint16_t port;
	bool listen_given;
	char data[1024];
	char indexer[1024];
	const char *perfetto_origin;
	const char *allow_hosts[FSC_CONFIG_MAX_HOSTS];
	int n_allow_hosts;
	bool demo, require_tokens, no_tokens, no_browser;
	unsigned workers; /* 0: chosen by jobs/worker.h */
	uint64_t max_upload;
	enum fsc_log_level log_level;
	unsigned header_timeout_s, body_grace_s, query_timeout_s;
	const char *token_name, *token_scopes, *project;
};

/* Parses; prints usage and leaves the process for --help, --version and mistakes, as argp does. */
void fsc_config_parse(struct fsc_config *c, int argc, char **argv);
/* "HOST:PORT", "[V6]:PORT", "localhost:PORT". FSC_EINVAL. */
fsc_nodiscard enum fsc_status fsc_config_listen(struct fsc_config *c, const char *text,
						struct fsc_err *err);

#endif
