/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounded growable byte buffer. Its maximum is given at init; passing it or failing to get memory makes
 * the buffer "failed": later appends do nothing and fsc_buf_status() tells which. So a writer may append
 * many times and check once. data is always NUL-terminated when not NULL. Owner thread.
 */
#ifndef FSC_BASE_BUF_H
#define FSC_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/status.h"

struct fsc_buf {
	char *data; /* owned */
	size_t len, cap, max;
	enum fsc_status failed; /* FSC_OK, FSC_ELIMIT or FSC_ENOMEM */
};

#define FSC_BUF_INIT(maximum)                                                        \
	{                                                                            \
		.data = NULL, .len = 0, .cap = 0, .max = (maximum), .failed = FSC_OK \
	}

void fsc_buf_init(struct fsc_buf *b, size_t max);
void fsc_buf_fini(struct fsc_buf *b);
void fsc_buf_clear(struct fsc_buf *b); /* len = 0, failed = FSC_OK, memory kept */
void fsc_buf_add(struct fsc_buf *b, const void *p, size_t n);
void fsc_buf_adds(struct fsc_buf *b, const char *s);
void fsc_buf_addc(struct fsc_buf *b, char c);
void fsc_buf_addf(struct fsc_buf *b, const char *fmt, ...) fsc_printf(2, 3);
void fsc_buf_vaddf(struct fsc_buf *b, const char *fmt, va_list ap) fsc_printf(2, 0);
void fsc_buf_addi(struct fsc_buf *b, int64_t v);  /* decimal */
void fsc_buf_addu(struct fsc_buf *b, uint64_t v); /* decimal */
/* Room for n more bytes at data+len, or NULL (and failed). The caller then adds to len. */
char *fsc_buf_room(struct fsc_buf *b, size_t n);
fsc_nodiscard enum fsc_status fsc_buf_status(const struct fsc_buf *b);
/* Ownership of the bytes moves to the caller (fsc_free); the buffer is empty afterwards. NULL only when the
 * buffer had failed or memory for the NUL of an empty one could not be had. len may be NULL. */
fsc_nodiscard char *fsc_buf_take(struct fsc_buf *b, size_t *len);

#endif
