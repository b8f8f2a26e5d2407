/* SPDX-License-Identifier: Apache-2.0 */
/* The latest wall time that was believed, and what to think of the one that is shown now. */
#include "service/clock_guard.h"

#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "store/store.h"

#define SETTING "retention.clock"
#define SAVE_NS INT64_C(600000000000) /* how far the store's copy may lag behind */

static int64_t mono(const struct fsc_clock_guard *g)
{
	return g->mono_ns ? g->mono_ns(g->ctx) : fsc_clock_mono_ns();
}

static enum fsc_status save(struct fsc_clock_guard *g, struct fsc_err *err)
{
	enum fsc_status st = fsc_store_setting_put(g->store, SETTING, &g->mark_ns,
						   sizeof(g->mark_ns), false, err);

	if (st == FSC_OK)
		g->saved_ns = g->mark_ns;
	return st;
}

static enum fsc_status load(struct fsc_clock_guard *g, struct fsc_err *err)
{
	const uint8_t *value;
	struct fsc_arena a;
	size_t n;
	enum fsc_status st;

	fsc_arena_init(&a, 64 * FSC_KIB);
	st = fsc_store_setting_get(g->store, &a, SETTING, &value, &n, err);
	if (st == FSC_OK && n == sizeof(g->mark_ns)) {
		memcpy(&g->mark_ns, value, sizeof(g->mark_ns));
		g->mark_mono_ns = -1;
		g->saved_ns = g->mark_ns;
	} else if (st == FSC_OK || st == FSC_ENOTFOUND) {
		/* The first look of all: there is nothing to compare with. */
		fsc_err_clear(err);
		g->mark_ns = fsc_store_now(g->store);
		g->mark_mono_ns = mono(g);
		st = save(g, err);
	}
	fsc_arena_fini(&a);
	g->loaded = st == FSC_OK;
	return st;
}

/* On a full disk the look counts all the same, since limits by bytes are what makes room then; the next look saves
 * again. A copy that is too old errs on the safe side after a restart. */
static enum fsc_status save_when_due(struct fsc_clock_guard *g, struct fsc_err *err)
{
	enum fsc_status st = g->mark_ns - g->saved_ns >= SAVE_NS ? save(g, err) : FSC_OK;

	if (st != FSC_EFULL)
		return st;
	fsc_err_clear(err);
	return FSC_OK;
}

static void distrust(struct fsc_clock_guard *g, enum fsc_clock_trust trust, int64_t wall)
{
	if (g->trust != trust)
		g->since_ns = wall;
	g->trust = trust;
}

enum fsc_status fsc_clock_guard_look(struct fsc_clock_guard *g, struct fsc_err *err)
{
	enum fsc_status st = g->loaded ? FSC_OK : load(g, err);
	int64_t wall = fsc_store_now(g->store), now = mono(g);
	int64_t passed = g->mark_mono_ns >= 0 ? now - g->mark_mono_ns : 0;

	if (st != FSC_OK)
		return st;
	if (wall > g->mark_ns + passed + FSC_CLOCK_AHEAD_NS) {
		distrust(g, FSC_CLOCK_AHEAD, wall);
		return FSC_OK;
	}
	if (wall < g->mark_ns) {
		distrust(g, FSC_CLOCK_BEHIND, wall);
		return FSC_OK;
	}
	g->trust = FSC_CLOCK_GOOD;
	g->since_ns = 0;
	g->mark_ns = wall;
	g->mark_mono_ns = now;
	return save_when_due(g, err);
}

enum fsc_status fsc_clock_guard_confirm(struct fsc_clock_guard *g, struct fsc_err *err)
{
	g->mark_ns = fsc_store_now(g->store);
	g->mark_mono_ns = mono(g);
	g->trust = FSC_CLOCK_GOOD;
	g->since_ns = 0;
	g->loaded = true;
	return save(g, err);
}
