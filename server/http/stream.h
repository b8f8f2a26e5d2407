/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounded pipe between a producer on a worker thread, which blocks while the client is slow, and the I/O
 * thread, which must never block: an empty pipe suspends the connection, the next write wakes it. Shared by
 * the two; fsc_stream_unref from each. Any thread.
 */
#ifndef FSC_HTTP_STREAM_H
#define FSC_HTTP_STREAM_H

#include <sys/types.h>

#include "http/resp.h"

/* Wakes the suspended reader; called with the stream's lock held, must not block. */
struct fsc_stream_hooks {
	void *ctx;
	void (*suspend)(void *ctx);
	void (*resume)(void *ctx);
};

fsc_nodiscard struct fsc_stream *fsc_stream_new(const struct fsc_stream_hooks *hooks);
struct fsc_stream *fsc_stream_ref(struct fsc_stream *s);
void fsc_stream_unref(struct fsc_stream *s);
/* Reader: > 0 bytes copied; 0 nothing yet (the connection was suspended); -1 end; -2 cut. */
ssize_t fsc_stream_read(struct fsc_stream *s, void *buf, size_t cap);
/* Writer is through; ok false cuts the body short. */
void fsc_stream_finish(struct fsc_stream *s, bool ok);
/* Client gone or server stops: writes fail from now on, a suspended reader wakes. */
void fsc_stream_cancel(struct fsc_stream *s);
/* Bytes handed to the reader, and whether it is the reader who is waited for: the pipe is full, or nothing more will
 * come into it. */
uint64_t fsc_stream_pulled(struct fsc_stream *s, bool *full);

#endif
