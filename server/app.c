/* SPDX-License-Identifier: Apache-2.0 */
/* Wiring. Start in the order of dependence, stop in the reverse. */
#include "server/app.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "auth/proxy.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "demo/demo.h"
#include "service/backup.h"
#include "store/blob.h"
#include "ui/ui.h"

#define SEC_NS INT64_C(1000000000)
#define SWEEP_OLDER_NS (3600 * SEC_NS)
#define UPLOADS_EVERY_NS (60 * SEC_NS)
#define TICK_MS 5000
#define GRACE_MS 10000
#define STOP_MAX_S 30
#define MAX_PER_IP 512

enum fsc_status fsc_server_open_store(struct fsc_store **out, const struct fsc_config *cfg,
				      bool exclusive, struct fsc_err *err)
{
	const struct fsc_store_opts opts = { .exclusive = exclusive };
	enum fsc_status st = fsc_backup_check_data(cfg->data, err);
	char *path;

	if (st == FSC_OK)
		st = fsc_fs_mkdirs(cfg->data, 0700, err);

	if (st)
		return st;
	path = fsc_xasprintf("sqlite:%s/fleetscope.db", cfg->data);
	st = fsc_store_open(out, path, &opts, err);
	fsc_free(path);
	return st;
}

static void sweep(struct fsc_server *s, bool fresh)
{
	struct fsc_sweep_done done = { 0 };
	struct fsc_err err = FSC_ERR_INIT;
	char msg[300];

	if (fsc_ingest_sweep(s->app.ingest, SWEEP_OLDER_NS, fresh, &done, &err))
		fsc_log(FSC_LOG_WARN, "server", "msg=\"sweep failed\" code=%s error=%s", err.code,
			fsc_log_quote(msg, sizeof(msg), err.msg));
	else if (done.temps + done.blobs + done.segments)
		fsc_log(FSC_LOG_INFO, "server",
			"msg=\"removed leftovers\" temps=%llu blobs=%llu segments=%llu bytes=%llu",
			(unsigned long long)done.temps, (unsigned long long)done.blobs,
			(unsigned long long)done.segments, (unsigned long long)done.bytes);
}

static void sweep_uploads(struct fsc_server *s)
{
	struct fsc_err err = FSC_ERR_INIT;
	char msg[300];

	if (fsc_uploads_sweep(s->app.uploads, &err))
		fsc_log(FSC_LOG_WARN, "server", "msg=\"sweep of uploads failed\" code=%s error=%s",
			err.code, fsc_log_quote(msg, sizeof(msg), err.msg));
}

static void audit_token(struct fsc_server *s, const char *actor, int64_t id, const char *name)
{
	char subject[32], msg[300];
	struct fsc_audit row = { .project = FSC_PROJECT_DEFAULT,
				 .actor = actor,
				 .action = "token.create",
				 .subject = subject,
				 .detail = name };
	struct fsc_err err = FSC_ERR_INIT;

	snprintf(subject, sizeof(subject), "%lld", (long long)id);
	if (fsc_store_audit_put(s->app.store, &row, &err))
		fsc_log(FSC_LOG_ERROR, "server", "msg=\"audit row not written\" error=%s",
			fsc_log_quote(msg, sizeof(msg), err.msg));
}

/* Tokens: a given one is adopted, otherwise the first is made and shown once. */
static enum fsc_status first_token(struct fsc_server *s, struct fsc_err *err)
{
	const char *path = s->cfg->admin_token_file;
	char *given = NULL;
	int64_t n = 0, id;
	size_t len;
	enum fsc_status st;

