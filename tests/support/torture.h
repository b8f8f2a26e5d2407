/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the torture tests share: which n are tried. A counting run comes first, with the call stack of each call.
 *   FSC_TORTURE=12 (default)   that many, spread evenly over those of "all"
 *   FSC_TORTURE=all            the first and the last call of every distinct call stack
 *   FSC_TORTURE=every          every n there is
 */
#ifndef FSC_TESTS_SUPPORT_TORTURE_H
#define FSC_TESTS_SUPPORT_TORTURE_H

#include <sys/mman.h>

#include "base/num.h"
#include "tests/support/faults.h"
#include "tests/support/test.h"

#define TORTURE_MAX (1u << 18)

/* Memory that we share with a program that we start: it has the descriptor, and maps it in its turn. */
static inline void *torture_map(int fd, size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(p != MAP_FAILED);
	return p;
}

static inline void *torture_shared(int *fd, size_t n)
{
	*fd = memfd_create("torture", 0);
	assert_true(*fd >= 0 && ftruncate(*fd, (off_t)n) == 0);
	return torture_map(*fd, n);
}

/* Files in memory, when there is such a folder: thousands of runs make hundreds of folders each. */
static inline void torture_use_memory(void)
{
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
}

static inline const char *torture_kind(enum fault_kind kind)
{
	return kind == FAULT_ALLOC ? "allocation" : "file operation";
}

struct torture_plan {
	uint32_t *n; /* owned; those to try */
	size_t len;
};

struct torture_call {
	uint32_t stack, n;
};

static inline int torture_by_stack(const void *a, const void *b)
{
	const struct torture_call *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

static inline int torture_by_n(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The first and the last of each stack into plan->n. */
static inline void torture_distinct(struct torture_plan *plan, const uint32_t *stacks, size_t total)
{
	struct torture_call *v = calloc(total + 1, sizeof(*v));

	assert_non_null(v);
	for (size_t i = 0; i < total; i++)
		v[i] = (struct torture_call){ stacks[i], (uint32_t)i + 1 };
	qsort(v, total, sizeof(*v), torture_by_stack);
	for (size_t i = 0; i < total; i++)
		if (i == 0 || v[i - 1].stack != v[i].stack || i + 1 == total ||
		    v[i + 1].stack != v[i].stack)
			plan->n[plan->len++] = v[i].n;
	qsort(plan->n, plan->len, sizeof(*plan->n), torture_by_n);
	free(v);
}

static inline struct torture_plan torture_plan(const uint32_t *stacks, size_t total)
{
	const char *v = getenv("FSC_TORTURE");
	struct torture_plan plan = { .n = calloc(total + 1, sizeof(*plan.n)) };
	uint64_t want = 12;

	assert_true(plan.n && total > 0 && total <= TORTURE_MAX);
	if (v && !strcmp(v, "every")) {
		for (size_t i = 0; i < total; i++)
			plan.n[plan.len++] = (uint32_t)i + 1;
		return plan;
	}
	torture_distinct(&plan, stacks, total);
	if (v && !strcmp(v, "all"))
		return plan;
	if (v)
		assert_true(fsc_parse_u64(&want, v, strlen(v)) && want > 0);
	if (want < plan.len) {
		for (size_t i = 0; i < want; i++)
			plan.n[i] = plan.n[(2 * i + 1) * plan.len / (2 * want)];
		plan.len = want;
	}
	return plan;
}

#endif
