/* SPDX-License-Identifier: Apache-2.0 */
/* Open-addressing map; the last key is kept at hand because rows of a kind come in runs. */
#include "analysis/idmap.h"

#include <string.h>

#include "base/alloc.h"

#define FREE UINT32_MAX
#define FIRST_CAP 64

void fsc_idmap_fini(struct fsc_idmap *m)
{
	fsc_free(m->keys);
	fsc_free(m->values);
	memset(m, 0, sizeof(*m));
}

static size_t place_of(uint64_t key, size_t cap)
{
	/* Fibonacci hashing: the high bits of the product are the well mixed ones. */
	return (size_t)((key * 0x9E3779B97F4A7C15ULL) >> 32) & (cap - 1);
}

static size_t find(const struct fsc_idmap *m, uint64_t key)
{
	size_t i = place_of(key, m->cap);

	while (m->values[i] != FREE && m->keys[i] != key)
		i = (i + 1) & (m->cap - 1);
	return i;
}

static bool grow(struct fsc_idmap *m)
{
	struct fsc_idmap bigger = { .cap = m->cap ? m->cap * 2 : FIRST_CAP };

	bigger.keys = fsc_alloc(bigger.cap, sizeof(*bigger.keys));
	bigger.values = fsc_alloc(bigger.cap, sizeof(*bigger.values));
	if (!bigger.keys || !bigger.values) {
		fsc_idmap_fini(&bigger);
		return false;
	}
	memset(bigger.values, 0xFF, bigger.cap * sizeof(*bigger.values));
	for (size_t i = 0; i < m->cap; i++) {
		if (m->values[i] == FREE)
			continue;
		size_t at = find(&bigger, m->keys[i]);
		bigger.keys[at] = m->keys[i];
		bigger.values[at] = m->values[i];
	}
	fsc_free(m->keys);
	fsc_free(m->values);
	m->keys = bigger.keys;
	m->values = bigger.values;
	m->cap = bigger.cap;
	return true;
}

bool fsc_idmap_get(uint32_t *index, struct fsc_idmap *m, uint64_t key, uint32_t fresh)
{
	if (m->n && m->last_key == key) {
		*index = m->last_value;
		return true;
	}
	if (m->n * 4 >= m->cap * 3 && !grow(m))
		return false;
	size_t i = find(m, key);
	if (m->values[i] == FREE) {
		m->keys[i] = key;
		m->values[i] = fresh;
		m->n++;
	}
	m->last_key = key;
	m->last_value = *index = m->values[i];
	return true;
}
