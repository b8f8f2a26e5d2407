/* SPDX-License-Identifier: Apache-2.0 */
/* Remembered tokens: how long one is believed, and that dropping ends it. */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/contract.h"

#include "auth/cache.h"

static int64_t put_token(struct place *p, const char *text, uint8_t sha256[32], int64_t expires)
{
	struct fsc_token_new n = {
		.project = 1, .name = "ci", .scopes = FSC_SCOPE_BIT_READ, .expires_at_ns = expires
	};
	int64_t id;

	fsc_sha256(sha256, text, strlen(text));
	memcpy(n.secret_sha256, sha256, 32);
	assert_ok(p, fsc_store_token_put(p->s, &n, &id, &p->err));
	return id;
}

static uint64_t from_store(struct fsc_cache *c)
{
	static const char mark[] = "{from=\"store\"} ";
	struct fsc_buf b;
	uint64_t n;

	fsc_buf_init(&b, 4096);
	fsc_cache_metrics(c, &b);
	fsc_buf_addc(&b, '\0');
	n = strtoull(strstr(b.data, mark) + sizeof(mark) - 1, NULL, 10);
	fsc_buf_fini(&b);
	return n;
}

static void a_token_is_read_once_a_second(void **state)
{
	struct place *p = *state;
	struct fsc_cache *c = fsc_cache_new(p->s);
	struct fsc_cache_token t;
	uint8_t sha256[32];
	int64_t id = put_token(p, "one", sha256, 0), start = fsc_clock_mono_ns();

	for (int i = 0; i < 100; i++)
		assert_ok(p, fsc_cache_token(c, sha256, &t, &p->err));
	assert_true(t.id == id && t.project == 1 && t.scopes == FSC_SCOPE_BIT_READ);
	assert_string_equal(t.project_name, "default");
	if (fsc_clock_mono_ns() - start < FSC_CACHE_TTL_NS)
		assert_int_equal(from_store(c), 1);
	fsc_cache_free(c);
}

static void a_token_revoked_elsewhere_ends_within_the_time(void **state)
{
	struct place *p = *state;
	struct fsc_cache *c = fsc_cache_new(p->s);
	struct fsc_cache_token t;
	uint8_t sha256[32];
	int64_t id = put_token(p, "one", sha256, 0), start, asked;

	assert_ok(p, fsc_cache_token(c, sha256, &t, &p->err));
	assert_ok(p, fsc_store_token_revoke(p->s, 1, id, &p->err));
	start = asked = fsc_clock_mono_ns();
	while (fsc_cache_token(c, sha256, &t, &p->err) == FSC_OK) {
		assert_true(asked - start <= FSC_CACHE_TTL_NS);
		asked = fsc_clock_mono_ns();
	}
	assert_int_equal(p->err.status, FSC_ENOTFOUND);
	fsc_cache_free(c);
}

static void nothing_is_believed_after_a_drop(void **state)
{
	struct place *p = *state;
	struct fsc_cache *c = fsc_cache_new(p->s);
	struct fsc_cache_token t;
	uint8_t sha256[32];
	int64_t id = put_token(p, "one", sha256, 0);

	assert_ok(p, fsc_cache_token(c, sha256, &t, &p->err));
	assert_ok(p, fsc_store_token_revoke(p->s, 1, id, &p->err));
	fsc_cache_drop(c);
	assert_fails(p, fsc_cache_token(c, sha256, &t, &p->err), FSC_ENOTFOUND, "not_found");
	fsc_cache_free(c);
}

struct race {
	struct fsc_cache *c;
	uint8_t sha256[32];
	atomic_bool dropped;
	_Atomic int late; /* look-ups that began after the drop and found it */
};

static void *look_up_until_gone(void *arg)
{
	struct race *r = arg;
	bool after = false;

	while (!after) {
		struct fsc_err err = FSC_ERR_INIT;
		struct fsc_cache_token t;

		after = atomic_load(&r->dropped);
		if (fsc_cache_token(r->c, r->sha256, &t, &err) == FSC_OK && after)
			atomic_fetch_add(&r->late, 1);
	}
	return NULL;
}

