/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of finished requests by route and status, and a latency histogram, for /metrics. Any thread. */
#ifndef FSC_HTTP_STATS_H
#define FSC_HTTP_STATS_H

#include "http/req.h"

struct fsc_stats;
fsc_nodiscard struct fsc_stats *fsc_stats_new(const struct fsc_http_config *cfg);
void fsc_stats_free(struct fsc_stats *s);
void fsc_stats_add(struct fsc_stats *s, const struct fsc_req *req, int status, uint64_t bytes_in,
		   uint64_t bytes_out, int64_t ns);
void fsc_stats_write(struct fsc_stats *s, struct fsc_buf *out);

#endif
