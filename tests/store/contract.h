/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the contract suites of store, queue and blobs share: a place of their own per test, and facts to
 * publish. A suite is a file that is included by one test program per implementation, which first defines
 * CONTRACT_STORE_URL and CONTRACT_BLOBS_URL: printf formats that take a folder.
 */
#ifndef FSC_TESTS_STORE_CONTRACT_H
#define FSC_TESTS_STORE_CONTRACT_H

#include "tests/support/test.h"

#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/limits.h"
#include "store/blob.h"
#include "store/deletes.h"
#include "store/queue.h"
#include "store/store.h"

struct place {
	char dir[256];
	char store_url[320], blobs_url[320];
	struct fsc_store *s;
	struct fsc_blobs *b;
	struct fsc_queue *q;
	struct fsc_arena a;
	struct fsc_err err;
	_Atomic int64_t clock_off_ns; /* how far the clock of the store is ahead of the system's */
};

static inline int64_t place_now(void *ctx)
{
	struct place *p = ctx;

	return fsc_clock_real_ns() + atomic_load(&p->clock_off_ns);
}

static inline int remove_one(const char *path, const struct stat *sb, int flag, struct FTW *ftw)
{
	(void)sb;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void place_open(struct place *p)
{
	const struct fsc_store_opts opts = { .now_ns = place_now, .now_ctx = p };

	assert_int_equal(fsc_store_open(&p->s, p->store_url, &opts, &p->err), FSC_OK);
	assert_int_equal(fsc_blobs_open(&p->b, p->blobs_url, NULL, &p->err), FSC_OK);
	p->q = fsc_queue_of_store(p->s);
}

static inline void place_close(struct place *p)
{
	fsc_queue_free(p->q);
	fsc_blobs_close(p->b);
	fsc_store_close(p->s);
	p->q = NULL;
	p->b = NULL;
	p->s = NULL;
}

static inline int place_setup(void **state)
{
	struct place *p = fsc_xalloc(1, sizeof(*p));

	test_tmpdir(p->dir, sizeof(p->dir));
	snprintf(p->store_url, sizeof(p->store_url), CONTRACT_STORE_URL, p->dir);
	snprintf(p->blobs_url, sizeof(p->blobs_url), CONTRACT_BLOBS_URL, p->dir);
	fsc_arena_init(&p->a, 64 * FSC_MIB);
	place_open(p);
	*state = p;
	return 0;
}

static inline int place_teardown(void **state)
{
	struct place *p = *state;

	if (p->s)
		place_close(p);
	fsc_arena_fini(&p->a);
	nftw(p->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	fsc_free(p);
	return 0;
}

#define contract_test(fn) cmocka_unit_test_setup_teardown(fn, place_setup, place_teardown)

/* Prints the error that is in the way when a call should have worked. */
#define assert_ok(p, call)                                                                 \
	do {                                                                               \
		enum fsc_status st_ = (call);                                              \
		if (st_ != FSC_OK)                                                         \
			print_message("%s: %s: %s\n", #call, (p)->err.code, (p)->err.msg); \
		assert_int_equal(st_, FSC_OK);                                             \
	} while (0)
#define assert_fails(p, call, status_, code_)                \
	do {                                                 \
		fsc_err_clear(&(p)->err);                    \
		assert_int_equal((call), (status_));         \
		assert_string_equal((p)->err.code, (code_)); \
	} while (0)

/* ---- bundles ---- */

static inline void digest_of(uint8_t out[FSC_SHA256_LEN], const char *text)
{
	fsc_sha256(out, text, strlen(text));
}

static inline struct fsc_bundle_new new_bundle(const char *content, const char *name)
{
	struct fsc_bundle_new n = { .project = FSC_PROJECT_DEFAULT,
				    .bytes = (int64_t)strlen(content),
				    .name = name,
				    .rank = -1 };

	digest_of(n.sha256, content);
	return n;
}

static inline int64_t put_bundle(struct place *p, const char *content, const char *name)
{
	struct fsc_bundle_new n = new_bundle(content, name);
	struct fsc_bundle_put out;

	assert_ok(p, fsc_store_bundle_put(p->s, &n, &out, &p->err));
	assert_false(out.duplicate);
	return out.id;
}

static inline struct fsc_bundle get_bundle(struct place *p, int64_t id)
{
	struct fsc_bundle b;

	assert_ok(p, fsc_store_bundle_get(p->s, &p->a, FSC_PROJECT_DEFAULT, id, &b, &p->err));
	return b;
}

static inline enum fsc_status delete_bundle_row(struct place *p, int64_t project, int64_t id,
						struct fsc_bundle_deleted *gone)
{
	const struct fsc_delete_request req = { .project = project, .bundle = id, .actor = "test" };

	return fsc_store_delete(p->s, &p->a, &req, gone, &p->err);
}

/* ---- files ---- */

static inline enum fsc_status count_entry(void *ctx, const struct fsc_blob_entry *e,
					  struct fsc_err *err)
{
	(void)e;
	(void)err;
	++*(int *)ctx;
	return FSC_OK;
}

static inline int count_files(struct place *p, enum fsc_blob_kind kind)
{
	int n = 0;

	assert_ok(p, fsc_blobs_list(p->b, kind, count_entry, &n, &p->err));
	return n;
}

/* ---- facts ---- */

struct fact_list {
	struct fsc_fact v[256];
	size_t n, at;
};

static inline enum fsc_status fact_next(void *ctx, struct fsc_fact *f, struct fsc_err *err)
{
	struct fact_list *l = ctx;

	(void)err;
	if (l->at == l->n)
		return FSC_END;
	*f = l->v[l->at++];
	return FSC_OK;
}

static inline struct fsc_fact *fact_add(struct fact_list *l, enum fsc_fact_type type)
{
	assert_true(l->n < 256);
	memset(&l->v[l->n], 0, sizeof(l->v[0]));
	l->v[l->n].type = type;
	return &l->v[l->n++];
}

static inline struct fsc_fact_trace *fact_trace(struct fact_list *l, const char *member,
						int64_t rank)
{
	struct fsc_fact_trace *t = &fact_add(l, FSC_FACT_TRACE)->u.trace;

	*t = (struct fsc_fact_trace){
		.member = member,
		.format = "kineto",
		.rank = rank,
		.world_size = -1,
		.job = "",
		.host = "",
		.capture = "",
		.name = member,
		.meta_json = "{}",
		.source_disagreements = "",
	};
	return t;
}

static inline void fact_kernel(struct fact_list *l, const char *name, int64_t n, int64_t sum)
{
	fact_add(l, FSC_FACT_KERNEL)->u.kernel = (struct fsc_fact_kernel){ .name = name,
									   .kind = "compute",
									   .count = n,
									   .sum_ns = sum,
									   .min_ns = 1,
									   .max_ns = sum };
}

static inline void fact_trace_end(struct fact_list *l)
{
	fact_add(l, FSC_FACT_SEGMENT_WANTED);
	fact_add(l, FSC_FACT_TRACE_END)->u.trace_end = (struct fsc_fact_trace_end){
		.segment_bytes = 10, .segment_version = 1, .analysis_version = 3
	};
}

static inline void fact_member(struct fact_list *l, const char *member, const char *outcome,
			       const char *code)
{
	fact_add(l, FSC_FACT_MEMBER)->u.member =
		(struct fsc_fact_member){ .member = member,
					  .outcome = outcome,
					  .code = code,
					  .message = "why it is so",
					  .offset = 77 };
}

static inline void fact_end(struct fact_list *l)
{
	fact_add(l, FSC_FACT_END)->u.end = (struct fsc_fact_end){
		.code = "", .message = "", .file = "", .offset = -1, .manifest_json = ""
	};
}

/* Publishes; ids are found or made for every TRACE, and given back in ids (may be NULL). */
static inline enum fsc_status publish_facts(struct place *p, int64_t bundle, struct fact_list *l,
					    const struct fsc_store_lease *lease, int64_t *ids,
					    struct fsc_published *out)
{
	struct fsc_publish_trace given[64];
	struct fsc_publish in = {
		.bundle = bundle, .lease = lease, .traces = given, .next = fact_next, .ctx = l
	};
	struct fsc_published unused;

	for (size_t i = 0; i < l->n; i++) {
		const struct fsc_fact_trace *t = &l->v[i].u.trace;
		bool known;

		if (l->v[i].type != FSC_FACT_TRACE)
			continue;
		given[in.n_traces].segment = fsc_store_new_id(p->s);
		given[in.n_traces].segment_bytes = 10;
		assert_ok(p, fsc_store_trace_id(p->s, bundle, t->member, t->slot,
						&given[in.n_traces].id, &known, &p->err));
		if (ids)
			ids[in.n_traces] = given[in.n_traces].id;
		in.n_traces++;
	}
	return fsc_store_publish(p->s, &p->a, &in, out ? out : &unused, &p->err);
}

/* A bundle with one ready trace. */
static inline int64_t ready_trace(struct place *p, const char *content, const char *name,
				  const char *job, const char *host, int64_t t_base_ns)
{
	struct fact_list l = { .n = 0 };
	int64_t bundle = put_bundle(p, content, name), id;
	struct fsc_fact_trace *t = fact_trace(&l, name, 0);

	t->job = job;
	t->host = host;
	t->has_epoch = t_base_ns != 0;
	t->t_base_ns = t_base_ns;
	t->t_max_ns = 1000;
	t->slices = (int64_t)strlen(content);
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(p, publish_facts(p, bundle, &l, NULL, &id, NULL));
	return id;
}

#endif
