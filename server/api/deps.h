/* SPDX-License-Identifier: Apache-2.0 */
/* What handlers work with, and the helpers they share. Filled by main at start-up, then read only. */
#ifndef FSC_API_DEPS_H
#define FSC_API_DEPS_H

#include <stdatomic.h>

#include "auth/auth.h"
#include "http/resp.h"
#include "jobs/worker.h"
#include "service/analyses.h"
#include "service/ingest.h"
#include "service/query.h"
#include "service/reindex.h"
#include "service/retention.h"
#include "service/removal.h"
#include "service/uploads.h"

#define FSC_API_ARENA_MAX (64u << 20)

struct fsc_app {
	struct fsc_store *store;
	struct fsc_blobs *blobs;
	struct fsc_ingest *ingest;
	struct fsc_uploads *uploads;
	struct fsc_worker *worker;
	struct fsc_query *query;
	struct fsc_analyses *analyses;
	struct fsc_reindex *reindex;
	struct fsc_keeper *keeper;
	struct fsc_auth *auth;
	struct fsc_http *http; /* main only; handlers have req->http */
	const char *perfetto_origin;
	struct fsc_folder *perfetto_ui; /* files of an own Perfetto UI, or NULL; then: */
	struct fsc_http *perfetto_http; /* main only */
	const char *perfetto_url; /* its address for browsers; NULL: our host name and the port */
	uint16_t perfetto_port;
	bool demo;
	int64_t started_ns; /* monotonic */
	/* enum fsc_status, looked at every few seconds */
	atomic_int health; /* of the store */
	atomic_int disk;   /* FSC_EFULL: uploads are refused */
};

/* The route table and the hooks of http/http.h. max_upload bounds POST /bundles. */
struct fsc_api_table;
fsc_nodiscard struct fsc_api_table *fsc_api_table_new(uint64_t max_upload);
void fsc_api_table_free(struct fsc_api_table *t);
void fsc_api_configure(const struct fsc_api_table *t, struct fsc_app *app,
		       struct fsc_http_config *cfg);

/* The second listener, that of an own Perfetto UI: its files, and traces by ticket (api_perfetto.c). */
void fsc_api_configure_perfetto(struct fsc_app *app, struct fsc_http_config *cfg);

static inline struct fsc_app *fsc_api_app(const struct fsc_req *req)
{
	return fsc_req_app(req);
}

/* The one mapping of errors to HTTP (errors.c). Usable as fsc_http_config.fail. */
void fsc_api_fail(struct fsc_req *req, struct fsc_resp *resp, const struct fsc_err *err);

/* When a bundle or trace of this id was deleted in the caller's project: fills resp with 410 "deleted", saying
 * when, why and by whom, and returns true. */
bool fsc_api_gone(struct fsc_req *req, struct fsc_resp *resp, bool is_bundle, int64_t id);

/* One trace of the request's path: its row and, when with_segment, its segment. False: resp is filled (an
 * error, or 304 since the client has this version of this answer). Release with fsc_api_trace_close. */
struct fsc_api_trace {
	struct fsc_arena arena;
	struct fsc_trace_row row;
	struct fsc_seg *seg; /* ref of a view that ends with the request */
	const struct fsc_seg_info *info;
	struct fsc_req *req;
	struct fsc_resp *resp;
};
/* As fsc_api_trace_open without a segment, but never 304: for what changes without indexing. */
bool fsc_api_trace_find(struct fsc_api_trace *t, struct fsc_req *req, struct fsc_resp *resp);
bool fsc_api_trace_open(struct fsc_api_trace *t, struct fsc_req *req, struct fsc_resp *resp,
			bool with_segment);
void fsc_api_trace_close(struct fsc_api_trace *t);
/* The change that the body of a PATCH asks for. False: resp is filled with the error. */
bool fsc_api_trace_apply(struct fsc_api_trace *t);
/* Window t0..t1 of the request, the whole trace by default; FSC_EINVAL when empty. */
fsc_nodiscard enum fsc_status fsc_api_window(const struct fsc_req *req,
					     const struct fsc_api_trace *t, int64_t *t0,
					     int64_t *t1, struct fsc_err *err);
/* "1,2,5" of parameter `tracks` into the arena, each at most once; all tracks (of the segment) when absent and
 * not required. FSC_EINVAL: "bad_tracks". */
fsc_nodiscard enum fsc_status fsc_api_track_list(const struct fsc_req *req, struct fsc_api_trace *t,
						 bool required, uint32_t max, uint32_t **out,
						 uint32_t *n, struct fsc_err *err);

/* What /readyz says, for /metrics (api_ready.c). */
void fsc_api_ready_metrics(struct fsc_app *app, struct fsc_buf *out);

/* "key": value, left out when NULL or "" / negative. */
void fsc_api_opt_str(struct fsc_json *j, const char *key, const char *s);
void fsc_api_opt_int(struct fsc_json *j, const char *key, int64_t v);
/* The same, but null instead of left out. */
void fsc_api_null_str(struct fsc_json *j, const char *key, const char *s);
void fsc_api_null_int(struct fsc_json *j, const char *key, int64_t v);
void fsc_api_time(struct fsc_json *j, const char *key,
		  int64_t real_ns);			 /* ISO 8601; left out when 0 */
void fsc_api_scopes(struct fsc_json *j, uint32_t perms); /* "scopes": [...] */
void fsc_api_losses(struct fsc_json *j, const struct fsc_loss_rows *rows);
struct fsc_api_progress {
	int64_t started_at_ns, until_ns; /* until: its end, or now */
	int64_t done, total, events;
	const char *member; /* NULL: none */
};
/* "progress": {...}, left out before the work has begun */
void fsc_api_progress(struct fsc_json *j, const struct fsc_api_progress *p);
struct fsc_api_error_fields {
	const char *code, *message, *file;
	int64_t offset;
};
void fsc_api_error_obj(struct fsc_json *j,
		       const struct fsc_api_error_fields *e); /* "error": {...}, if code */
/* Body of a control call as text that json_loadb may read; FSC_EINVAL when empty. */
struct json_t;
fsc_nodiscard enum fsc_status fsc_api_body(const struct fsc_req *req, struct json_t **out,
					   struct fsc_err *err);

/* Streams an export as a download; e goes with the answer. */
struct fsc_exporting;
void fsc_api_send_export(struct fsc_resp *resp, struct fsc_exporting *e, const char *name);

/* ---- shared by api_bundles.c and api_uploads.c ---- */
/* Repr-Digest (RFC 9530): a list of `algorithm=:base64:`; only sha-256 is looked at. FSC_EINVAL "bad_digest". */
fsc_nodiscard enum fsc_status fsc_api_digest(const struct fsc_req *req, uint8_t sha256[32],
					     bool *given, struct fsc_err *err);
/* Project, metadata and key of an upload; bytes and digest are left to the caller. */
fsc_nodiscard enum fsc_status fsc_api_upload_meta(const struct fsc_req *req,
						  struct fsc_upload_begin *b, struct fsc_err *err);
/* 202 with the bundle that an upload became. */
void fsc_api_upload_answer(struct fsc_resp *resp, const struct fsc_upload_done *done);

/* An audit row; a failure to write it is logged. subject may be "". */
void fsc_api_audit(const struct fsc_req *req, const char *action, const char *subject,
		   const char *detail);

#endif
