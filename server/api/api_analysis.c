/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses of one trace. */
#include <string.h>

#include "api/deps.h"
#include "api/handlers.h"

static struct fsc_analysis_key key_of(const struct fsc_req *req, const struct fsc_api_trace *t)
{
	const char *steps = fsc_req_param(req, "steps");

	return (struct fsc_analysis_key){ .trace = t->row.id,
					  .version = t->row.indexed_at_ns,
					  .seg = t->seg,
					  .steps = steps && *steps ? steps : NULL };
}

/* The object that `fill` writes about the analysis of the asked steps. */
static void answer(struct fsc_req *req, struct fsc_resp *resp,
		   enum fsc_status (*fill)(struct fsc_analyses *, const struct fsc_analysis_key *,
					   struct fsc_json *, struct fsc_err *))
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_analysis_key key;
	struct fsc_api_trace t;
	struct fsc_json j;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	key = key_of(req, &t);
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	if (fill(fsc_api_app(req)->analyses, &key, &j, &err))
		fsc_api_fail(req, resp, &err);
	else
		fsc_json_obj_end(&j);
	fsc_api_trace_close(&t);
}

void fsc_api_analysis(struct fsc_req *req, struct fsc_resp *resp)
{
	answer(req, resp, fsc_analyses_summary);
}

static enum fsc_status kernels_query(const struct fsc_req *req, struct fsc_kernels_query *q,
				     struct fsc_err *err)
{
	const char *order = fsc_req_param(req, "order");
	const char *sort = fsc_req_param(req, "sort");
	int64_t limit, offset;
	enum fsc_status st = fsc_req_i64(&limit, req, "limit", 100, 1, 500, err);

	if (!st)
		st = fsc_req_i64(&offset, req, "cursor", 0, 0, UINT32_MAX, err);
	if (st)
		return st;
	if (order && *order && strcmp(order, "asc") != 0 && strcmp(order, "desc") != 0)
		return fsc_err_set(err, FSC_EINVAL, "bad_parameter",
				   "parameter order is asc or desc");
	q->q = fsc_req_param(req, "q");
	q->sort = sort && *sort ? sort : NULL;
	q->ascending = order && !strcmp(order, "asc");
	q->limit = (uint32_t)limit;
	q->offset = (uint32_t)offset;
	return FSC_OK;
}

void fsc_api_kernels(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_kernels_query q = { 0 };
	struct fsc_analysis_key key;
	struct fsc_api_trace t;
	struct fsc_json j;

	if (!fsc_api_trace_open(&t, req, resp, true))
		return;
	key = key_of(req, &t);
	j = fsc_resp_json(resp, 200);
	fsc_json_obj(&j);
	if (kernels_query(req, &q, &err) ||
	    fsc_analyses_kernels(fsc_api_app(req)->analyses, &key, &q, &j, &err))
		fsc_api_fail(req, resp, &err);
	else
		fsc_json_obj_end(&j);
	fsc_api_trace_close(&t);
}

void fsc_api_steps(struct fsc_req *req, struct fsc_resp *resp)
{
	answer(req, resp, fsc_analyses_steps);
}
