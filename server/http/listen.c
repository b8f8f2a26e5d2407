/* SPDX-License-Identifier: Apache-2.0 */
/* Start and stop: the socket, libmicrohttpd with the options that harden it, threads. */
#include "http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/server.h"

#define BACKLOG 1024
#define CONNECTION_MEMORY (128 * FSC_KIB) /* uploads cost a quarter less CPU than with 32 KiB */
/* The kernel takes no more than this of what it cannot send yet, so that the pace of a client shows. */
#define UNSENT_IN_KERNEL (256 * FSC_KIB)
#define WORKER_QUEUE 1024
#define SLOW_QUEUE 16

static enum fsc_status resolve(const struct fsc_http_config *cfg, struct sockaddr_storage *addr,
			       socklen_t *len, struct fsc_err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	const char *host = strcmp(cfg->host, "localhost") != 0 ? cfg->host : "127.0.0.1";
	struct addrinfo *res = NULL;
	char port[8];
	int rc;

	snprintf(port, sizeof(port), "%u", cfg->port);
	rc = getaddrinfo(host, port, &hints, &res);
	if (rc)
		return fsc_err_set(err, FSC_EINVAL, "bad_listen", "cannot listen on %s: %s", host,
				   gai_strerror(rc));
	memcpy(addr, res->ai_addr, res->ai_addrlen);
	*len = res->ai_addrlen;
	freeaddrinfo(res);
	return FSC_OK;
}

static enum fsc_status open_socket(struct fsc_http *h, struct fsc_err *err)
{
	struct sockaddr_storage addr = { 0 };
	socklen_t len = 0;
	int one = 1, low = UNSENT_IN_KERNEL;
	enum fsc_status st = resolve(&h->cfg, &addr, &len, err);

	if (st)
		return st;
	h->listen_fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (h->listen_fd < 0)
		return fsc_err_sys(err, errno, "socket");
	(void)setsockopt(h->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* Accepted sockets inherit it. */
	(void)setsockopt(h->listen_fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low, sizeof(low));
	if (addr.ss_family == AF_INET6)
		(void)setsockopt(h->listen_fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(h->listen_fd, (struct sockaddr *)&addr, len) || listen(h->listen_fd, BACKLOG))
		return fsc_err_sys(err, errno, "cannot listen on %s port %u", h->cfg.host,
				   h->cfg.port);
	if (getsockname(h->listen_fd, (struct sockaddr *)&addr, &len))
		return fsc_err_sys(err, errno, "getsockname");
	h->port = ntohs(addr.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&addr)->sin6_port
						   : ((struct sockaddr_in *)&addr)->sin_port);
	snprintf(h->authority, sizeof(h->authority), strchr(h->cfg.host, ':') ? "[%s]:%u" : "%s:%u",
		 h->cfg.host, h->port);
	return FSC_OK;
}

static void on_connection(void *cls, struct MHD_Connection *mc, void **ctx,
			  enum MHD_ConnectionNotificationCode code)
{
	struct fsc_http *h = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(mc, MHD_CONNECTION_INFO_CONNECTION_FD);

		*ctx = fsc_conns_add(h->conns, info ? info->connect_fd : -1);
	} else if (*ctx) {
		fsc_conns_remove(h->conns, *ctx);
		*ctx = NULL;
	}
}

static void on_mhd_log(void *cls, const char *fmt, va_list ap) fsc_printf(2, 0);
static void on_mhd_log(void *cls, const char *fmt, va_list ap)
{
	char text[200], quoted[260];

	(void)cls;
	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	fsc_log(FSC_LOG_DEBUG, "mhd", "msg=%s", fsc_log_quote(quoted, sizeof(quoted), text));
}

static enum fsc_status start_daemon(struct fsc_http *h, struct fsc_err *err)
{
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
			 MHD_USE_ERROR_LOG;

	if (strchr(h->cfg.host, ':'))
		flags |= MHD_USE_IPv6;
	h->daemon =
		MHD_start_daemon(flags, 0, NULL, NULL, fsc_exchange_step, h,
				 MHD_OPTION_EXTERNAL_LOGGER, on_mhd_log, NULL,
				 MHD_OPTION_LISTEN_SOCKET, h->listen_fd,
				 MHD_OPTION_THREAD_POOL_SIZE, h->cfg.io_threads,
				 MHD_OPTION_CONNECTION_LIMIT, h->cfg.max_connections,
				 MHD_OPTION_PER_IP_CONNECTION_LIMIT, h->cfg.max_per_ip,
				 MHD_OPTION_CONNECTION_TIMEOUT, h->cfg.idle_timeout_s,
				 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
				 MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_SIGPIPE_HANDLED_BY_APP,
				 1, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
				 MHD_OPTION_URI_LOG_CALLBACK, fsc_exchange_begin, h,
				 MHD_OPTION_NOTIFY_COMPLETED, fsc_exchange_end, h, MHD_OPTION_END);
	if (!h->daemon)
		return fsc_err_set(err, FSC_EIO, "http_start", "the HTTP server does not start");
	return FSC_OK;
}

