/* SPDX-License-Identifier: Apache-2.0 */
/* `open FILE`: from a file to its page in one command. Serves until it is interrupted. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/cli.h"

#define POLL_MS 100

static void show_progress(const struct fsc_bundle *b, bool tty)
{
	if (tty && b->state == FSC_BUNDLE_INDEXING)
		fprintf(stderr, "\r%s %s %lld events ", b->stage ? b->stage : "",
			b->member ? b->member : "", (long long)b->events);
}

/* Waits until the bundle is ready or failed; FSC_ECANCELED when interrupted. */
static enum fsc_status wait_ready(struct fsc_server *s, int64_t id, struct fsc_err *err)
{
	bool tty = isatty(2);

	for (;;) {
		struct fsc_arena arena;
		struct fsc_bundle b;
		enum fsc_status st;

		fsc_arena_init(&arena, 1u << 20);
		st = fsc_store_bundle_get(s->app.store, &arena, FSC_PROJECT_DEFAULT, id, &b, err);
		if (!st)
			show_progress(&b, tty);
		if (!st && b.state == FSC_BUNDLE_FAILED) {
			st = fsc_err_set(err, FSC_EPARSE, b.err_code, "%s",
					 b.err_message ? b.err_message : "the file cannot be read");
			fsc_err_at(err, b.err_file, b.err_offset);
		}
		if (tty && (st || b.state == FSC_BUNDLE_READY))
			fputs("\r\033[K", stderr);
		if (st || b.state == FSC_BUNDLE_READY) {
			fsc_arena_fini(&arena);
			return st;
		}
		fsc_arena_fini(&arena);
		if (fsc_server_tick(s, POLL_MS))
			return fsc_err_set(err, FSC_ECANCELED, NULL, "interrupted");
	}
}

/* The page of the only trace, else the list. */
static enum fsc_status page_of(struct fsc_server *s, int64_t id, char *url, size_t cap,
			       struct fsc_err *err)
{
	struct fsc_trace_refs refs;
	struct fsc_arena arena;
	enum fsc_status st;

	fsc_arena_init(&arena, 16u << 20);
	st = fsc_store_bundle_traces(s->app.store, &arena, id, &refs, err);
	if (!st && refs.n_items == 1)
		snprintf(url, cap, "http://%s/traces/%lld", fsc_http_authority(s->app.http),
			 (long long)refs.items[0].id);
	else if (!st)
		snprintf(url, cap, "http://%s/", fsc_http_authority(s->app.http));
	fsc_arena_fini(&arena);
	return st;
}

static void start_browser(const char *url)
{
	const char *x = getenv("DISPLAY"), *w = getenv("WAYLAND_DISPLAY");
	sigset_t none;

	if (!(x && *x) && !(w && *w))
		return;
	signal(SIGCHLD, SIG_DFL);
	if (fork() != 0)
		return;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execlp("xdg-open", "xdg-open", url, (char *)NULL);
	_exit(127);
}

static enum fsc_status open_file(struct fsc_server *s, int fd, const char *name, char *url,
				 size_t cap, struct fsc_err *err)
{
	struct fsc_upload_done done;
	enum fsc_status st = fsc_server_ingest_fd(s, fd, name, &done, err);

	if (!st && done.duplicate && done.state == FSC_BUNDLE_FAILED)
		st = fsc_ingest_reindex(s->app.ingest, FSC_PROJECT_DEFAULT, done.id, err);
	if (!st)
		st = wait_ready(s, done.id, err);
	return st ? st : page_of(s, done.id, url, cap, err);
}

int fsc_cli_open(const struct fsc_config *given)
{
	struct fsc_config cfg = *given;
	const char *slash = strrchr(cfg.args[0], '/');
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_server s;
	char url[400];
	int fd, rc = 0;

	if (cfg.from[FSC_OPT_listen].source == FSC_FROM_DEFAULT)
		cfg.address.port = 0;
	fd = open(cfg.args[0], O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fsc_err_sys(&err, errno, "%s", cfg.args[0]);
		return fsc_cli_fail(&err);
	}
	if (fsc_server_start(&s, &cfg, &err)) {
		close(fd);
		return fsc_cli_fail(&err);
	}
	if (open_file(&s, fd, slash ? slash + 1 : cfg.args[0], url, sizeof(url), &err)) {
		rc = fsc_cli_fail(&err);
	} else {
		fsc_cli_listening(&s);
		printf("fleetscope-server: page %s\n", url);
		fflush(stdout);
		if (!cfg.no_browser)
			start_browser(url);
		if (fsc_server_wait(&s, &err))
			rc = fsc_cli_fail(&err);
	}
	close(fd);
	fsc_server_stop(&s);
	return rc;
}
