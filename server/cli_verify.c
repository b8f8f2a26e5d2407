/* SPDX-License-Identifier: Apache-2.0 */
/* `verify`: a data folder or a backup, from its database to the last checksum. */
#include <stdio.h>

#include "base/clock.h"
#include "server/cli.h"
#include "service/verify.h"

static void on_fault(void *ctx, const char *what)
{
	(void)ctx;
	printf("fault: %s\n", what);
}

int fsc_cli_verify(const struct fsc_config *cfg)
{
	const struct fsc_verify_opts o = { .data = cfg->data, .fault = on_fault };
	int64_t start = fsc_clock_mono_ns();
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_verify_done d;

	if (fsc_verify(&o, &d, &err))
		return fsc_cli_fail(&err);
	printf("blobs: %llu of %llu bytes\n", (unsigned long long)d.blobs,
	       (unsigned long long)d.blob_bytes);
	printf("segments: %llu of %llu bytes, %llu of an older version\n",
	       (unsigned long long)d.segments, (unsigned long long)d.segment_bytes,
	       (unsigned long long)d.outdated);
	printf("files without a row: %llu of %llu bytes (the server removes them after an hour)\n",
	       (unsigned long long)d.leftovers, (unsigned long long)d.leftover_bytes);
	printf("faults: %llu\n", (unsigned long long)d.faults);
	printf("time: %.1f s\n", (double)(fsc_clock_mono_ns() - start) / 1e9);
	return d.faults ? 1 : 0;
}
