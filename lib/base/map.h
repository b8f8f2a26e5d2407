/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small map from two words to a number: open addressing, grows by doubling, forgets nothing one by one. For ids
 * that a file makes up: the hash mixes them well, but is no defence against who chooses them to collide; such
 * maps are bounded by limits on what is put in. Zeroed is empty. Owner thread.
 */
#ifndef FSC_BASE_MAP_H
#define FSC_BASE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

#define FSC_MAP_NONE UINT32_MAX

struct fsc_map {
	struct fsc_map_slot {
		uint64_t a, b;
		uint32_t value; /* FSC_MAP_NONE: free */
	} * v;			/* owned */
	uint32_t cap, n;
};

/* FSC_MAP_NONE when the key is not there. */
uint32_t fsc_map_get(const struct fsc_map *m, uint64_t a, uint64_t b);
/* The key must not be there yet; value is not FSC_MAP_NONE. False without memory. */
fsc_nodiscard bool fsc_map_put(struct fsc_map *m, uint64_t a, uint64_t b, uint32_t value);
void fsc_map_fini(struct fsc_map *m); /* empty again */

#endif
