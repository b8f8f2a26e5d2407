/* SPDX-License-Identifier: Apache-2.0 */
/* `backup OUT`, beside a running server, and `restore IN`. */
#include <stdio.h>

#include "base/clock.h"
#include "server/cli.h"
#include "service/backup.h"

static void on_lost(void *ctx, const char *what)
{
	(void)ctx;
	fprintf(stderr, "fleetscope-server: not there to be copied: %s\n", what);
}

static void audit(const struct fsc_config *cfg, const char *action, const char *subject)
{
	const struct fsc_audit row = { .project = FSC_PROJECT_DEFAULT,
				       .actor = "cli",
				       .action = action,
				       .subject = subject,
				       .detail = "",
				       .remote = "" };
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_store *store = NULL;
	enum fsc_status st = fsc_server_open_store(&store, cfg, false, &err);

	if (st == FSC_OK)
		st = fsc_store_audit_put(store, &row, &err);
	if (st != FSC_OK)
		fprintf(stderr, "fleetscope-server: audit row not written: %s\n", err.msg);
	fsc_store_close(store);
}

static int report(const char *what, const char *where, const struct fsc_backup_done *d,
		  int64_t took_ns)
{
	double s = (double)took_ns / 1e9;

	printf("fleetscope-server: %s %s: %llu blobs and %llu segments of %llu bytes, of which "
	       "%llu files of %llu "
	       "bytes are new; database %llu bytes; %.1f s\n",
	       what, where, (unsigned long long)d->blobs, (unsigned long long)d->segments,
	       (unsigned long long)d->bytes, (unsigned long long)d->fresh_files,
	       (unsigned long long)d->fresh_bytes, (unsigned long long)d->database_bytes, s);
	if (!d->lost)
		return 0;
	fprintf(stderr, "fleetscope-server: %llu files were not there to be copied, see above\n",
		(unsigned long long)d->lost);
	return 1;
}

int fsc_cli_backup(const struct fsc_config *cfg)
{
	const struct fsc_backup_opts o = {
		.data = cfg->data, .out = cfg->args[0], .link = cfg->hard_link, .lost = on_lost
	};
	int64_t start = fsc_clock_mono_ns();
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_backup_done done;

	if (fsc_backup(&o, &done, &err))
		return fsc_cli_fail(&err);
	audit(cfg, "backup", cfg->args[0]);
	return report("backup in", cfg->args[0], &done, fsc_clock_mono_ns() - start);
}

int fsc_cli_restore(const struct fsc_config *cfg)
{
	const struct fsc_backup_opts o = {
		.data = cfg->data, .out = cfg->args[0], .link = cfg->hard_link, .lost = on_lost
	};
	int64_t start = fsc_clock_mono_ns();
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_backup_done done;

	if (fsc_restore(&o, &done, &err))
		return fsc_cli_fail(&err);
	audit(cfg, "restore", cfg->args[0]);
	return report("restored into", cfg->data, &done, fsc_clock_mono_ns() - start);
}
