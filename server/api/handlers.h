/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the handler of every route. */
#ifndef FSC_API_HANDLERS_H
#define FSC_API_HANDLERS_H

#include "http/resp.h"

#define FSC_ROUTE(method, path, handler, scope, max_body, flags) fsc_handler handler;
#include "api/routes.def"
#undef FSC_ROUTE

/* Open the bodies of the RAW routes; see fsc_http_config.open_body. */
typedef enum fsc_status fsc_body_opener(void *app, struct fsc_req *req, struct fsc_resp *resp,
					struct fsc_body_sink *sink, struct fsc_err *err);
fsc_body_opener fsc_api_upload_open, fsc_api_piece_open;

#endif
