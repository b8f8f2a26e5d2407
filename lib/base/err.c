/* SPDX-License-Identifier: Apache-2.0 */
/* Error objects: filled once where the fault is found, context is prepended on the way up. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Copies s cut to cap - 1 bytes, never inside a UTF-8 sequence, so that a cut text can go into JSON. */
static void copy_cut(char *dst, size_t cap, const char *s)
{
	size_t n = strlen(s);
	if (n >= cap) {
		n = cap - 1;
		while (n && ((unsigned char)s[n] & 0xC0) == 0x80)
			n--;
	}
	memcpy(dst, s, n);
	dst[n] = '\0';
}

/* Formats into msg. A longer scratch space shows where the cut falls, so copy_cut can place it. */
static void format_msg(char msg[FSC_ERR_MSG_MAX], const char *fmt, va_list ap) fsc_printf(2, 0);
static void format_msg(char msg[FSC_ERR_MSG_MAX], const char *fmt, va_list ap)
{
	char tmp[FSC_ERR_MSG_MAX + 8];
	int n = vsnprintf(tmp, sizeof(tmp), fmt, ap);
	if (n < 0)
		tmp[0] = '\0';
	copy_cut(msg, FSC_ERR_MSG_MAX, tmp);
}

static void append(char msg[FSC_ERR_MSG_MAX], const char *sep, const char *s)
{
	size_t n = strlen(msg);
	if (n + strlen(sep) + 1 >= FSC_ERR_MSG_MAX)
		return;
	copy_cut(msg + n, FSC_ERR_MSG_MAX - n, sep);
	n = strlen(msg);
	copy_cut(msg + n, FSC_ERR_MSG_MAX - n, s);
}

enum fsc_status fsc_err_set(struct fsc_err *err, enum fsc_status st, const char *code,
			    const char *fmt, ...)
{
	if (!err)
		return st;
	va_list ap;
	va_start(ap, fmt);
	format_msg(err->msg, fmt, ap);
	va_end(ap);
	err->status = st;
	copy_cut(err->code, sizeof(err->code), code ? code : fsc_status_name(st));
	err->file[0] = '\0';
	err->offset = -1;
	return st;
}

static enum fsc_status status_of_errno(int errnum)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return FSC_EFULL;
	case ENOMEM:
		return FSC_ENOMEM;
	case ENOENT:
		return FSC_ENOTFOUND;
	case EACCES:
	case EPERM:
		return FSC_EDENIED;
	default:
		return FSC_EIO;
	}
}

enum fsc_status fsc_err_sys(struct fsc_err *err, int errnum, const char *fmt, ...)
{
	enum fsc_status st = status_of_errno(errnum);
	if (!err)
		return st;
	va_list ap;
	va_start(ap, fmt);
	format_msg(err->msg, fmt, ap);
	va_end(ap);
	char text[128];
	append(err->msg, ": ", strerror_r(errnum, text, sizeof(text)));
	err->status = st;
	copy_cut(err->code, sizeof(err->code), fsc_status_name(st));
	err->file[0] = '\0';
	err->offset = -1;
	return st;
}

enum fsc_status fsc_err_wrap(struct fsc_err *err, const char *fmt, ...)
{
	if (!err)
		return FSC_EBUG;
	char old[FSC_ERR_MSG_MAX];
	copy_cut(old, sizeof(old), err->msg);
	va_list ap;
	va_start(ap, fmt);
	format_msg(err->msg, fmt, ap);
	va_end(ap);
	append(err->msg, ": ", old);
	return err->status;
}

void fsc_err_at(struct fsc_err *err, const char *file, int64_t offset)
{
	if (!err)
		return;
	if (file)
		copy_cut(err->file, sizeof(err->file), file);
	err->offset = offset;
}

void fsc_err_clear(struct fsc_err *err)
{
	if (!err)
		return;
	err->status = FSC_OK;
	err->code[0] = '\0';
	err->msg[0] = '\0';
	err->file[0] = '\0';
	err->offset = -1;
}
