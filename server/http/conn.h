/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections and their deadlines. libmicrohttpd closes only silent connections; one that drips a byte now
 * and then stays for ever. So a sweep of our own looks at what each connection is doing since when, and
 * shuts its socket down. Any thread.
 */
#ifndef FSC_HTTP_CONN_H
#define FSC_HTTP_CONN_H

#include <stdatomic.h>
#include <stdint.h>

#include "http/http.h"
#include "http/stream.h"

enum fsc_conn_state {
	FSC_CONN_IDLE,	  /* between requests */
	FSC_CONN_HEAD,	  /* reading a request head */
	FSC_CONN_BODY,	  /* reading a request body */
	FSC_CONN_RUNNING, /* a handler works */
	FSC_CONN_SENDING, /* writing the response */
	FSC_CONN_PIECES,  /* writing a large response, bytes says how far */
};

struct fsc_conns;
struct fsc_conn {
	struct fsc_conn *prev, *next; /* guarded by the list */
	struct fsc_stream *stream;    /* ref, guarded by the list */
	atomic_bool *stop;	      /* of the running request, guarded by the list */
	int fd;
	atomic_int state;
	_Atomic int64_t since_ns; /* of state */
	_Atomic uint64_t bytes;	  /* body received, or response length to send */
	/* of the sweep */
	uint64_t mark_bytes;
	int64_t mark_ns;
	bool cut;
};

fsc_nodiscard struct fsc_conns *fsc_conns_new(const struct fsc_http_config *cfg);
void fsc_conns_free(struct fsc_conns *c); /* joins the sweep; all connections must be gone */
fsc_nodiscard struct fsc_conn *fsc_conns_add(struct fsc_conns *c, int fd);
void fsc_conns_remove(struct fsc_conns *cs,
		      struct fsc_conn *c); /* before the descriptor is closed */
void fsc_conn_enter(struct fsc_conn *conn, enum fsc_conn_state st);
/* NULL takes it away. The connection holds a reference of its own. */
void fsc_conns_set_stream(struct fsc_conns *cs, struct fsc_conn *c, struct fsc_stream *s);
/* The flag to raise when the running handler takes too long, its client left or the server stops; NULL takes
 * it away. */
void fsc_conns_set_stop(struct fsc_conns *cs, struct fsc_conn *c, atomic_bool *stop);
/* From now on idle connections are closed; with hard, streams are cancelled too. */
void fsc_conns_drain(struct fsc_conns *c, bool hard);
void fsc_conns_count(struct fsc_conns *c, unsigned *open, uint64_t *cut);

#endif
