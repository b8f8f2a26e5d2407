/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log lines. The sink (descriptor and level) is the one process-wide setting of the tree: it is set at
 * start-up before any thread is made, and every module needs it, also where no context object reaches
 * (out of memory, broken invariants). Both fields are atomic so that a late change is harmless.
 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

#define LINE_MAX_BYTES 4096

static struct {
	atomic_int fd;
	atomic_int min;
	atomic_int file; /* descriptor of the log file, -1 while there is none */
} sink = { 2, FSC_LOG_INFO, -1 };

void fsc_log_setup(int fd, enum fsc_log_level min)
{
	atomic_store(&sink.fd, fd);
	atomic_store(&sink.min, (int)min);
}

enum fsc_status fsc_log_open(const char *path, struct fsc_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
	int had = atomic_load(&sink.file);
	enum fsc_status st = FSC_OK;

	if (fd < 0)
		return fsc_err_sys(err, errno, "log file %s", path);
	if (had < 0) {
		atomic_store(&sink.file, fd);
		atomic_store(&sink.fd, fd);
		return FSC_OK;
	}
	/* In one step: a thread that writes has the old file or the new one, never a closed descriptor. */
	if (dup3(fd, had, O_CLOEXEC) < 0)
		st = fsc_err_sys(err, errno, "log file %s", path);
	close(fd);
	return st;
}

static const char *level_name(enum fsc_log_level level)
{
	switch (level) {
	case FSC_LOG_DEBUG:
		return "debug";
	case FSC_LOG_INFO:
		return "info";
	case FSC_LOG_WARN:
		return "warn";
	case FSC_LOG_ERROR:
		return "error";
	}
	return "unknown";
}

static size_t clamp_len(int n, size_t cap)
{
	if (n < 0)
		return 0;
	return (size_t)n < cap ? (size_t)n : cap - 1;
}

void fsc_log(enum fsc_log_level level, const char *mod, const char *fmt, ...)
{
	if ((int)level < atomic_load(&sink.min))
		return;
	int saved = errno;
	char line[LINE_MAX_BYTES];
	char ts[32];
	fsc_clock_iso8601(ts, fsc_clock_real_ns());
	size_t n = clamp_len(snprintf(line, sizeof(line) - 1, "ts=%s level=%s mod=%s ", ts,
				      level_name(level), mod),
			     sizeof(line) - 1);
	va_list ap;
	va_start(ap, fmt);
	n += clamp_len(vsnprintf(line + n, sizeof(line) - 1 - n, fmt, ap), sizeof(line) - 1 - n);
	va_end(ap);
	/* A caller that forgot to quote must not be able to forge a second line. */
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = ' ';
	line[n++] = '\n';
	ssize_t r;
	do
		r = write(atomic_load(&sink.fd), line, n);
	while (r < 0 && errno == EINTR);
	errno = saved;
}

/* One escaped unit of s into u (at most 4 bytes); *used bytes of s were taken. */
static size_t quote_unit(char u[5], const char *s, size_t *used)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char c = (unsigned char)*s;
	*used = 1;
	if (c == '"' || c == '\\') {
		u[0] = '\\';
		u[1] = (char)c;
		return 2;
	}
	if (c == '\n' || c == '\t' || c == '\r') {
		u[0] = '\\';
		u[1] = c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
		return 2;
	}
	if (c >= 0x20 && c < 0x7f) {
		u[0] = (char)c;
		return 1;
	}
	size_t len = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
	if (c >= 0xC2 && strnlen(s, len) == len && fsc_utf8_valid(s, len)) {
		memcpy(u, s, len);
		*used = len;
		return len;
	}
	u[0] = '\\';
	u[1] = 'x';
	u[2] = hex[c >> 4];
	u[3] = hex[c & 15];
	return 4;
}

const char *fsc_log_quote(char *dst, unsigned cap, const char *s)
{
	if (cap < 3) {
		if (cap)
			dst[0] = '\0';
		return dst;
	}
	size_t n = 0;
	dst[n++] = '"';
	for (size_t used; s && *s; s += used) {
		char u[5];
		size_t len = quote_unit(u, s, &used);
		if (n + len + 2 > cap)
			break;
		memcpy(dst + n, u, len);
		n += len;
	}
	dst[n++] = '"';
	dst[n] = '\0';
	return dst;
}
