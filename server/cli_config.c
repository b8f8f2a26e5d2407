/* SPDX-License-Identifier: Apache-2.0 */
/* `--check-config`: every option, its value and where it comes from. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/cli.h"

int fsc_cli_mistakes(const struct fsc_config *cfg)
{
	const char *s = cfg->mistakes.data;

	while (s && *s) {
		int n = (int)strcspn(s, "\n");

		fprintf(stderr, "fleetscope-server: %.*s\n", n, s);
		s += n + 1;
	}
	return 2;
}

static void show_from(const struct fsc_config *cfg, size_t idx)
{
	const struct fsc_config_from *from = &cfg->from[idx];
	char env[64];

	switch (from->source) {
	case FSC_FROM_DEFAULT:
		fputs("default\n", stdout);
		break;
	case FSC_FROM_FILE:
		printf("%s:%u\n", cfg->config, from->line);
		break;
	case FSC_FROM_ENV:
		fsc_option_env(env, sizeof(env), &fsc_options[idx]);
		printf("%s\n", env);
		break;
	case FSC_FROM_ARGS:
		fputs("command line\n", stdout);
		break;
	}
}

/* A misspelt variable does nothing, silently; here it is told. */
static void show_strangers(void)
{
	static const char prefix[] = "FLEETSCOPE_";

	for (char **e = environ; *e; e++) {
		size_t n = strcspn(*e, "=");
		char env[64];
		bool known = strncmp(*e, prefix, sizeof(prefix) - 1) != 0;

		for (size_t i = 0; !known && i < FSC_OPTION_COUNT; i++) {
			fsc_option_env(env, sizeof(env), &fsc_options[i]);
			known = fsc_options[i].group != FSC_OPTION_VERB && strlen(env) == n &&
				!strncmp(env, *e, n);
		}
		if (!known)
			printf("# %.*s in the environment is no option\n", (int)n, *e);
	}
}

int fsc_cli_config(const struct fsc_config *cfg)
{
	for (size_t i = 0; i < FSC_OPTION_COUNT; i++) {
		struct fsc_buf value = FSC_BUF_INIT(1u << 20);

		if (fsc_options[i].group == FSC_OPTION_VERB)
			continue;
		fsc_option_show(&value, cfg, &fsc_options[i]);
		printf("%s = %s\t# ", fsc_options[i].name, value.data ? value.data : "");
		fsc_buf_fini(&value);
		show_from(cfg, i);
	}
	for (size_t i = 0; i < cfg->n_groups; i++)
		printf("group %s = %s\t# %s:%u\n", cfg->groups[i].name, cfg->groups[i].value,
		       cfg->config, cfg->groups[i].line);
	show_strangers();
	return cfg->n_mistakes ? fsc_cli_mistakes(cfg) : 0;
}
