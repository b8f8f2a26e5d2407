/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The named queries of the store. Each implementation has one SQL text for each (sqlite/queries_*.c says what
 * the parameters are); a test runs them all. Private to lib/store.
 */
#ifndef FSC_STORE_QUERIES_H
#define FSC_STORE_QUERIES_H

/* X(NAME) */
#define FSC_QUERIES_PLAIN(X)                                                                                                     \
	X(LAST_ID)                                                                                                               \
	X(HEALTH) X(PROJECT_FIND) X(PROJECT_INSERT) X(PROJECT_NAME) X(BUNDLE_BY_DIGEST) X(BUNDLE_INSERT) X(                      \
		BUNDLE_GET) X(BUNDLE_PROJECT) X(BUNDLE_LIST) X(BUNDLE_COUNT) X(BUNDLE_FAILURES) X(BUNDLE_LOSSES)                 \
		X(BUNDLE_TRACES) X(BUNDLE_DELETE) X(BUNDLE_REFS) X(BUNDLE_QUEUE) X(BUNDLE_START) X(BUNDLE_PROGRESS) X(           \
			BUNDLE_FAIL) X(BUNDLE_FINISH) X(BUNDLE_REQUEUE_IDLE) X(IDEMPOTENCY_FIND) X(IDEMPOTENCY_INSERT)           \
			X(JOB_INSERT) X(JOB_DELETE_SUBJECT) X(JOB_LEASED) X(JOB_NEXT) X(JOB_EXPIRED) X(                          \
				JOB_TAKE) X(JOB_DELETE) X(JOB_BEAT) X(JOB_DONE) X(JOB_RETRY) X(JOB_RETURN) X(JOB_RELEASE_OTHERS) \
				X(JOB_DEPTH) X(TRACE_ID) X(TRACE_UPSERT) X(TRACE_META_UPSERT) X(TRACE_SUMS) X(                   \
					TRACE_DELETE) X(TRACE_GET) X(TRACE_META) X(TRACE_EXISTS) X(FAILURE_INSERT)               \
					X(FAILURE_CLEAR) X(LOSS_INSERT) X(CATEGORY_INSERT) X(DEVICE_INSERT) X(                   \
						IDLE_INSERT) X(KERNEL_INSERT) X(STEP_INSERT) X(LOSS_CLEAR)                       \
						X(CATEGORY_CLEAR) X(DEVICE_CLEAR) X(IDLE_CLEAR) X(                               \
							KERNEL_CLEAR) X(STEP_CLEAR) X(NAME_FIND) X(NAME_INSERT)                  \
							X(LOSSES) X(CATEGORIES) X(DEVICES) X(IDLES) X(                           \
								STEPS) X(LIST_TOTAL) X(FACET_STATE) X(FACET_JOB)                 \
								X(FACET_HOST) X(KERNEL_TOTALS) X(TOKEN_INSERT) X(                \
									TOKEN_FIND) X(TOKEN_LIST) X(TOKEN_REVOKE)                \
									X(TOKEN_USED) X(TOKEN_COUNT) X(                          \
										AUDIT_INSERT) X(AUDIT_LIST)                      \
										X(SETTING_GET) X(                                \
											SETTING_PUT) X(SETTING_PUT_NEW)          \
											X(STATS_BUNDLES) X(                      \
												STATS_TRACES)                    \
												X(STATS_BLOBS)

/* Two queries each, _D (most first) and _A, in the order of enum fsc_trace_sort. */
#define FSC_QUERIES_LIST(X)                                                               \
	X(LIST_RECEIVED)                                                                  \
	X(LIST_STARTED) X(LIST_DURATION) X(LIST_SLICES) X(LIST_BYTES) X(LIST_GPU_BUSY)    \
		X(LIST_EXPOSED_COMM) X(LIST_LOSSES) X(LIST_RANK) X(LIST_NAME) X(LIST_JOB) \
			X(LIST_HOST) X(LIST_STATE)
/* As above, in the order of enum fsc_kernel_sort. */
#define FSC_QUERIES_KERNELS(X) \
	X(KERNELS_SUM)         \
	X(KERNELS_COUNT) X(KERNELS_MEAN) X(KERNELS_MIN) X(KERNELS_MAX) X(KERNELS_NAME)

#define FSC_QUERY_ENUM(name) FSC_Q_##name,
#define FSC_QUERY_ENUM_BOTH(name) FSC_Q_##name##_D, FSC_Q_##name##_A,
enum fsc_query {
	FSC_QUERIES_PLAIN(FSC_QUERY_ENUM) FSC_QUERIES_LIST(FSC_QUERY_ENUM_BOTH)
		FSC_QUERIES_KERNELS(FSC_QUERY_ENUM_BOTH) FSC_Q_COUNT
};

#endif
