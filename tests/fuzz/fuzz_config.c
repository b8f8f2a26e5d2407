/* SPDX-License-Identifier: Apache-2.0 */
/* A config file of any bytes: every mistake is told, and nothing but values in their ranges comes out. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "server/config.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("config", MFD_CLOEXEC);
	struct fsc_config c;
	char path[64];

	if (fd < 0)
		return 0;
	if (write(fd, data, size) == (ssize_t)size) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		fsc_config_init(&c);
		c.config = path; /* names the file in mistakes */
		fsc_config_read_file(&c, path);
		FSC_ASSERT(!c.n_mistakes == !c.mistakes.len);
		FSC_ASSERT(c.header_timeout >= 1 && c.header_timeout <= 600);
		FSC_ASSERT(c.workers <= 256);
		FSC_ASSERT(c.n_groups <= FSC_CONFIG_MAX_GROUPS);
		FSC_ASSERT(c.allow_host.n_items <= FSC_OPTION_LIST_MAX);
		fsc_config_fini(&c);
	}
	close(fd);
	return 0;
}
