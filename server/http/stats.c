/* SPDX-License-Identifier: Apache-2.0 */
/* Request statistics in Prometheus text format. */
#include "http/stats.h"

#include <stdatomic.h>

#include "base/alloc.h"

/* Every status there is has a place, so that none is counted as another; 0: ended without an answer. */
#define FIRST_STATUS 100
#define N_STATUS 501

static const struct {
	int64_t ns;
	const char *le;
} buckets[] = {
	{ 500000, "0.0005" },  { 1000000, "0.001" },  { 2500000, "0.0025" }, { 5000000, "0.005" },
	{ 10000000, "0.01" },  { 25000000, "0.025" }, { 50000000, "0.05" },  { 100000000, "0.1" },
	{ 250000000, "0.25" }, { 500000000, "0.5" },  { 1000000000, "1" },   { 2500000000, "2.5" },
	{ 10000000000, "10" },
};
#define N_BUCKETS FSC_ARRAY_LEN(buckets)

struct route_stats {
	_Atomic uint64_t count[N_STATUS];
	_Atomic uint64_t latency[N_BUCKETS + 1];
	_Atomic uint64_t sum_ns;
};

struct fsc_stats {
	const struct fsc_http_config *cfg; /* borrowed */
	struct route_stats *routes;	   /* owned; last: no route */
	_Atomic uint64_t bytes_in, bytes_out;
};

struct fsc_stats *fsc_stats_new(const struct fsc_http_config *cfg)
{
	struct fsc_stats *s = fsc_xalloc(1, sizeof(*s));

	s->cfg = cfg;
	s->routes = fsc_xalloc(cfg->n_routes + 1, sizeof(*s->routes));
	return s;
}

void fsc_stats_free(struct fsc_stats *s)
{
	if (!s)
		return;
	fsc_free(s->routes);
	fsc_free(s);
}

void fsc_stats_add(struct fsc_stats *s, const struct fsc_req *req, int status, uint64_t bytes_in,
		   uint64_t bytes_out, int64_t ns)
{
	size_t idx = req->route ? (size_t)(req->route - s->cfg->routes) : s->cfg->n_routes;
	struct route_stats *r = &s->routes[idx];
	size_t i = 0, b = 0;

	if (status >= FIRST_STATUS && status < FIRST_STATUS + N_STATUS - 1)
		i = (size_t)(status - FIRST_STATUS) + 1;
	while (b < N_BUCKETS && ns > buckets[b].ns)
		b++;
	atomic_fetch_add(&r->count[i], 1);
	atomic_fetch_add(&r->latency[b], 1);
	atomic_fetch_add(&r->sum_ns, (uint64_t)ns);
	atomic_fetch_add(&s->bytes_in, bytes_in);
	atomic_fetch_add(&s->bytes_out, bytes_out);
}

static void labels(const struct fsc_stats *s, size_t i, const char **method, const char **path)
{
	bool other = i == s->cfg->n_routes;

	*method = other ? "-" : s->cfg->routes[i].method;
	*path = other ? "other" : s->cfg->routes[i].path;
}

static void write_counts(struct fsc_stats *s, struct fsc_buf *out)
{
	const char *method, *path;

	fsc_buf_adds(out, "# HELP fleetscope_http_requests_total Requests answered.\n"
			  "# TYPE fleetscope_http_requests_total counter\n");
	for (size_t i = 0; i <= s->cfg->n_routes; i++) {
		labels(s, i, &method, &path);
		for (size_t k = 0; k < N_STATUS; k++) {
			uint64_t n = atomic_load(&s->routes[i].count[k]);

			if (n)
				fsc_buf_addf(
					out,
					"fleetscope_http_requests_total{method=\"%s\",route=\"%s\","
					"status=\"%d\"} %llu\n",
					method, path, k ? (int)k - 1 + FIRST_STATUS : 0,
					(unsigned long long)n);
		}
	}
}

static void write_latency(struct fsc_stats *s, size_t i, struct fsc_buf *out)
{
	const char *method, *path;
	unsigned long long sum = 0;
	uint64_t sum_ns = atomic_load(&s->routes[i].sum_ns);

	labels(s, i, &method, &path);
	for (size_t b = 0; b <= N_BUCKETS; b++) {
		sum += atomic_load(&s->routes[i].latency[b]);
		fsc_buf_addf(out,
			     "fleetscope_http_request_seconds_bucket{method=\"%s\",route=\"%s\",le="
			     "\"%s\"} %llu\n",
			     method, path, b < N_BUCKETS ? buckets[b].le : "+Inf", sum);
	}
	fsc_buf_addf(
		out,
		"fleetscope_http_request_seconds_sum{method=\"%s\",route=\"%s\"} %llu.%09llu\n",
		method, path, (unsigned long long)(sum_ns / 1000000000u),
		(unsigned long long)(sum_ns % 1000000000u));
	fsc_buf_addf(out,
		     "fleetscope_http_request_seconds_count{method=\"%s\",route=\"%s\"} %llu\n",
		     method, path, sum);
}

void fsc_stats_write(struct fsc_stats *s, struct fsc_buf *out)
{
	write_counts(s, out);
	fsc_buf_adds(out,
		     "# HELP fleetscope_http_request_seconds Time from request line to last byte.\n"
		     "# TYPE fleetscope_http_request_seconds histogram\n");
	for (size_t i = 0; i <= s->cfg->n_routes; i++) {
		uint64_t n = 0;

		for (size_t k = 0; k < N_STATUS; k++)
			n += atomic_load(&s->routes[i].count[k]);
		if (n)
			write_latency(s, i, out);
	}
	fsc_buf_addf(out,
		     "# HELP fleetscope_http_received_bytes_total Request body bytes.\n"
		     "# TYPE fleetscope_http_received_bytes_total counter\n"
		     "fleetscope_http_received_bytes_total %llu\n"
		     "# HELP fleetscope_http_sent_bytes_total Response body bytes.\n"
		     "# TYPE fleetscope_http_sent_bytes_total counter\n"
		     "fleetscope_http_sent_bytes_total %llu\n",
		     (unsigned long long)atomic_load(&s->bytes_in),
		     (unsigned long long)atomic_load(&s->bytes_out));
}
