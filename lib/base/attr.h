/* SPDX-License-Identifier: Apache-2.0 */
/* Compiler attributes used across the tree. Nothing else may spell __attribute__. */
#ifndef FSC_BASE_ATTR_H
#define FSC_BASE_ATTR_H

#define fsc_nodiscard __attribute__((warn_unused_result))
#define fsc_printf(fmt_idx, arg_idx) __attribute__((format(printf, fmt_idx, arg_idx)))
#define fsc_unused __attribute__((unused))
#define fsc_noreturn __attribute__((noreturn))
#define fsc_packed __attribute__((packed))
#define fsc_aligned(n) __attribute__((aligned(n)))
#define fsc_hot __attribute__((hot))
#define fsc_cold __attribute__((cold))
#define fsc_noinline __attribute__((noinline))
#define fsc_target(isa) __attribute__((target(isa)))

#define FSC_LIKELY(x) __builtin_expect(!!(x), 1)
#define FSC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define FSC_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
