/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines. */
#include "http/conn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"

#define SWEEP_MS 250
#define SEC_NS INT64_C(1000000000)
#define SEND_GRACE_NS \
	(60 * SEC_NS) /* a whole response may take this and its length at the minimum rate */
/* A client may close its side and still read. Whoever waits for a quick answer gets it. */
#define GONE_AFTER_NS SEC_NS

/* Above this part of the limit, whoever waits longest with nothing to show makes room for others. */
#define CROWDED(cfg) ((cfg)->max_connections / 4 * 3)
#define CROWDED_AFTER_NS SEC_NS

struct fsc_conns {
	const struct fsc_http_config *cfg; /* borrowed */
	pthread_mutex_t mu;		   /* guards everything below */
	pthread_cond_t wake;
	pthread_t thread;
	struct fsc_conn *head, *tail; /* newest and oldest */
	unsigned open;
	uint64_t n_cut;
	bool stop, draining, hard;
};

/* Says why before the socket is shut; nothing else writes to it in these states. */
static void say_timeout(int fd)
{
	static const char msg[] =
		"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

	(void)!send(fd, msg, sizeof(msg) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool body_too_slow(const struct fsc_http_config *cfg, const struct fsc_conn *c, int64_t age)
{
	int64_t grace = (int64_t)cfg->body_grace_s * SEC_NS;
	uint64_t want = (uint64_t)(age / SEC_NS) * cfg->body_min_bytes_s;

	return age > grace && atomic_load(&c->bytes) < want;
}

/* What the client does not take must not wait for it in the kernel: the connection is reset. */
static void forget_unsent(int fd)
{
	const struct linger none = { .l_onoff = 1 };

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

/* True when less than the least rate went out during a whole window. */
static bool window_missed(const struct fsc_http_config *cfg, struct fsc_conn *c, uint64_t sent,
			  int64_t now)
{
	uint64_t want = (uint64_t)cfg->send_window_s * cfg->body_min_bytes_s;

	if (c->mark_ns < atomic_load(&c->since_ns) || sent - c->mark_bytes >= want) {
		c->mark_bytes = sent;
		c->mark_ns = now;
		return false;
	}
	return now - c->mark_ns > (int64_t)cfg->send_window_s * SEC_NS;
}

static bool stream_too_slow(const struct fsc_http_config *cfg, struct fsc_conn *c, int64_t now)
{
	bool full;
	uint64_t pulled = fsc_stream_pulled(c->stream, &full);

	if (!full) /* it is the producer that is waited for */
		c->mark_ns = 0;
	return window_missed(cfg, c, pulled, now);
}

/* The rest of a body will never come: its end is the next thing to be read. The poll of libmicrohttpd is edge
 * triggered and does not always notice one that came together with bytes. */
static bool client_left(const struct fsc_conn *c)
{
	char next;
	ssize_t n = recv(c->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* NULL when the connection may go on, else what it is cut for. */
static const char *overdue(struct fsc_conns *cs, struct fsc_conn *c, int64_t now)
{
	const struct fsc_http_config *cfg = cs->cfg;
	int64_t age = now - atomic_load(&c->since_ns);
	int64_t head = (int64_t)cfg->header_timeout_s * SEC_NS;
	uint64_t send_s;

	switch ((enum fsc_conn_state)atomic_load(&c->state)) {
	case FSC_CONN_IDLE:
		if (cs->draining)
			return "drain";
		return age > head + (int64_t)cfg->idle_timeout_s * SEC_NS ? "idle" : NULL;
	case FSC_CONN_HEAD:
		return age > head ? "head" : NULL;
	case FSC_CONN_BODY:
		if (client_left(c))
			return "gone";
		return body_too_slow(cfg, c, age) ? "body" : NULL;
	case FSC_CONN_RUNNING:
		return NULL;
	case FSC_CONN_SENDING:
		if (c->stream)
			return stream_too_slow(cfg, c, now) ? "stream" : NULL;
		send_s = atomic_load(&c->bytes) /
			 (cfg->body_min_bytes_s ? cfg->body_min_bytes_s : 1);
		return age > SEND_GRACE_NS + (int64_t)send_s * SEC_NS ? "send" : NULL;
	case FSC_CONN_PIECES:
		return window_missed(cfg, c, atomic_load(&c->bytes), now) ? "send" : NULL;
	}
	return NULL;
}

/* Lock held. Raises the flag when nobody waits for what the handler makes. */
static void look_at_running(const struct fsc_conns *cs, const struct fsc_conn *c, int64_t now)
{
	struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };
	int64_t age = now - atomic_load(&c->since_ns);
	const char *why = NULL;

	if (cs->hard)
		why = "server stops";
	else if (age > (int64_t)cs->cfg->query_timeout_s * SEC_NS)
		why = "time is up";
	else if (age > GONE_AFTER_NS && poll(&p, 1, 0) == 1 &&
		 (p.revents & (POLLRDHUP | POLLHUP | POLLERR)))
		why = "client is gone";
	if (why && !atomic_exchange(c->stop, true))
		fsc_log(FSC_LOG_INFO, "http", "msg=\"running request told to stop\" why=\"%s\"",
			why);
}

/* Lock held. */
static void cut(struct fsc_conns *cs, struct fsc_conn *c, const char *why)
{
	int st = atomic_load(&c->state);

	bool left = !strcmp(why, "gone");

	if ((st == FSC_CONN_HEAD || st == FSC_CONN_BODY) && !left)
		say_timeout(c->fd);
	else if (st == FSC_CONN_SENDING || st == FSC_CONN_PIECES)
		forget_unsent(c->fd);
	shutdown(c->fd, SHUT_RDWR);
	if (c->stream)
		fsc_stream_cancel(c->stream);
	c->cut = true;
	if (!left && strcmp(why, "drain") != 0 && strcmp(why, "idle") != 0) {
		cs->n_cut++;
		fsc_log(FSC_LOG_INFO, "http", "msg=\"connection cut off\" why=%s", why);
	}
}

/*
 * Lock held. Connections are a fixed number: thousands that never finish a head would keep everybody else out until
 * their deadline. So when there are many, those that wait longest in st go before their time.
 */
static unsigned make_room(struct fsc_conns *cs, enum fsc_conn_state st, unsigned n, int64_t now)
{
	for (struct fsc_conn *c = cs->tail; c && n; c = c->prev) {
		if (c->cut || atomic_load(&c->state) != (int)st ||
		    now - atomic_load(&c->since_ns) < CROWDED_AFTER_NS)
			continue;
		cut(cs, c, "crowd");
		n--;
	}
	return n;
}

/* Lock held. */
static void sweep(struct fsc_conns *cs)
{
	unsigned going = 0;

	int64_t now = fsc_clock_mono_ns();

	for (struct fsc_conn *c = cs->head; c; c = c->next) {
		const char *why = c->cut ? NULL : overdue(cs, c, now);
		int st = atomic_load(&c->state);

		going += c->cut;
		if (c->stop && st == FSC_CONN_RUNNING)
			look_at_running(cs, c, now);
		if (cs->hard && c->stream)
			fsc_stream_cancel(c->stream);
		if (!why)
			continue;
		cut(cs, c, why);
		going++;
	}
	if (cs->open - going <= CROWDED(cs->cfg))
		return;
	unsigned n = cs->open - going - CROWDED(cs->cfg);
	n = make_room(cs, FSC_CONN_HEAD, n, now);
	make_room(cs, FSC_CONN_IDLE, n, now);
}

static void *run(void *arg)
{
	struct fsc_conns *cs = arg;

	pthread_setname_np(pthread_self(), "http-sweep");
	pthread_mutex_lock(&cs->mu);
	while (!cs->stop) {
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		ts.tv_nsec += SWEEP_MS * 1000000L;
		if (ts.tv_nsec >= SEC_NS) {
			ts.tv_nsec -= SEC_NS;
			ts.tv_sec++;
		}
		pthread_cond_timedwait(&cs->wake, &cs->mu, &ts);
		sweep(cs);
	}
	pthread_mutex_unlock(&cs->mu);
	return NULL;
}

struct fsc_conns *fsc_conns_new(const struct fsc_http_config *cfg)
{
	struct fsc_conns *cs = fsc_xalloc(1, sizeof(*cs));
	pthread_condattr_t attr;

	cs->cfg = cfg;
	pthread_mutex_init(&cs->mu, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&cs->wake, &attr);
	pthread_condattr_destroy(&attr);
	FSC_ASSERT(!pthread_create(&cs->thread, NULL, run, cs));
	return cs;
}

void fsc_conns_free(struct fsc_conns *cs)
{
	if (!cs)
		return;
	pthread_mutex_lock(&cs->mu);
	cs->stop = true;
	pthread_cond_signal(&cs->wake);
	pthread_mutex_unlock(&cs->mu);
	pthread_join(cs->thread, NULL);
	FSC_ASSERT(!cs->head);
	pthread_cond_destroy(&cs->wake);
	pthread_mutex_destroy(&cs->mu);
	fsc_free(cs);
}

struct fsc_conn *fsc_conns_add(struct fsc_conns *cs, int fd)
{
	struct fsc_conn *c = fsc_xalloc(1, sizeof(*c));

	c->fd = fd;
	fsc_conn_enter(c, FSC_CONN_HEAD);
	pthread_mutex_lock(&cs->mu);
	c->next = cs->head;
	if (c->next)
		c->next->prev = c;
	else
		cs->tail = c;
	cs->head = c;
	cs->open++;
	pthread_mutex_unlock(&cs->mu);
	return c;
}

void fsc_conns_remove(struct fsc_conns *cs, struct fsc_conn *c)
{
	pthread_mutex_lock(&cs->mu);
	if (c->prev)
		c->prev->next = c->next;
	else
		cs->head = c->next;
	if (c->next)
		c->next->prev = c->prev;
	else
		cs->tail = c->prev;
	cs->open--;
	pthread_mutex_unlock(&cs->mu);
	fsc_stream_unref(c->stream);
	fsc_free(c);
}

void fsc_conn_enter(struct fsc_conn *c, enum fsc_conn_state st)
{
	atomic_store(&c->since_ns, fsc_clock_mono_ns());
	atomic_store(&c->bytes, 0);
	atomic_store(&c->state, (int)st);
}

void fsc_conns_set_stream(struct fsc_conns *cs, struct fsc_conn *c, struct fsc_stream *s)
{
	struct fsc_stream *old;

	pthread_mutex_lock(&cs->mu);
	old = c->stream;
	c->stream = s ? fsc_stream_ref(s) : NULL;
	c->mark_ns = 0;
	pthread_mutex_unlock(&cs->mu);
	fsc_stream_unref(old);
}

void fsc_conns_set_stop(struct fsc_conns *cs, struct fsc_conn *c, atomic_bool *stop)
{
	pthread_mutex_lock(&cs->mu);
	c->stop = stop;
	pthread_mutex_unlock(&cs->mu);
}

void fsc_conns_drain(struct fsc_conns *cs, bool hard)
{
	pthread_mutex_lock(&cs->mu);
	cs->draining = true;
	cs->hard = hard;
	pthread_cond_signal(&cs->wake);
	pthread_mutex_unlock(&cs->mu);
}

void fsc_conns_count(struct fsc_conns *cs, unsigned *open, uint64_t *cut)
{
	pthread_mutex_lock(&cs->mu);
	*open = cs->open;
	*cut = cs->n_cut;
	pthread_mutex_unlock(&cs->mu);
}