	if (path) {
		st = fsc_fs_read_file(&given, &len, path, 4096, err);
		if (!st) {
			given[strcspn(given, " \t\r\n")] = '\0';
			st = fsc_token_adopt(s->app.store, FSC_PROJECT_DEFAULT, "admin token file",
					     FSC_PERM_ADMIN, given, &id, err);
			if (!st)
				audit_token(s, "config", id, "admin token file");
		}
		fsc_free(given);
		return st == FSC_EEXIST ? FSC_OK : st;
	}
	if (!fsc_auth_required(s->app.auth))
		return FSC_OK;
	st = fsc_store_token_count(s->app.store, &n, err);
	if (st || n)
		return st;
	st = fsc_token_create(s->app.store, FSC_PROJECT_DEFAULT, "first admin token",
			      FSC_PERM_ADMIN, 0, "first start", &id, s->first_token, err);
	if (!st)
		audit_token(s, "first start", id, "first admin token");
	return st;
}

static enum fsc_status open_data(struct fsc_server *s, struct fsc_err *err)
{
	const struct fsc_blobs_opts files = { .min_free_bytes = s->cfg->min_free };
	struct fsc_ingest_opts in = { 0 };
	enum fsc_status st = fsc_server_open_store(&s->app.store, s->cfg, true, err);

	if (!st)
		st = fsc_blobs_open(&s->app.blobs, s->cfg->data, &files, err);
	if (st)
		return st;
	in.store = s->app.store;
	in.blobs = s->app.blobs;
	in.max_bytes = s->cfg->max_upload;
	s->app.query = fsc_query_new(
		&(struct fsc_query_opts){ .store = s->app.store, .blobs = s->app.blobs });
	s->app.analyses = fsc_analyses_new();
	{
		const struct fsc_worker_opts w = { .store = s->app.store,
						   .blobs = s->app.blobs,
						   .indexer = s->cfg->indexer,
						   .n_threads = s->cfg->workers };

		/* Leftovers of a dead process go before anything new can be confused with them. */
		s->app.ingest = fsc_ingest_new(&in);
		sweep(s, true);
		fsc_ingest_free(s->app.ingest);
		s->app.ingest = NULL;
		st = fsc_worker_start(&s->app.worker, &w, err);
	}
	if (st)
		return st;
	in.queued = fsc_worker_wake;
	in.queued_ctx = s->app.worker;
	s->app.ingest = fsc_ingest_new(&in);
	s->app.reindex = fsc_reindex_new(
		&(struct fsc_reindex_opts){ .store = s->app.store, .ingest = s->app.ingest });
	s->app.keeper = fsc_keeper_new(&(struct fsc_keeper_opts){
		.store = s->app.store, .ingest = s->app.ingest, .reindex = s->app.reindex });
	s->app.uploads = fsc_uploads_new(&(struct fsc_uploads_opts){
		.store = in.store, .blobs = in.blobs, .ingest = s->app.ingest });
	return fsc_uploads_load(s->app.uploads, err);
}

static enum fsc_status listen_http(struct fsc_server *s, struct fsc_err *err)
{
	const struct fsc_config *c = s->cfg;
	struct fsc_http_config h = FSC_HTTP_CONFIG_INIT;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	h.host = c->address.host;
	h.port = c->address.port;
	h.io_threads = cpus > 8 ? 8 : cpus < 2 ? 2 : (unsigned)cpus;
	/* Everyone behind a proxy shares its address, so this only stops one client from taking all. */
	h.max_per_ip = fsc_http_host_is_loopback(c->address.host) ? 0 : MAX_PER_IP;
	h.header_timeout_s = c->header_timeout;
	h.body_grace_s = c->body_grace;
	h.query_timeout_s = c->query_timeout;
	h.allow_hosts = c->allow_host.items;
	h.n_allow_hosts = c->allow_host.n_items;
	h.fallback = fsc_ui_serve;
	s->table = fsc_api_table_new(c->max_upload);
	fsc_api_configure(s->table, &s->app, &h);
	return fsc_http_start(&s->app.http, &h, err);
}

static void raise_fd_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &r);
	}
}

