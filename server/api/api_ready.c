/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alive and ready. Ready means that it can answer: a full disk or workers that wait take uploads or indexing away, and
 * are told as reasons, but must not take the whole server out of a load balancer. Asked without a token, so reasons
 * have codes and no paths; the log has the rest.
 */
#include <stdio.h>

#include "api/deps.h"
#include "api/handlers.h"

struct reason {
	const char *check, *message;
	bool ok, fatal;
	char code[FSC_ERR_CODE_MAX];
};
#define N_REASONS 3

static void look(struct fsc_app *app, struct reason r[N_REASONS])
{
	enum fsc_status store = (enum fsc_status)atomic_load(&app->health);
	enum fsc_status disk = (enum fsc_status)atomic_load(&app->disk);
	struct fsc_err why = FSC_ERR_INIT;
	bool waiting = app->worker && fsc_worker_trouble(app->worker, &why);

	r[0] = (struct reason){ "store", "the database cannot be read or written", !store, true,
				"" };
	r[1] = (struct reason){ "disk", "too little space is free: uploads are refused", !disk,
				false, "" };
	r[2] = (struct reason){ "workers", "indexing waits until the cause is gone", !waiting,
				false, "" };
	snprintf(r[0].code, sizeof(r[0].code), "%s", fsc_status_name(store));
	snprintf(r[1].code, sizeof(r[1].code), "%s",
		 disk == FSC_EFULL ? "disk_full" : fsc_status_name(disk));
	snprintf(r[2].code, sizeof(r[2].code), "%s", why.code);
}

void fsc_api_healthz(struct fsc_req *req, struct fsc_resp *resp)
{
	struct fsc_json j = fsc_resp_json(resp, 200);

	(void)req;
	fsc_json_obj(&j);
	fsc_json_kstr(&j, "status", "ok");
	fsc_json_obj_end(&j);
}

void fsc_api_readyz(struct fsc_req *req, struct fsc_resp *resp)
{
	struct reason r[N_REASONS];
	bool ready = true, degraded = false;
	struct fsc_json j;

	look(fsc_api_app(req), r);
	for (size_t i = 0; i < N_REASONS; i++) {
		ready = ready && (r[i].ok || !r[i].fatal);
		degraded = degraded || !r[i].ok;
	}
	j = fsc_resp_json(resp, ready ? 200 : 503);
	fsc_json_obj(&j);
	fsc_json_kstr(&j, "status", !ready ? "not_ready" : degraded ? "degraded" : "ready");
	fsc_json_key(&j, "reasons");
	fsc_json_arr(&j);
	for (size_t i = 0; i < N_REASONS; i++) {
		if (r[i].ok)
			continue;
		fsc_json_obj(&j);
		fsc_json_kstr(&j, "check", r[i].check);
		fsc_json_kstr(&j, "code", r[i].code);
		fsc_json_kstr(&j, "message", r[i].message);
		fsc_json_obj_end(&j);
	}
	fsc_json_arr_end(&j);
	fsc_json_obj_end(&j);
}

void fsc_api_ready_metrics(struct fsc_app *app, struct fsc_buf *out)
{
	struct reason r[N_REASONS];

	look(app, r);
	fsc_buf_adds(out, "# HELP fleetscope_check_ok What /readyz looks at: 1 good, 0 not.\n"
			  "# TYPE fleetscope_check_ok gauge\n");
	for (size_t i = 0; i < N_REASONS; i++)
		fsc_buf_addf(out, "fleetscope_check_ok{check=\"%s\"} %d\n", r[i].check, r[i].ok);
}
