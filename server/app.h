/* SPDX-License-Identifier: Apache-2.0 */
/* The whole server put together and taken apart. One thread, main's. */
#ifndef FSC_SERVER_APP_H
#define FSC_SERVER_APP_H

#include "api/deps.h"
#include "server/config.h"

struct fsc_server {
	const struct fsc_config *cfg; /* borrowed */
	struct fsc_app app;
	struct fsc_api_table *table; /* owned */
	struct fsc_proxy *proxy;     /* owned */
	struct fsc_config_address perfetto_at;
	char first_token[FSC_TOKEN_TEXT_MAX]; /* made at this start, to be shown once; or "" */
};

/* Opens the data folder, starts the workers and listens; on failure everything is taken down again. */
fsc_nodiscard enum fsc_status fsc_server_start(struct fsc_server *s, const struct fsc_config *cfg,
					       struct fsc_err *err);
/* Serves until SIGINT or SIGTERM (which the caller has blocked), doing the housekeeping: FSC_OK. An error when
 * the store lost a write to the disk ("store_broken"): stop, and end with a failure, so that whatever watches
 * over the server starts it again. */
fsc_nodiscard enum fsc_status fsc_server_wait(struct fsc_server *s, struct fsc_err *err);
/* One round of waiting, at most ms; true when a signal asks to stop. */
bool fsc_server_tick(struct fsc_server *s, unsigned ms);
/* A server that nobody holds by a terminal takes SIGHUP as "open the log file anew"; the caller then blocks it. */
bool fsc_server_takes_hangup(const struct fsc_config *cfg);
void fsc_server_stop(struct fsc_server *s);

/* Stores a file as a new bundle. *done as ingest says. */
fsc_nodiscard enum fsc_status fsc_server_ingest_fd(struct fsc_server *s, int fd, const char *name,
						   struct fsc_upload_done *done,
						   struct fsc_err *err);
/* The listener of an own Perfetto UI, when the configuration names one (perfetto_ui.c). */
fsc_nodiscard enum fsc_status fsc_server_perfetto_start(struct fsc_server *s, struct fsc_err *err);
void fsc_server_perfetto_stop(struct fsc_server *s);
/* Puts the demo capture in when there is no bundle yet. */
fsc_nodiscard enum fsc_status fsc_server_demo(struct fsc_server *s, struct fsc_err *err);
/* Opens the store of a data folder for a command beside a running server. */
fsc_nodiscard enum fsc_status fsc_server_open_store(struct fsc_store **out,
						    const struct fsc_config *cfg, bool exclusive,
						    struct fsc_err *err);

#endif