static enum fsc_status start_auth(struct fsc_server *s, struct fsc_err *err)
{
	const struct fsc_config *c = s->cfg;
	bool loopback = fsc_http_host_is_loopback(c->address.host);
	struct fsc_proxy_group groups[FSC_CONFIG_MAX_GROUPS];
	const struct fsc_proxy_opts proxy = { .peers = c->trusted_proxy.items,
					      .n_peers = c->trusted_proxy.n_items,
					      .user_header = c->proxy_user_header,
					      .groups_header = c->proxy_groups_header,
					      .groups = groups,
					      .n_groups = c->n_groups };
	struct fsc_auth_opts auth = { .store = s->app.store, .rate_limit = c->rate_limit };
	enum fsc_status st;

	for (size_t i = 0; i < c->n_groups; i++)
		groups[i] = (struct fsc_proxy_group){ c->groups[i].name, c->groups[i].value };
	st = fsc_proxy_new(&s->proxy, &proxy, s->app.store, err);
	if (st)
		return st;
	auth.proxy = s->proxy;
	/* A name of ours or a trusted proxy means a proxy in front: then loopback says nothing of who asks. */
	auth.open = c->no_tokens && loopback;
	auth.required = c->require_tokens || fsc_proxy_configured(s->proxy) || !loopback ||
			(c->allow_host.n_items && !auth.open);
	return fsc_auth_new(&s->app.auth, &auth, err);
}

enum fsc_status fsc_server_start(struct fsc_server *s, const struct fsc_config *cfg,
				 struct fsc_err *err)
{
	enum fsc_status st;

	memset(s, 0, sizeof(*s));
	s->cfg = cfg;
	s->app.perfetto_origin = cfg->perfetto_origin;
	s->app.demo = cfg->demo;
	s->app.started_ns = fsc_clock_mono_ns();
	raise_fd_limit();
	st = open_data(s, err);
	if (!st)
		st = start_auth(s, err);
	if (!st)
		st = first_token(s, err);
	if (!st)
		st = fsc_server_perfetto_start(s, err);
	if (!st)
		st = listen_http(s, err);
	if (!st)
		st = fsc_keeper_start(s->app.keeper, err);
	if (st)
		fsc_server_stop(s);
	return st;
}

bool fsc_server_takes_hangup(const struct fsc_config *cfg)
{
	return cfg->log_file || (cfg->verb == FSC_VERB_SERVE && !isatty(0));
}

static void reopen_log(const struct fsc_config *cfg)
{
	struct fsc_err err = FSC_ERR_INIT;
	char msg[300];

	if (cfg->log_file && fsc_log_open(cfg->log_file, &err))
		fsc_log(FSC_LOG_ERROR, "server", "msg=\"log file not opened anew\" error=%s",
			fsc_log_quote(msg, sizeof(msg), err.msg));
	else
		fsc_log(FSC_LOG_INFO, "server", "msg=hangup log=%s",
			cfg->log_file ? "reopened" : "stderr");
}

/* What /readyz and /metrics say of store and disk. */
static enum fsc_status look_after(struct fsc_server *s, struct fsc_err *health)
{
	enum fsc_status st = fsc_store_health(s->app.store, health);

	atomic_store(&s->app.health, (int)st);
	atomic_store(&s->app.disk, (int)fsc_blobs_admit(s->app.blobs, 0, NULL));
	return st;
}

bool fsc_server_tick(struct fsc_server *s, unsigned ms)
{
	const struct timespec wait = { .tv_sec = ms / 1000,
				       .tv_nsec = (long)(ms % 1000) * 1000000 };
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (fsc_server_takes_hangup(s->cfg))
		sigaddset(&set, SIGHUP);
	sig = sigtimedwait(&set, NULL, &wait);
	if (sig == SIGHUP) {
		reopen_log(s->cfg);
		return false;
	}
	if (sig > 0) {
		fsc_log(FSC_LOG_INFO, "server", "msg=stopping signal=%d", sig);
		return true;
	}
	fsc_auth_flush(s->app.auth);
	return false;
}

