/* SPDX-License-Identifier: Apache-2.0 */
/* fleetscope-server: entry point. */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "server/cli.h"

int fsc_cli_fail(const struct fsc_err *err)
{
	fprintf(stderr, "fleetscope-server: %s (%s", err->msg, err->code);
	if (err->file[0])
		fprintf(stderr, ", in %s", err->file);
	if (err->offset >= 0)
		fprintf(stderr, ", at byte %lld", (long long)err->offset);
	fputs(")\n", stderr);
	return 1;
}

void fsc_cli_listening(const struct fsc_server *s)
{
	if (s->first_token[0])
		printf("fleetscope-server: first admin token, shown once: %s\n", s->first_token);
	if (s->app.perfetto_http)
		printf("fleetscope-server: Perfetto UI at http://%s/\n",
		       fsc_http_authority(s->app.perfetto_http));
	printf("fleetscope-server: listening on http://%s/\n", fsc_http_authority(s->app.http));
	fflush(stdout);
}

static int serve(const struct fsc_config *cfg)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_server s;
	enum fsc_status st;

	if (fsc_server_start(&s, cfg, &err))
		return fsc_cli_fail(&err);
	fsc_cli_listening(&s);
	if (cfg->demo && fsc_server_demo(&s, &err)) {
		fsc_cli_fail(&err);
		fsc_server_stop(&s);
		return 1;
	}
	st = fsc_server_wait(&s, &err);
	fsc_server_stop(&s);
	return st ? fsc_cli_fail(&err) : 0;
}

static int run(const struct fsc_config *cfg)
{
	struct fsc_err err = FSC_ERR_INIT;
	sigset_t stop;

	umask(077);
	fsc_log_setup(2, (enum fsc_log_level)cfg->log_level);
	if (cfg->log_file && fsc_log_open(cfg->log_file, &err))
		return fsc_cli_fail(&err);
	/* Blocked before any thread starts: the main thread of a server waits for them by sigtimedwait. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	if (fsc_server_takes_hangup(cfg))
		sigaddset(&stop, SIGHUP);
	/* The other verbs wait for none, and are to end when they are told to. */
	if (cfg->verb == FSC_VERB_SERVE || cfg->verb == FSC_VERB_OPEN)
		sigprocmask(SIG_BLOCK, &stop, NULL);
	/* A file size limit is met like a full disk: by the error of the write. */
	signal(SIGXFSZ, SIG_IGN);
	switch (cfg->verb) {
	case FSC_VERB_OPEN:
		return fsc_cli_open(cfg);
	case FSC_VERB_TOKEN:
		return fsc_cli_token(cfg);
	case FSC_VERB_BACKUP:
		return fsc_cli_backup(cfg);
	case FSC_VERB_RESTORE:
		return fsc_cli_restore(cfg);
	case FSC_VERB_VERIFY:
		return fsc_cli_verify(cfg);
	case FSC_VERB_SERVE:
		break;
	}
	return serve(cfg);
}

int main(int argc, char **argv)
{
	struct fsc_config cfg;
	enum fsc_status st = fsc_config_load(&cfg, argc, argv);
	int rc;

	if (cfg.check_config)
		rc = fsc_cli_config(&cfg);
	else
		rc = st ? fsc_cli_mistakes(&cfg) : run(&cfg);
	fsc_config_fini(&cfg);
	return rc;
}
