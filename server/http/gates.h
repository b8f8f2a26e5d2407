/* SPDX-License-Identifier: Apache-2.0 */
/* What every request must pass before its body is read. I/O thread. */
#ifndef FSC_HTTP_GATES_H
#define FSC_HTTP_GATES_H

#include "http/resp.h"

/* False: resp holds the refusal. */
bool fsc_gates_pass(struct fsc_req *req, struct fsc_resp *resp);
/* Is this Host value one we answer to? */
bool fsc_gates_host_ok(const struct fsc_http_config *cfg, const char *host);

#endif
