/* SPDX-License-Identifier: Apache-2.0 */
/* The map from two words to a number. */
#include "base/map.h"

#include <string.h>

#include "base/alloc.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ 0x9E3779B97F4A7C15ULL) * 0xBF58476D1CE4E5B9ULL;
	h = (h ^ (h >> 29) ^ b) * 0x94D049BB133111EBULL;
	return h ^ (h >> 32);
}

uint32_t fsc_map_get(const struct fsc_map *m, uint64_t a, uint64_t b)
{
	if (!m->cap)
		return FSC_MAP_NONE;
	for (uint32_t i = (uint32_t)mix(a, b) & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		const struct fsc_map_slot *s = &m->v[i];
		if (s->value == FSC_MAP_NONE || (s->a == a && s->b == b))
			return s->value;
	}
}

static bool map_grow(struct fsc_map *m)
{
	struct fsc_map g = { .cap = m->cap ? m->cap * 2 : 64, .n = m->n };
	g.v = fsc_realloc(NULL, g.cap, sizeof(*g.v));
	if (!g.v)
		return false;
	memset(g.v, 0xFF, g.cap * sizeof(*g.v));
	for (uint32_t k = 0; k < m->cap; k++) {
		if (m->v[k].value == FSC_MAP_NONE)
			continue;
		uint32_t i = (uint32_t)mix(m->v[k].a, m->v[k].b) & (g.cap - 1);
		while (g.v[i].value != FSC_MAP_NONE)
			i = (i + 1) & (g.cap - 1);
		g.v[i] = m->v[k];
	}
	fsc_free(m->v);
	*m = g;
	return true;
}

bool fsc_map_put(struct fsc_map *m, uint64_t a, uint64_t b, uint32_t value)
{
	if (m->n >= m->cap / 2 && !map_grow(m))
		return false;
	uint32_t i = (uint32_t)mix(a, b) & (m->cap - 1);
	while (m->v[i].value != FSC_MAP_NONE)
		i = (i + 1) & (m->cap - 1);
	m->v[i] = (struct fsc_map_slot){ .a = a, .b = b, .value = value };
	m->n++;
	return true;
}

void fsc_map_fini(struct fsc_map *m)
{
	fsc_free(m->v);
	*m = (struct fsc_map){ .cap = 0 };
}
