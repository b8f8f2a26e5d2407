/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the route of a request. The table is small, so a scan is right. Any thread. */
#ifndef FSC_HTTP_ROUTER_H
#define FSC_HTTP_ROUTER_H

#include "http/req.h"

enum fsc_router_result {
	FSC_ROUTER_FOUND,	 /* req->route set */
	FSC_ROUTER_NO_PATH,	 /* no route has this path */
	FSC_ROUTER_WRONG_METHOD, /* allow holds the methods it has, for the Allow header */
};

enum fsc_router_result fsc_router_find(struct fsc_req *req, char allow[64]);

#endif
