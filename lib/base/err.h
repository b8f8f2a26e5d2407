/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error detail that travels beside a status. The caller owns the object; the function that finds the
 * fault fills it once with fsc_err_set(), layers above may only prepend context with fsc_err_wrap().
 * Every function here accepts err == NULL and then does nothing. Owner thread only.
 */
#ifndef FSC_BASE_ERR_H
#define FSC_BASE_ERR_H

#include <stdint.h>

#include "base/attr.h"
#include "base/status.h"

#define FSC_ERR_CODE_MAX 32
#define FSC_ERR_MSG_MAX 240
#define FSC_ERR_FILE_MAX 256

struct fsc_err {
	enum fsc_status status;
	char code[FSC_ERR_CODE_MAX]; /* stable slug for scripts, e.g. "gzip_truncated" */
	char msg[FSC_ERR_MSG_MAX];   /* lower case, no full stop, names the thing and the limit */
	char file[FSC_ERR_FILE_MAX]; /* input file or archive member, "" when not about one */
	int64_t offset; /* byte offset in that file's (decompressed) bytes, -1 unknown */
};

#define FSC_ERR_INIT                           \
	{                                      \
		.status = FSC_OK, .offset = -1 \
	}

/* Fills err and returns st, so that `return fsc_err_set(...)` reads well. code may be NULL: then the
 * status name is the code. Messages that do not fit are cut. */
enum fsc_status fsc_err_set(struct fsc_err *err, enum fsc_status st, const char *code,
			    const char *fmt, ...) fsc_printf(4, 5);

/* As fsc_err_set for a failed system call: appends the text of errno, and maps ENOSPC/EDQUOT/EFBIG to
 * FSC_EFULL, ENOMEM to FSC_ENOMEM, ENOENT to FSC_ENOTFOUND, EACCES/EPERM to FSC_EDENIED, rest FSC_EIO. */
enum fsc_status fsc_err_sys(struct fsc_err *err, int errnum, const char *fmt, ...) fsc_printf(3, 4);

/* Prepends "context: " to the message and returns err->status. Without an object the status is not known:
 * FSC_EBUG then, so a function whose err may be NULL keeps its status in a variable. */
enum fsc_status fsc_err_wrap(struct fsc_err *err, const char *fmt, ...) fsc_printf(2, 3);

/* Records where in the input the fault lies. file may be NULL to leave it. */
void fsc_err_at(struct fsc_err *err, const char *file, int64_t offset);

void fsc_err_clear(struct fsc_err *err);

#endif
