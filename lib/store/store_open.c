/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a store by URL, ids, health. */
#include "base/clock.h"
#include "store/store.h"
#include "store/store_ops.h"

/* Ids: milliseconds since 2024-01-01 in the upper 41 bits, then 22 bits that start at random. */
#define ID_EPOCH_MS 1704067200000LL
#define ID_LOW_BITS 22

enum fsc_status fsc_store_open(struct fsc_store **out, const char *url,
			       const struct fsc_store_opts *opts, struct fsc_err *err)
{
	static const struct fsc_store_opts none = { 0 };
	static const char sqlite[] = "sqlite:";
	const struct fsc_store_opts *o = opts ? opts : &none;
	const char *path = url;
	struct fsc_store *s;
	int64_t last = 0;
	struct fsc_store_opts full;
	bool found;
	enum fsc_status st;

	*out = NULL;
	if (!strncmp(url, sqlite, sizeof(sqlite) - 1))
		path = url + sizeof(sqlite) - 1;
	else if (strstr(url, "://"))
		return fsc_err_set(err, FSC_EINVAL, "store_url", "store: unknown kind of URL: %s",
				   url);
	if (!path[0])
		return fsc_err_set(err, FSC_EINVAL, "store_url", "store: the URL has no path");
	full = *o;
	if (!full.busy_timeout_ms)
		full.busy_timeout_ms = 5000;
	if (!full.max_readers)
		full.max_readers = 16;
	st = fsc_store_open_sqlite(&s, path, &full, err);
	if (st != FSC_OK)
		return st;
	s->now_ns = o->now_ns;
	s->now_ctx = o->now_ctx;
	st = fsc_store_first_int(s, FSC_Q_LAST_ID, NULL, 0, &last, &found, err);
	if (st != FSC_OK) {
		fsc_store_close(s);
		return st;
	}
	/* Ids keep rising even when the clock was set back. */
	atomic_store(&s->last_id, last);
	*out = s;
	return FSC_OK;
}

void fsc_store_close(struct fsc_store *s)
{
	if (s)
		s->ops->close(s);
}

enum fsc_status fsc_store_health(struct fsc_store *s, struct fsc_err *err)
{
	return s->ops->health(s, err);
}

enum fsc_status fsc_store_backup(struct fsc_store *s, const char *path, struct fsc_err *err)
{
	return s->ops->backup(s, path, err);
}

int64_t fsc_store_now(const struct fsc_store *s)
{
	return s->now_ns ? s->now_ns(s->now_ctx) : fsc_clock_real_ns();
}

int64_t fsc_store_new_id(struct fsc_store *s)
{
	int64_t ms = fsc_store_now(s) / 1000000 - ID_EPOCH_MS;
	int64_t last = atomic_load(&s->last_id), next;
	uint32_t low;

	fsc_random_bytes(&low, sizeof(low));
	if (ms < 1)
		ms = 1;
	do {
		next = (ms << ID_LOW_BITS) | (low & ((1u << ID_LOW_BITS) - 1));
		if (next <= last)
			next = last + 1;
	} while (!atomic_compare_exchange_weak(&s->last_id, &last, next));
	return next;
}
