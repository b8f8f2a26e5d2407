/* SPDX-License-Identifier: Apache-2.0 */
/* Programmer errors: FSC_ASSERT logs the place and aborts. It is kept in release builds because a
 * server that goes on with broken invariants serves wrong data. Never used on input. */
#ifndef FSC_BASE_ASSERT_H
#define FSC_BASE_ASSERT_H

#include "base/attr.h"

fsc_noreturn void fsc_assert_fail(const char *expr, const char *file, int line);

#define FSC_ASSERT(cond)                                            \
	do {                                                        \
		if (FSC_UNLIKELY(!(cond)))                          \
			fsc_assert_fail(#cond, __FILE__, __LINE__); \
	} while (0)

#endif