static void free_all(struct fsc_http *h)
{
	/* Threads first, so that no suspended connection is left; then the daemon, whose own threads may still
	 * submit to the pools until it is stopped. */
	fsc_pool_stop(h->workers);
	fsc_pool_stop(h->uploads);
	fsc_pool_stop(h->slow);
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	fsc_pool_free(h->workers);
	fsc_pool_free(h->uploads);
	fsc_pool_free(h->slow);
	if (h->listen_fd >= 0)
		close(h->listen_fd);
	fsc_conns_free(h->conns);
	fsc_stats_free(h->stats);
	fsc_free(h);
}

enum fsc_status fsc_http_start(struct fsc_http **out, const struct fsc_http_config *cfg,
			       struct fsc_err *err)
{
	struct fsc_http *h = fsc_xalloc(1, sizeof(*h));
	enum fsc_status st;

	h->cfg = *cfg;
	h->listen_fd = -1;
	signal(SIGPIPE, SIG_IGN);
	h->conns = fsc_conns_new(&h->cfg);
	h->stats = fsc_stats_new(&h->cfg);
	st = open_socket(h, err);
	if (!st) {
		h->workers = fsc_pool_new("http-work", cfg->workers, WORKER_QUEUE);
		h->uploads = fsc_pool_new("http-upload", cfg->workers, WORKER_QUEUE);
		h->slow = fsc_pool_new("http-slow", cfg->slow_workers, SLOW_QUEUE);
		st = start_daemon(h, err);
	}
	if (st) {
		free_all(h);
		return st;
	}
	*out = h;
	return FSC_OK;
}

const char *fsc_http_authority(const struct fsc_http *h)
{
	return h->authority;
}

uint16_t fsc_http_port(const struct fsc_http *h)
{
	return h->port;
}

static void wait_idle(struct fsc_http *h, unsigned ms)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	int64_t end = fsc_clock_mono_ns() + (int64_t)ms * 1000000;

	while (atomic_load(&h->active) && fsc_clock_mono_ns() < end)
		nanosleep(&nap, NULL);
}

void fsc_http_stop(struct fsc_http *h, unsigned grace_ms)
{
	MHD_socket fd;

	if (!h)
		return;
	atomic_store(&h->stopping, true);
	fd = MHD_quiesce_daemon(h->daemon);
	if (fd != MHD_INVALID_SOCKET) {
		close(fd);
		h->listen_fd = -1;
	}
	fsc_conns_drain(h->conns, false);
	wait_idle(h, grace_ms);
	if (atomic_load(&h->active))
		fsc_log(FSC_LOG_WARN, "http", "msg=\"cutting requests that did not end\" n=%u",
			atomic_load(&h->active));
	atomic_store(&h->cutting, true);
	fsc_conns_drain(h->conns, true);
	free_all(h);
}

void fsc_http_metrics(struct fsc_http *h, struct fsc_buf *out)
{
	unsigned open;
	uint64_t cut;

	fsc_conns_count(h->conns, &open, &cut);
	fsc_stats_write(h->stats, out);
	fsc_buf_addf(
		out,
		"# HELP fleetscope_http_connections Open connections.\n"
		"# TYPE fleetscope_http_connections gauge\n"
		"fleetscope_http_connections %u\n"
		"# HELP fleetscope_http_connections_cut_total Connections cut off by a deadline.\n"
		"# TYPE fleetscope_http_connections_cut_total counter\n"
		"fleetscope_http_connections_cut_total %llu\n"
		"# HELP fleetscope_http_active_requests Requests between first and last byte.\n"
		"# TYPE fleetscope_http_active_requests gauge\n"
		"fleetscope_http_active_requests %u\n"
		"# HELP fleetscope_http_queued_requests Requests waiting for a worker.\n"
		"# TYPE fleetscope_http_queued_requests gauge\n"
		"fleetscope_http_queued_requests %u\n",
		open, (unsigned long long)cut, atomic_load(&h->active),
		fsc_pool_queued(h->workers));
}
