/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sandbox of the process that parses untrusted bytes. After fsc_sandbox_enter() the process can compute,
 * read and write descriptors that it has or is sent, and end. It cannot open, stat, connect, start, signal or
 * map as executable anything, nor pass its limits. A forbidden system call kills the process (SIGSYS).
 * Call it before the first byte of input is touched, from the only thread. It cannot be undone.
 *
 * Layers: rlimits (CPU, AS, FSIZE, NOFILE, CORE), no_new_privs, death with the parent, Landlock without any
 * rule where the kernel has it, seccomp allow list. Sanitizer builds have no RLIMIT_AS, and get an error where
 * a plain build is killed for what the sanitizer's own reports need.
 */
#ifndef FSC_INDEXER_SANDBOX_H
#define FSC_INDEXER_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct fsc_sandbox_limits {
	uint64_t max_memory_bytes; /* address space */
	uint64_t max_file_bytes;   /* size of one written file */
	int max_cpu_s;
};

struct fsc_sandbox_state {
	int landlock_abi; /* 0: the kernel has none */
	bool memory_limited;
};

/* FSC_EIO when a layer that every supported kernel has could not be put up. state may be NULL. */
fsc_nodiscard enum fsc_status fsc_sandbox_enter(const struct fsc_sandbox_limits *limits,
						struct fsc_sandbox_state *state,
						struct fsc_err *err);

#endif
