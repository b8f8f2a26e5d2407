/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logfmt lines to one descriptor: `ts=... level=info mod=http msg="..." key=value`. One write() a line, so
 * lines of threads never mix. The level and the descriptor are set at start-up; logging is from any thread.
 */
#ifndef FSC_BASE_LOG_H
#define FSC_BASE_LOG_H

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum fsc_log_level { FSC_LOG_DEBUG, FSC_LOG_INFO, FSC_LOG_WARN, FSC_LOG_ERROR };

void fsc_log_setup(int fd, enum fsc_log_level min); /* start-up only */
/* Lines go to the end of this file, which is made (0600). Called again, as after a rotation, it opens the path anew under
 * the descriptor that is in use, so that no line of any thread is lost; on failure lines go where they went. One thread. */
fsc_nodiscard enum fsc_status fsc_log_open(const char *path, struct fsc_err *err);
/* fmt makes the text after `mod=`; values with spaces must be quoted by the caller with fsc_log_quote. */
void fsc_log(enum fsc_log_level level, const char *mod, const char *fmt, ...) fsc_printf(3, 4);
/* Quotes s for a logfmt value into dst (cut to cap), escaping controls and quotes; returns dst. */
const char *fsc_log_quote(char *dst, unsigned cap, const char *s);

#endif
