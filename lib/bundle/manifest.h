/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.json of a bundle, version 1 (docs/formats/bundle.md). Parsed with jansson, at most
 * FSC_MAX_MANIFEST_BYTES. Unknown keys are ignored; keys of the wrong type are errors. Owner thread.
 */
#ifndef FSC_BUNDLE_MANIFEST_H
#define FSC_BUNDLE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "base/err.h"

#define FSC_MANIFEST_NAME "manifest.json"

struct fsc_manifest_device {
	int64_t ordinal;  /* as the trace numbers it */
	const char *uuid; /* of the GPU, as NVML or ROCm prints it */
};

/* Two clocks read at one moment: a is Unix time, b the clock of the trace; both ns. */
struct fsc_manifest_clock_pair {
	int64_t a_ns, b_ns;
};

struct fsc_manifest_file {
	const char *path;
	bool has_sha256;
	uint8_t sha256[FSC_SHA256_LEN];
	int64_t rank; /* -1 unknown */
	struct fsc_manifest_device *devices;
	size_t n_devices;
	struct fsc_manifest_clock_pair *clock_pairs;
	size_t n_clock_pairs;
	bool seen; /* set by the bundle */
};

struct fsc_manifest {
	struct fsc_arena arena;		  /* owns everything below */
	const char *job, *host, *capture; /* NULL when absent */
	int64_t world_size;		  /* -1 unknown */
	struct fsc_manifest_file *files;
	size_t n_files;
};

/* jansson takes a text that it has no memory for as one that is wrong, or leaves members out. After this the process
 * ends with "out of memory" instead. Once, before threads. */
void fsc_manifest_memory_or_abort(void);
/* Expected errors: FSC_EPARSE "manifest_invalid", FSC_EUNSUPPORTED "manifest_version", FSC_ELIMIT. */
fsc_nodiscard enum fsc_status fsc_manifest_parse(struct fsc_manifest **out, const char *json,
						 size_t n, struct fsc_err *err);
void fsc_manifest_free(struct fsc_manifest *m); /* NULL is fine */
/* The entry of a path, or NULL. */
struct fsc_manifest_file *fsc_manifest_file(struct fsc_manifest *m, const char *path);

#endif
