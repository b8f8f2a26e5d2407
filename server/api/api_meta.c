/* SPDX-License-Identifier: Apache-2.0 */
/* About the server itself: alive, ready, figures, contract. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/deps.h"
#include "api/handlers.h"
#include "base/clock.h"
#include "base/embed.h"
#include "base/fs.h"
#include "base/num.h"

void fsc_api_server(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_json j = fsc_resp_json(resp, 200);

	fsc_json_obj(&j);
	fsc_json_kstr(&j, "version", FSC_VERSION);
	fsc_json_kstr(&j, "perfetto_origin",
		      app->perfetto_origin && *app->perfetto_origin ? app->perfetto_origin : NULL);
	fsc_json_kbool(&j, "perfetto_ui", app->perfetto_ui != NULL);
	fsc_json_key(&j, "limits");
	fsc_json_obj(&j);
	fsc_json_kuint(&j, "upload_bytes", fsc_ingest_max_bytes(app->ingest));
	fsc_json_obj_end(&j);
	fsc_json_kbool(&j, "demo", app->demo);
	fsc_json_kbool(&j, "login", fsc_auth_required(app->auth));
	fsc_json_obj_end(&j);
}

void fsc_api_contract(struct fsc_req *req, struct fsc_resp *resp)
{
	const struct fsc_embed *e = fsc_api_openapi.n_items ? &fsc_api_openapi.items[0] : NULL;

	(void)req;
	if (!e) {
		fsc_resp_error(resp, 404, "not_built", "the contract is not built in");
		return;
	}
	if (fsc_resp_not_modified(resp, e->data, e->size))
		return;
	resp->content_type = "application/json";
	resp->fixed = e->data;
	resp->fixed_len = e->size;
	resp->ranges = true;
}

/* ---- metrics ---- */

static void gauge(struct fsc_buf *out, const char *type, const char *name, const char *help,
		  double v)
{
	fsc_buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name, help, name, type, name,
		     v);
}

static unsigned count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	if (!d)
		return 0;
	while (readdir(d))
		n++;
	closedir(d);
	return n > 3 ? n - 3 : 0; /* ".", ".." and its own */
}