enum fsc_status fsc_server_wait(struct fsc_server *s, struct fsc_err *err)
{
	int64_t swept = fsc_clock_mono_ns(), uploads_swept = 0;
	struct fsc_err health = FSC_ERR_INIT;

	(void)look_after(s, &health); /* so that the first answer is true */
	while (!fsc_server_tick(s, TICK_MS)) {
		enum fsc_status st;

		fsc_err_clear(&health);
		st = look_after(s, &health);
		if (st && !strcmp(health.code, "store_broken")) {
			*err = health;
			return health.status;
		}
		if (fsc_clock_mono_ns() - uploads_swept >= UPLOADS_EVERY_NS) {
			sweep_uploads(s);
			uploads_swept = fsc_clock_mono_ns();
		}
		if (fsc_clock_mono_ns() - swept < SWEEP_OLDER_NS)
			continue;
		sweep(s, false);
		swept = fsc_clock_mono_ns();
	}
	return FSC_OK;
}

void fsc_server_stop(struct fsc_server *s)
{
	/* Whatever does not end by then is ended: all that was acknowledged is durable already. */
	alarm(STOP_MAX_S);
	if (s->app.http)
		fsc_http_stop(s->app.http, GRACE_MS);
	fsc_server_perfetto_stop(s);
	fsc_keeper_free(s->app.keeper);
	fsc_reindex_free(s->app.reindex);
	fsc_worker_stop(s->app.worker);
	if (s->app.auth)
		fsc_auth_flush(s->app.auth);
	fsc_auth_free(s->app.auth);
	fsc_proxy_free(s->proxy);
	fsc_analyses_free(s->app.analyses);
	fsc_query_free(s->app.query);
	fsc_uploads_free(s->app.uploads);
	fsc_ingest_free(s->app.ingest);
	fsc_blobs_close(s->app.blobs);
	fsc_store_close(s->app.store);
	fsc_api_table_free(s->table);
	alarm(0);
}

enum fsc_status fsc_server_ingest_fd(struct fsc_server *s, int fd, const char *name,
				     struct fsc_upload_done *done, struct fsc_err *err)
{
	struct fsc_upload_begin b = FSC_UPLOAD_BEGIN_INIT;
	struct fsc_upload *u = NULL;
	char *piece = fsc_xalloc(1, 256 << 10);
	ssize_t n = 0;
	enum fsc_status st;

	b.name = name;
	st = fsc_ingest_begin(&u, s->app.ingest, &b, err);
	while (!st && (n = read(fd, piece, 256 << 10)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		st = n < 0 ? fsc_err_sys(err, errno, "reading %s", name)
			   : fsc_ingest_write(u, piece, (size_t)n, err);
	}
	fsc_free(piece);
	if (!st)
		return fsc_ingest_finish(u, done, err);
	fsc_ingest_abort(u);
	return st;
}

enum fsc_status fsc_server_demo(struct fsc_server *s, struct fsc_err *err)
{
	struct fsc_store_stats stats;
	struct fsc_upload_done done;
	int64_t n = 0;
	int fd = -1;
	enum fsc_status st = fsc_store_stats(s->app.store, &stats, err);

	if (st)
		return st;
	for (int i = FSC_BUNDLE_QUEUED; i <= FSC_BUNDLE_FAILED; i++)
		n += stats.bundles[i];
	if (n)
		return FSC_OK;
	st = fsc_blobs_scratch(s->app.blobs, &fd, err);
	if (!st)
		st = fsc_demo_bundle(fd, NULL, err);
	if (!st && lseek(fd, 0, SEEK_SET) != 0)
		st = fsc_err_sys(err, errno, "demo");
	if (!st)
		st = fsc_server_ingest_fd(s, fd, "demo.tar.zst", &done, err);
	if (fd >= 0)
		close(fd);
	return st;
}
