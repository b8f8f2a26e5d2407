/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segment reader and queries on hostile files: as they are, and with all checksums made right, so that the
 * checks behind the checksums are reached too.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "segment/seg_read.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/segment/help_exercise.h"

static void ask(const uint8_t *p, size_t n)
{
	static struct help_steps steps;
	struct fsc_seg *s = NULL;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, p, n, 0) != (ssize_t)n)
		abort();
	if (fsc_seg_open(&s, fd, NULL) == FSC_OK) {
		help_exercise(&steps, s);
		(void)!fsc_seg_verify(s, NULL);
		fsc_seg_unref(s);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *sealed;

	if (size < FSC_SEG_HEADER_BYTES)
		return 0;
	ask(data, size);
	sealed = malloc(size);
	if (!sealed)
		return 0;
	memcpy(sealed, data, size);
	help_reseal(sealed, size);
	ask(sealed, size);
	free(sealed);
	return 0;
}
