/* SPDX-License-Identifier: Apache-2.0 */
/* `token create|list|revoke`, also beside a running server. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"
#include "server/cli.h"

static void audit(struct fsc_store *store, int64_t project, const char *action, const char *subject,
		  const char *detail)
{
	struct fsc_err err = FSC_ERR_INIT;
	const struct fsc_audit row = { .project = project,
				       .actor = "cli",
				       .action = action,
				       .subject = subject,
				       .detail = detail,
				       .remote = "" };

	if (fsc_store_audit_put(store, &row, &err))
		fprintf(stderr, "fleetscope-server: audit row not written: %s\n", err.msg);
}

/* Finds it, or makes it and says so: a slip in the name would otherwise go unseen. */
static enum fsc_status project_of(struct fsc_store *store, const char *name, int64_t *id,
				  struct fsc_err *err)
{
	enum fsc_status st = fsc_store_project_create(store, name, id, err);

	if (st == FSC_EEXIST) {
		fsc_err_clear(err);
		return fsc_store_project_find(store, name, id, err);
	}
	if (st)
		return st;
	audit(store, *id, "project.create", name, "");
	fprintf(stderr, "fleetscope-server: made the project %s\n", name);
	return FSC_OK;
}

static enum fsc_status create(struct fsc_store *store, const struct fsc_config *cfg,
			      struct fsc_err *err)
{
	char text[FSC_TOKEN_TEXT_MAX], subject[32];
	int64_t project, id;
	uint32_t scopes;
	enum fsc_status st;

	if (!cfg->token_name)
		return fsc_err_set(err, FSC_EINVAL, "bad_name", "token create needs --name NAME");
	st = fsc_token_parse_scopes(&scopes, cfg->token_scopes, err);
	if (!st)
		st = project_of(store, cfg->project, &project, err);
	if (!st)
		st = fsc_token_create(store, project, cfg->token_name, scopes, 0, "cli", &id, text,
				      err);
	if (st)
		return st;
	snprintf(subject, sizeof(subject), "%lld", (long long)id);
	audit(store, project, "token.create", subject, cfg->token_name);
	printf("%s\n", text);
	return FSC_OK;
}

static void print_token(const struct fsc_token *t)
{
	char created[32], used[32] = "never";
	const char *name;
	uint32_t bit;

	fsc_clock_iso8601(created, t->created_at_ns);
	if (t->last_used_at_ns)
		fsc_clock_iso8601(used, t->last_used_at_ns);
	printf("%lld\t%s\t", (long long)t->id, t->name);
	for (size_t i = 0, n = 0; (name = fsc_token_scope_name(i, &bit)); i++)
		if (t->scopes & bit)
			printf("%s%s", n++ ? "," : "", name);
	printf("\tcreated %s\tused %s\t%s\n", created, used, t->prefix);
}

static enum fsc_status list(struct fsc_store *store, const struct fsc_config *cfg,
			    struct fsc_err *err)
{
	struct fsc_tokens tokens = { 0 };
	struct fsc_arena arena;
	int64_t project;
	enum fsc_status st = fsc_store_project_find(store, cfg->project, &project, err);

	if (st)
		return st;
	fsc_arena_init(&arena, 16u << 20);
	st = fsc_store_token_list(store, &arena, project, false, &tokens, err);
	for (size_t i = 0; !st && i < tokens.n_items; i++)
		print_token(&tokens.items[i]);
	fsc_arena_fini(&arena);
	return st;
}

static enum fsc_status revoke(struct fsc_store *store, const struct fsc_config *cfg,
			      struct fsc_err *err)
{
	int64_t project, id;
	enum fsc_status st;

	if (cfg->n_args != 2 || !fsc_parse_i64(&id, cfg->args[1], strlen(cfg->args[1])))
		return fsc_err_set(err, FSC_EINVAL, "bad_id",
				   "token revoke needs the ID of one token");
	st = fsc_store_project_find(store, cfg->project, &project, err);
	if (!st)
		st = fsc_store_token_revoke(store, project, id, err);
	if (!st)
		audit(store, project, "token.revoke", cfg->args[1], "");
	return st;
}

int fsc_cli_token(const struct fsc_config *cfg)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_store *store = NULL;
	enum fsc_status st = fsc_server_open_store(&store, cfg, false, &err);

	if (st)
		return fsc_cli_fail(&err);
	if (!strcmp(cfg->args[0], "create"))
		st = create(store, cfg, &err);
	else if (!strcmp(cfg->args[0], "list"))
		st = list(store, cfg, &err);
	else if (!strcmp(cfg->args[0], "revoke"))
		st = revoke(store, cfg, &err);
	else
		st = fsc_err_set(&err, FSC_EINVAL, "bad_verb",
				 "token takes create, list or revoke");
	fsc_store_close(store);
	return st ? fsc_cli_fail(&err) : 0;
}
