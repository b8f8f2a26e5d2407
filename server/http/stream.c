/* SPDX-License-Identifier: Apache-2.0 */
/* Pipe of a streamed response. */
#include "http/stream.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

#define RING_BYTES (256u << 10)

struct fsc_stream {
	pthread_mutex_t mu; /* guards everything below */
	pthread_cond_t room;
	struct fsc_stream_hooks hooks;
	char *ring; /* owned */
	size_t first, len;
	uint64_t pulled;
	unsigned refs;
	bool done, ok, canceled, suspended;
};

struct fsc_stream *fsc_stream_new(const struct fsc_stream_hooks *hooks)
{
	struct fsc_stream *s = fsc_xalloc(1, sizeof(*s));

	pthread_mutex_init(&s->mu, NULL);
	pthread_cond_init(&s->room, NULL);
	s->hooks = *hooks;
	s->ring = fsc_xalloc(RING_BYTES, 1);
	s->refs = 1;
	return s;
}

struct fsc_stream *fsc_stream_ref(struct fsc_stream *s)
{
	pthread_mutex_lock(&s->mu);
	s->refs++;
	pthread_mutex_unlock(&s->mu);
	return s;
}

void fsc_stream_unref(struct fsc_stream *s)
{
	bool last;

	if (!s)
		return;
	pthread_mutex_lock(&s->mu);
	last = --s->refs == 0;
	pthread_mutex_unlock(&s->mu);
	if (!last)
		return;
	pthread_cond_destroy(&s->room);
	pthread_mutex_destroy(&s->mu);
	fsc_free(s->ring);
	fsc_free(s);
}

/* Lock held. */
static void wake(struct fsc_stream *s)
{
	if (!s->suspended)
		return;
	s->suspended = false;
	s->hooks.resume(s->hooks.ctx);
}

enum fsc_status fsc_stream_write(struct fsc_stream *s, const void *p, size_t n)
{
	const char *src = p;
	bool canceled;

	pthread_mutex_lock(&s->mu);
	while (n && !s->canceled) {
		size_t at = (s->first + s->len) % RING_BYTES;
		size_t room = RING_BYTES - s->len;
		size_t run = RING_BYTES - at < room ? RING_BYTES - at : room;

		if (!room) {
			wake(s);
			pthread_cond_wait(&s->room, &s->mu);
			continue;
		}
		run = run < n ? run : n;
		memcpy(s->ring + at, src, run);
		s->len += run;
		src += run;
		n -= run;
	}
	/* Waking for every few bytes would cost a turn of the event loop each. */
	if (s->len >= RING_BYTES / 4)
		wake(s);
	canceled = s->canceled;
	pthread_mutex_unlock(&s->mu);
	return canceled ? FSC_ECANCELED : FSC_OK;
}

ssize_t fsc_stream_read(struct fsc_stream *s, void *buf, size_t cap)
{
	ssize_t got;

	pthread_mutex_lock(&s->mu);
	if (s->canceled) {
		got = -2;
	} else if (s->len) {
		size_t run = RING_BYTES - s->first < s->len ? RING_BYTES - s->first : s->len;

		run = run < cap ? run : cap;
		memcpy(buf, s->ring + s->first, run);
		s->first = (s->first + run) % RING_BYTES;
		s->len -= run;
		s->pulled += run;
		pthread_cond_signal(&s->room);
		got = (ssize_t)run;
	} else if (s->done) {
		got = s->ok ? -1 : -2;
	} else {
		s->suspended = true;
		s->hooks.suspend(s->hooks.ctx);
		got = 0;
	}
	pthread_mutex_unlock(&s->mu);
	return got;
}

void fsc_stream_finish(struct fsc_stream *s, bool ok)
{
	pthread_mutex_lock(&s->mu);
	s->done = true;
	s->ok = ok;
	wake(s);
	pthread_mutex_unlock(&s->mu);
}

void fsc_stream_cancel(struct fsc_stream *s)
{
	pthread_mutex_lock(&s->mu);
	s->canceled = true;
	pthread_cond_broadcast(&s->room);
	wake(s);
	pthread_mutex_unlock(&s->mu);
}

uint64_t fsc_stream_pulled(struct fsc_stream *s, bool *full)
{
	uint64_t n;

	pthread_mutex_lock(&s->mu);
	n = s->pulled;
	*full = s->len == RING_BYTES || (s->done && s->len);
	pthread_mutex_unlock(&s->mu);
	return n;
}