static double resident_bytes(void)
{
	struct fsc_err err = FSC_ERR_INIT;
	char *text = NULL;
	const char *second;
	size_t n;
	uint64_t pages = 0;

	if (fsc_fs_read_file(&text, &n, "/proc/self/statm", 256, &err))
		return 0;
	second = strchr(text, ' ');
	if (second && !fsc_parse_u64(&pages, second + 1, strcspn(second + 1, " ")))
		pages = 0;
	fsc_free(text);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void write_process(struct fsc_app *app, struct fsc_buf *out)
{
	struct rusage self;

	getrusage(RUSAGE_SELF, &self);
	gauge(out, "counter", "process_cpu_seconds_total",
	      "CPU time of the server, without its indexers.", (double)fsc_clock_cpu_ns() / 1e9);
	gauge(out, "gauge", "process_resident_memory_bytes", "Resident memory.", resident_bytes());
	gauge(out, "gauge", "process_open_fds", "Open file descriptors.", count_fds());
	gauge(out, "gauge", "fleetscope_uptime_seconds", "Time since start.",
	      (double)(fsc_clock_mono_ns() - app->started_ns) / 1e9);
	gauge(out, "gauge", "fleetscope_max_resident_bytes", "Largest resident memory so far.",
	      (double)self.ru_maxrss * 1024.0);
}

/* Of a clock that was set back meanwhile: none. */
static double seconds_since(int64_t at_ns)
{
	int64_t now = fsc_clock_real_ns();

	return now > at_ns ? (double)(now - at_ns) / 1e9 : 0;
}

static void write_store(struct fsc_buf *out, const struct fsc_store_stats *s)
{
	fsc_buf_adds(
		out,
		"# HELP fleetscope_bundles Bundles by state.\n# TYPE fleetscope_bundles gauge\n");
	for (int i = FSC_BUNDLE_QUEUED; i <= FSC_BUNDLE_FAILED; i++)
		fsc_buf_addf(out, "fleetscope_bundles{state=\"%s\"} %lld\n",
			     fsc_bundle_state_name((enum fsc_bundle_state)i),
			     (long long)s->bundles[i]);
	gauge(out, "gauge", "fleetscope_traces", "Traces.", (double)s->traces);
	gauge(out, "gauge", "fleetscope_slices", "Slices of all traces.", (double)s->slices);
	gauge(out, "gauge", "fleetscope_blob_bytes", "Bytes of distinct uploads.",
	      (double)s->blob_bytes);
	gauge(out, "gauge", "fleetscope_segment_bytes", "Bytes of segments.",
	      (double)s->segment_bytes);
	gauge(out, "gauge", "fleetscope_database_bytes", "Bytes of the database.",
	      (double)s->database_bytes);
	gauge(out, "gauge", "fleetscope_jobs_waiting", "Jobs that wait for a worker.",
	      (double)s->jobs_waiting);
	gauge(out, "gauge", "fleetscope_jobs_running", "Jobs that a worker has.",
	      (double)s->jobs_running);
	gauge(out, "gauge", "fleetscope_oldest_job_seconds", "Age of the oldest waiting job.",
	      s->oldest_waiting_at_ns ? seconds_since(s->oldest_waiting_at_ns) : 0);
	gauge(out, "counter", "fleetscope_store_commits_total", "Write transactions.",
	      (double)s->commits);
	gauge(out, "counter", "fleetscope_store_writes_total", "Writes.", (double)s->writes);
	gauge(out, "counter", "fleetscope_store_busy_total",
	      "Writes refused, database held elsewhere.", (double)s->busy);
}

static void write_workers(struct fsc_app *app, struct fsc_buf *out)
{
	struct fsc_worker_stats w = { 0 };
	struct fsc_query_stats q;

	if (app->worker)
		fsc_worker_stats(app->worker, &w);
	fsc_buf_addf(out,
		     "# HELP fleetscope_index_runs_total Ends of indexer runs.\n"
		     "# TYPE fleetscope_index_runs_total counter\n"
		     "fleetscope_index_runs_total{outcome=\"ready\"} %llu\n"
		     "fleetscope_index_runs_total{outcome=\"failed\"} %llu\n"
		     "fleetscope_index_runs_total{outcome=\"retried\"} %llu\n"
		     "fleetscope_index_runs_total{outcome=\"returned\"} %llu\n"
		     "fleetscope_index_runs_total{outcome=\"postponed\"} %llu\n",
		     (unsigned long long)w.ready, (unsigned long long)w.failed,
		     (unsigned long long)w.retried, (unsigned long long)w.returned,
		     (unsigned long long)w.postponed);
	gauge(out, "counter", "fleetscope_index_cpu_seconds_total", "CPU time of indexers.",
	      (double)w.cpu_ns / 1e9);
	fsc_query_stats(app->query, &q);
	gauge(out, "gauge", "fleetscope_segments_open", "Segments kept mapped.", q.open);
	gauge(out, "counter", "fleetscope_segment_cache_hits_total", "Segments found mapped.",
	      (double)q.hits);
	gauge(out, "counter", "fleetscope_segment_cache_misses_total", "Segments opened.",
	      (double)q.misses);
}

static void write_retention(struct fsc_app *app, struct fsc_buf *out)
{
	struct fsc_keeper_stats k;

	fsc_keeper_stats(app->keeper, &k);
	fsc_buf_addf(out,
		     "# HELP fleetscope_retention_bundles_total Bundles that limits took.\n"
		     "# TYPE fleetscope_retention_bundles_total counter\n"
		     "fleetscope_retention_bundles_total{reason=\"age\"} %llu\n"
		     "fleetscope_retention_bundles_total{reason=\"bytes\"} %llu\n",
		     (unsigned long long)k.by_age, (unsigned long long)k.by_bytes);
	gauge(out, "counter", "fleetscope_retention_blobs_total",
	      "Uploads whose bytes alone were let go.", (double)k.blobs);
	gauge(out, "counter", "fleetscope_retention_bytes_total",
	      "Bytes of blobs and segments that limits took.", (double)k.bytes);
	gauge(out, "counter", "fleetscope_retention_rounds_total", "Rounds over all projects.",
	      (double)k.rounds);
	gauge(out, "counter", "fleetscope_retention_failures_total",
	      "Rounds, passes and re-index steps that failed.", (double)k.failures);
	gauge(out, "gauge", "fleetscope_retention_held",
	      "1 while nothing is deleted by age because the clock is not to be trusted.",
	      k.trust != FSC_CLOCK_GOOD);
}

static void write_reindex(struct fsc_app *app, struct fsc_buf *out, const struct fsc_outdated *o)
{
	struct fsc_reindex_stats r;

	fsc_reindex_stats(app->reindex, 0, &r);
	gauge(out, "gauge", "fleetscope_reindex_outdated_traces",
	      "Traces that an older version indexed.", (double)o->traces);
	gauge(out, "gauge", "fleetscope_reindex_not_rebuildable_traces",
	      "Of these, traces whose upload is not kept any more.", (double)o->not_rebuildable);
	gauge(out, "counter", "fleetscope_reindex_queued_bundles_total",
	      "Bundles queued because of their version.", (double)r.queued_bundles);
	gauge(out, "counter", "fleetscope_reindex_done_traces_total",
	      "Traces indexed again because of their version.", (double)r.done_traces);
	gauge(out, "counter", "fleetscope_reindex_failed_traces_total",
	      "Traces whose indexing again failed.", (double)r.failed_traces);
}

void fsc_api_metrics(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_app *app = fsc_api_app(req);
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_store_stats s;
	struct fsc_outdated outdated;

	/* Sums over all projects: for those who run the server, which project "default" stands for. */
	if (!fsc_auth_operator(req) && fsc_auth_project(req) != FSC_PROJECT_DEFAULT) {
		fsc_resp_error(resp, 403, "operator_only",
			       "figures of the whole server are for operators and tokens of the "
			       "project default");
		return;
	}
	if (fsc_store_stats(app->store, &s, &err) ||
	    fsc_store_outdated(app->store, 0, fsc_reindex_versions(app->reindex), &outdated,
			       &err)) {
		fsc_api_fail(req, resp, &err);
		return;
	}
	resp->content_type = "text/plain; version=0.0.4; charset=utf-8";
	fsc_buf_addf(&resp->body,
		     "# HELP fleetscope_build_info Version.\n# TYPE fleetscope_build_info gauge\n"
		     "fleetscope_build_info{version=\"%s\"} 1\n",
		     FSC_VERSION);
	fsc_http_metrics(req->http, &resp->body);
	fsc_uploads_metrics(fsc_api_app(req)->uploads, &resp->body);
	fsc_api_ready_metrics(app, &resp->body);
	write_store(&resp->body, &s);
	write_workers(app, &resp->body);
	fsc_auth_metrics(app->auth, &resp->body);
	write_retention(app, &resp->body);
	write_reindex(app, &resp->body, &outdated);
	write_process(app, &resp->body);
}
