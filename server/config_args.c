/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: argp's table is made from ours; verbs and their arguments. Values are checked elsewhere. */
#include <argp.h>
#include <string.h>

#include "base/alloc.h"
#include "server/config.h"

#define KEY_BASE 0x1000 /* above every letter */

const char *argp_program_version = "fleetscope-server " FSC_VERSION;

static const struct {
	const char *name, *usage;
	enum fsc_verb verb;
	int min_args, max_args;
} verbs[] = {
	{ "open", "open FILE", FSC_VERB_OPEN, 1, 1 },
	{ "token", "token create --name NAME [--scopes LIST]\ntoken list\ntoken revoke ID",
	  FSC_VERB_TOKEN, 1, FSC_CONFIG_MAX_ARGS },
	{ "backup", "backup OUT", FSC_VERB_BACKUP, 1, 1 },
	{ "restore", "restore IN", FSC_VERB_RESTORE, 1, 1 },
	{ "verify", "verify", FSC_VERB_VERIFY, 0, 0 },
};

struct reading {
	struct fsc_config *c;
	void (*each)(void *ctx, const struct fsc_option *o, const char *text);
	void *ctx;
};

static int key_of(size_t idx)
{
	return fsc_options[idx].letter ? fsc_options[idx].letter : KEY_BASE + (int)idx;
}

static void take_arg(struct fsc_config *c, const char *arg, const struct argp_state *state)
{
	if (c->verb != FSC_VERB_SERVE) {
		if (c->n_args == FSC_CONFIG_MAX_ARGS)
			argp_error(state, "too many arguments");
		c->args[c->n_args++] = arg;
		return;
	}
	for (size_t i = 0; i < FSC_ARRAY_LEN(verbs); i++)
		if (!strcmp(verbs[i].name, arg)) {
			c->verb = verbs[i].verb;
			return;
		}
	argp_error(state, "there is no command %s", arg);
}

static void check_args(const struct fsc_config *c, const struct argp_state *state)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(verbs); i++)
		if (verbs[i].verb == c->verb &&
		    (c->n_args < verbs[i].min_args || c->n_args > verbs[i].max_args))
			argp_error(state, "usage: %s", verbs[i].usage);
}

static error_t take_option(int key, char *arg, struct argp_state *state)
{
	const struct reading *r = state->input;

	if (key == ARGP_KEY_ARG) {
		take_arg(r->c, arg, state);
		return 0;
	}
	if (key == ARGP_KEY_END) {
		check_args(r->c, state);
		return 0;
	}
	for (size_t i = 0; i < FSC_OPTION_COUNT; i++)
		if (key == key_of(i)) {
			r->each(r->ctx, &fsc_options[i], arg ? arg : "yes");
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

/* Help with range and default, as far as the help itself does not say them. */
static char *doc_of(const struct fsc_option *o)
{
	bool range = o->kind == FSC_OPTION_NUMBER || o->kind == FSC_OPTION_SIZE ||
		     (o->kind == FSC_OPTION_CHOICE && strchr(o->range, '|'));
	bool def = o->def && *o->def && o->kind != FSC_OPTION_FLAG;

	return fsc_xasprintf("%s%s%s%s%s%s", o->help, range ? ". Of " : "", range ? o->range : "",
			     def ? " (" : "", def ? o->def : "", def ? ")" : "");
}

static char *usage_of_verbs(void)
{
	struct fsc_buf b = FSC_BUF_INIT(4096);

	for (size_t i = 0; i < FSC_ARRAY_LEN(verbs); i++) {
		fsc_buf_addc(&b, '\n');
		fsc_buf_adds(&b, verbs[i].usage);
	}
	return fsc_buf_take(&b, NULL);
}

void fsc_config_read_args(struct fsc_config *c, int argc, char **argv,
			  void (*each)(void *ctx, const struct fsc_option *o, const char *text),
			  void *ctx)
{
	struct argp_option rows[FSC_OPTION_COUNT + 1] = { 0 };
	struct reading r = { c, each, ctx };
	char *docs[FSC_OPTION_COUNT], *usage = usage_of_verbs();
	const struct argp argp = {
		.options = rows,
		.parser = take_option,
		.args_doc = usage,
		.doc = "Fleetscope: performance analysis of GPU and CPU fleets.\v"
		       "Each option but those of verbs can stand in a config file (--config FILE, "
		       "section "
		       "[server], NAME = VALUE) and in the environment (FLEETSCOPE_MAX_UPLOAD for "
		       "--max-upload). The command line goes before the environment, that before "
		       "the file."
	};

	for (size_t i = 0; i < FSC_OPTION_COUNT; i++) {
		const struct fsc_option *o = &fsc_options[i];

		docs[i] = doc_of(o);
		rows[i] = (struct argp_option){ .name = o->name,
						.key = key_of(i),
						.arg = o->arg,
						.flags = o->kind == FSC_OPTION_FLAG
								 ? OPTION_ARG_OPTIONAL
								 : 0,
						.doc = docs[i],
						.group = (int)o->group };
	}
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &r);
	for (size_t i = 0; i < FSC_OPTION_COUNT; i++)
		fsc_free(docs[i]);
	fsc_free(usage);
}
