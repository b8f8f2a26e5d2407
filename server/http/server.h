/* SPDX-License-Identifier: Apache-2.0 */
/* The running server, shared by listen.c and exchange.c only. */
#ifndef FSC_HTTP_SERVER_H
#define FSC_HTTP_SERVER_H

#include <microhttpd.h>
#include <stdatomic.h>

#include "http/conn.h"
#include "http/pool.h"
#include "http/stats.h"

struct fsc_http {
	struct fsc_http_config cfg;
	struct MHD_Daemon *daemon;
	int listen_fd;
	uint16_t port;
	char authority[300];
	struct fsc_conns *conns;
	struct fsc_stats *stats;
	struct fsc_pool *workers, *uploads, *slow;
	_Atomic uint64_t unsent; /* bytes of answers that wait for their clients */
	atomic_uint active;	 /* requests between their first line and their end */
	atomic_bool stopping;	 /* no new connections, each answer closes its own */
	atomic_bool cutting;	 /* time is up: what has not begun to run gets 503 */
};

/* Callbacks of libmicrohttpd (exchange.c). */
void *fsc_exchange_begin(void *cls, const char *uri, struct MHD_Connection *mc);
enum MHD_Result fsc_exchange_step(void *cls, struct MHD_Connection *mc, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *n, void **con_cls);
void fsc_exchange_end(void *cls, struct MHD_Connection *mc, void **con_cls,
		      enum MHD_RequestTerminationCode why);

#endif
