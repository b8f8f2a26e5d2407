/* SPDX-License-Identifier: Apache-2.0 */
/* The second listener: a Perfetto UI that the operator has unpacked, see api/api_perfetto.c. */
#include "http/folder.h"
#include "server/app.h"

/* Beside the server's own address by default; any port, when that is any. */
static enum fsc_status find_address(struct fsc_config_address *at, const struct fsc_config *c,
				    struct fsc_err *err)
{
	if (c->perfetto_ui_listen)
		return fsc_config_listen(at, c->perfetto_ui_listen, err);
	*at = c->address;
	at->port = at->port && at->port < UINT16_MAX ? (uint16_t)(at->port + 1) : 0;
	return FSC_OK;
}

enum fsc_status fsc_server_perfetto_start(struct fsc_server *s, struct fsc_err *err)
{
	struct fsc_http_config h = FSC_HTTP_CONFIG_INIT;
	const struct fsc_config *c = s->cfg;
	enum fsc_status st;

	if (!c->perfetto_ui || !*c->perfetto_ui)
		return FSC_OK;
	st = fsc_folder_open(&s->app.perfetto_ui, c->perfetto_ui, err);
	if (st)
		return fsc_err_wrap(err, "perfetto-ui: %s", c->perfetto_ui);
	if (!fsc_folder_has(s->app.perfetto_ui, "index.html"))
		return fsc_err_set(err, FSC_EINVAL, "perfetto_ui",
				   "perfetto-ui: %s has no index.html; it wants the unpacked "
				   "perfetto-ui.zip of a Perfetto release",
				   c->perfetto_ui);
	st = find_address(&s->perfetto_at, c, err);
	if (st)
		return st;
	h.host = s->perfetto_at.host; /* the listener keeps the pointer */
	h.port = s->perfetto_at.port;
	h.workers = 4;
	h.header_timeout_s = c->header_timeout;
	h.allow_hosts = c->allow_host.items;
	h.n_allow_hosts = c->allow_host.n_items;
	fsc_api_configure_perfetto(&s->app, &h);
	st = fsc_http_start(&s->app.perfetto_http, &h, err);
	if (st)
		return st;
	s->app.perfetto_port = fsc_http_port(s->app.perfetto_http);
	s->app.perfetto_url = c->perfetto_ui_url && *c->perfetto_ui_url ? c->perfetto_ui_url : NULL;
	return FSC_OK;
}

void fsc_server_perfetto_stop(struct fsc_server *s)
{
	if (s->app.perfetto_http)
		fsc_http_stop(s->app.perfetto_http, 0);
	fsc_folder_free(s->app.perfetto_ui);
}
