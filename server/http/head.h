/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request-smuggling checks on the head of every request, also on kept-alive connections: what libmicrohttpd
 * lets through and another hop could read differently (docs/decisions/0013-http-head-check.md). Any thread.
 */
#ifndef FSC_HTTP_HEAD_H
#define FSC_HTTP_HEAD_H

#include "http/req.h"

/*
 * req->headers in the order in which they came, with the pointers that libmicrohttpd gave: they point into
 * its read buffer, so the bytes between them show how the lines ended. url and version are its pointers into
 * the same buffer, head_bytes is the length of the head as it counted it. Sets content_length, has_body and http10. FSC_EINVAL: answer 400 and
 * close.
 */
fsc_nodiscard enum fsc_status fsc_head_check(struct fsc_req *req, const char *url,
					     const char *version, size_t head_bytes,
					     struct fsc_err *err);

#endif
