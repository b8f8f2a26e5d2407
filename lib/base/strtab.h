/* SPDX-License-Identifier: Apache-2.0 */
/*
 * String interner: bytes in, dense u32 id out, equal bytes give the equal id. Id 0 is always the empty
 * string. Hash is XXH3-64. Bounded by FSC_MAX_STRINGS and FSC_MAX_STRING_BYTES. Owner thread.
 */
#ifndef FSC_BASE_STRTAB_H
#define FSC_BASE_STRTAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/status.h"

struct fsc_strtab;

fsc_nodiscard struct fsc_strtab *fsc_strtab_new(void); /* NULL when out of memory */
void fsc_strtab_free(struct fsc_strtab *t);
/* FSC_OK, FSC_ENOMEM or FSC_ELIMIT. */
fsc_nodiscard enum fsc_status fsc_strtab_put(uint32_t *id, struct fsc_strtab *t, const char *s,
					     size_t n);
/* Id of s when it is there, UINT32_MAX otherwise. */
uint32_t fsc_strtab_find(const struct fsc_strtab *t, const char *s, size_t n);
/* Borrowed, NUL-terminated, at the same address as long as the table lives; *n may be NULL. id must be < count. */
const char *fsc_strtab_get(const struct fsc_strtab *t, uint32_t id, size_t *n);
uint32_t fsc_strtab_count(const struct fsc_strtab *t);
size_t fsc_strtab_bytes(
	const struct fsc_strtab *t); /* sum of string lengths, without terminators */

#endif
