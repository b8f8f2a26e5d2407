/* SPDX-License-Identifier: Apache-2.0 */
/* HTA's own classes for the name of a GPU row (v0.6.1, first match wins), to compare with its tables. */
#ifndef FSC_TESTS_SUPPORT_HTA_CLASSIFY_H
#define FSC_TESTS_SUPPORT_HTA_CLASSIFY_H

#include <stdbool.h>
#include <string.h>

static inline bool hta_starts(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strncmp(s, *list, strlen(*list)))
			return true;
	return false;
}

/* 'C' communication, 'M' memory, 'K' computation, 'O' other. */
static inline char hta_classify(const char *s)
{
	static const char *const comm[] = { "nccl", "hip", "hccl", NULL };
	static const char *const memory[] = { "Memcpy", "Memset", "dma", NULL };
	static const char *const deny[] = { "Context Sync",	 "Stream Sync",
					    "Event Sync",	 "Device Sync",
					    "Stream Wait Event", "cudaLaunch",
					    "cuLaunch",		 NULL };

	if (hta_starts(s, comm) || strstr(s, "ncclKernel"))
		return 'C';
	if (hta_starts(s, memory))
		return 'M';
	return hta_starts(s, deny) ? 'O' : 'K';
}

#endif