static void no_look_up_that_begins_after_a_drop_finds_the_token(void **state)
{
	struct place *p = *state;
	struct race r = { .c = fsc_cache_new(p->s) };

	for (int round = 0; round < 20; round++) {
		pthread_t threads[4];
		char text[16];
		int64_t id;

		snprintf(text, sizeof(text), "race%d", round);
		id = put_token(p, text, r.sha256, 0);
		atomic_store(&r.dropped, false);
		for (size_t i = 0; i < FSC_ARRAY_LEN(threads); i++)
			assert_int_equal(pthread_create(&threads[i], NULL, look_up_until_gone, &r),
					 0);
		assert_ok(p, fsc_store_token_revoke(p->s, 1, id, &p->err));
		fsc_cache_drop(r.c);
		atomic_store(&r.dropped, true);
		for (size_t i = 0; i < FSC_ARRAY_LEN(threads); i++)
			pthread_join(threads[i], NULL);
	}
	assert_int_equal(atomic_load(&r.late), 0);
	fsc_cache_free(r.c);
}

static void a_remembered_token_ends_at_its_time(void **state)
{
	struct place *p = *state;
	struct fsc_cache *c = fsc_cache_new(p->s);
	struct fsc_cache_token t;
	uint8_t sha256[32];
	int64_t end = fsc_clock_real_ns() + FSC_CACHE_TTL_NS / 4;

	put_token(p, "one", sha256, end);
	assert_ok(p, fsc_cache_token(c, sha256, &t, &p->err));
	while (fsc_clock_real_ns() < end)
		continue;
	assert_fails(p, fsc_cache_token(c, sha256, &t, &p->err), FSC_ENOTFOUND, "not_found");
	fsc_cache_free(c);
}

static void more_tokens_than_places_are_all_found(void **state)
{
	struct place *p = *state;
	struct fsc_cache *c = fsc_cache_new(p->s);
	struct fsc_cache_token t;
	uint8_t all[40][32];
	int64_t ids[40];
	char text[16];

	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "t%d", i);
		ids[i] = put_token(p, text, all[i], 0);
	}
	for (int i = 0; i < 400; i++) {
		assert_ok(p, fsc_cache_token(c, all[i % 40], &t, &p->err));
		assert_true(t.id == ids[i % 40]);
	}
	fsc_cache_free(c);
}

static void the_use_of_a_token_is_written_once_a_minute(void **state)
{
	struct place *p = *state;
	struct fsc_cache *c = fsc_cache_new(p->s);
	struct fsc_cache_token t;
	struct fsc_tokens list;
	uint8_t sha256[32];
	int64_t first;

	put_token(p, "one", sha256, 0);
	assert_ok(p, fsc_cache_token(c, sha256, &t, &p->err));
	fsc_cache_flush(c);
	assert_ok(p, fsc_store_token_list(p->s, &p->a, 1, false, &list, &p->err));
	first = list.items[0].last_used_at_ns;
	assert_true(first > 0);
	assert_ok(p, fsc_cache_token(c, sha256, &t, &p->err));
	fsc_cache_flush(c);
	assert_ok(p, fsc_store_token_list(p->s, &p->a, 1, false, &list, &p->err));
	assert_true(list.items[0].last_used_at_ns == first);
	fsc_cache_free(c);
}

static void projects_are_found_by_name_also_more_than_are_remembered(void **state)
{
	struct place *p = *state;
	struct fsc_cache *c = fsc_cache_new(p->s);
	int64_t ids[80], id;
	char name[16];

	for (int i = 0; i < 80; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		assert_ok(p, fsc_store_project_create(p->s, name, &ids[i], &p->err));
	}
	for (int i = 0; i < 240; i++) {
		snprintf(name, sizeof(name), "p%d", i % 80);
		assert_ok(p, fsc_cache_project(c, name, &id, &p->err));
		assert_true(id == ids[i % 80]);
	}
	assert_fails(p, fsc_cache_project(c, "nobody", &id, &p->err), FSC_ENOTFOUND, "not_found");
	assert_fails(p, fsc_cache_project(c, "", &id, &p->err), FSC_ENOTFOUND, "not_found");
	assert_ok(p, fsc_store_project_create(p->s, "nobody", &ids[0], &p->err));
	assert_ok(p, fsc_cache_project(c, "nobody", &id, &p->err));
	fsc_cache_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(a_token_is_read_once_a_second),
		contract_test(a_token_revoked_elsewhere_ends_within_the_time),
		contract_test(nothing_is_believed_after_a_drop),
		contract_test(no_look_up_that_begins_after_a_drop_finds_the_token),
		contract_test(a_remembered_token_ends_at_its_time),
		contract_test(more_tokens_than_places_are_all_found),
		contract_test(the_use_of_a_token_is_written_once_a_minute),
		contract_test(projects_are_found_by_name_also_more_than_are_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
