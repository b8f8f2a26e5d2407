/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small hash map from a 64-bit key to the index of a row in some table: how analyses group by name or by
 * category. Open addressing; keys come from our own ids, so the hash only has to spread. Owner thread.
 */
#ifndef FSC_ANALYSIS_IDMAP_H
#define FSC_ANALYSIS_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct fsc_idmap {	  /* start zeroed */
	uint64_t *keys;	  /* owned */
	uint32_t *values; /* owned; UINT32_MAX = free place */
	size_t n, cap;	  /* cap is a power of two */
	uint64_t last_key;
	uint32_t last_value; /* of last_key, when n > 0 */
};

void fsc_idmap_fini(struct fsc_idmap *m);
/* Index stored for key, or stores `fresh` for it and gives that. False: no memory. */
fsc_nodiscard bool fsc_idmap_get(uint32_t *index, struct fsc_idmap *m, uint64_t key,
				 uint32_t fresh);

#endif
