/* SPDX-License-Identifier: Apache-2.0 */
/* The browser part, built into the program: pages and static files, from the embedded table only. */
#ifndef FSC_UI_UI_H
#define FSC_UI_UI_H

#include "http/resp.h"

/* GET of a path that no route has. /assets/... are files; any other path without a dot is index.html. */
void fsc_ui_serve(struct fsc_req *req, struct fsc_resp *resp);

#endif
