/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader turns the bytes of one file into traces. Readers are chosen by content, never by file name:
 * fsc_reader_pick() asks each entry of the table in registry.c for a score on the first bytes.
 * One file can hold several traces (a merged file with ranks). Owner thread; a reader keeps no state
 * between files.
 */
#ifndef FSC_FORMATS_READER_H
#define FSC_FORMATS_READER_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/source.h"
#include "model/trace.h"

struct fsc_reader_sink {
	void *ctx;
	/* Takes ownership of the finished trace. A non-OK status stops the reader and is returned by it. */
	enum fsc_status (*trace)(void *ctx, struct fsc_trace *t, struct fsc_err *err);
	/* Called now and then (about each MiB) with decompressed bytes and events read so far. May be NULL. */
	void (*progress)(void *ctx, uint64_t bytes, uint64_t events);
};

struct fsc_reader {
	const char *name; /* "kineto" */
	/* 0 = not mine, 100 = surely mine. head is the start of the decompressed bytes, up to 4096. */
	int (*sniff)(const uint8_t *head, size_t n);
	/* Expected errors: FSC_EPARSE, FSC_ECORRUPT, FSC_ELIMIT, FSC_EUNSUPPORTED (code "not_a_timeline": the
	 * file is well formed but holds no timeline), each with code and byte offset. */
	enum fsc_status (*read)(struct fsc_source *src, const struct fsc_reader_sink *sink,
				struct fsc_err *err);
};

/* The reader for these first bytes, or NULL with err set (codes: "empty_file", "html", "compression_unsupported",
 * "archive_unsupported", "nested_archive", "unknown_format"). */
const struct fsc_reader *fsc_reader_pick(const uint8_t *head, size_t n, struct fsc_err *err);

#endif
