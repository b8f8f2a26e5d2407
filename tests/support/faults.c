/* SPDX-License-Identifier: Apache-2.0 */
/* See the header. Nothing here allocates, or calls what it stands in front of. Compiled without sanitizers: it
 * runs before they are ready. */
#include "tests/support/faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	atomic_int kind;
	atomic_uint_fast64_t count, at;
	atomic_bool fired;
	char own_where[FAULTS_WHERE], *where;
	uint32_t *stacks; /* borrowed */
	uint64_t cap;
} faults;

static __thread bool spared;

void faults_arm(enum fault_kind kind, uint64_t n)
{
	atomic_store(&faults.count, 0);
	atomic_store(&faults.at, n);
	atomic_store(&faults.fired, false);
	if (!faults.where)
		faults.where = faults.own_where;
	faults.where[0] = '\0';
	atomic_store(&faults.kind, (int)kind);
}

void faults_disarm(void)
{
	atomic_store(&faults.kind, FAULT_NONE);
}

uint64_t faults_count(void)
{
	return atomic_load(&faults.count);
}

bool faults_fired(void)
{
	return atomic_load(&faults.fired);
}

const char *faults_where(void)
{
	return faults.where ? faults.where : "";
}

void faults_spare(bool yes)
{
	spared = yes;
}

void faults_record(uint32_t *stacks, uint64_t cap)
{
	void *pc[1];

	(void)!backtrace(pc, 1); /* loads what it needs now */
	faults.stacks = stacks;
	faults.cap = cap;
}

void faults_tell(char *where)
{
	faults.where = where;
}

static void record(uint64_t n)
{
	void *pc[24];
	uint64_t h = 14695981039346656037u;

	if (!faults.stacks || n > faults.cap)
		return;
	spared = true;
	for (int i = 0, depth = backtrace(pc, 24); i < depth; i++)
		h = (h ^ (uint64_t)(uintptr_t)pc[i]) * 1099511628211u;
	spared = false;
	faults.stacks[n - 1] = (uint32_t)(h >> 32);
}

/* Only AddressSanitizer has it. */
#pragma weak __lsan_do_recoverable_leak_check
int __lsan_do_recoverable_leak_check(void);

bool faults_leaked(void)
{
	return __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0;
}

/* Name of the program or library that holds the address. */
static const char *module_of(const void *pc)
{
	Dl_info info;

	return pc && dladdr(pc, &info) && info.dli_fname ? info.dli_fname : "?";
}

/* Is this call the one? For the record: fd or what (a path; of an allocation who called) says on what. */
static bool hit(enum fault_kind kind, const char *call, int fd, const void *what)
{
	char link[64], buf[512];
	const char *name = NULL;

	if (atomic_load(&faults.kind) != (int)kind || spared)
		return false;
	uint64_t n = atomic_fetch_add(&faults.count, 1) + 1;

	record(n);
	if (n != atomic_load(&faults.at))
		return false;
	if (fd >= 0) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		ssize_t len = readlink(link, buf, sizeof(buf) - 1);

		buf[len > 0 ? len : 0] = '\0';
		name = buf;
	} else {
		name = kind == FAULT_ALLOC ? module_of(what) : what;
	}
	if (name && strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	snprintf(faults.where, FAULTS_WHERE, "%s%s%.90s", call, name ? " " : "", name ? name : "");
	atomic_store(&faults.fired, true);
	return true;
}

/* ---- memory ---- */

#if FSC_SANITIZED
#define REAL(name) __interceptor_##name
#else
#define REAL(name) __libc_##name
#endif
void *REAL(malloc)(size_t n);
void *REAL(calloc)(size_t n, size_t size);
void *REAL(realloc)(void *p, size_t n);
void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t n);

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

void *malloc(size_t n)
{
	return hit(FAULT_ALLOC, "malloc", -1, __builtin_return_address(0)) ? no_memory()
									   : REAL(malloc)(n);
}

void *calloc(size_t n, size_t size)
{
	return hit(FAULT_ALLOC, "calloc", -1, __builtin_return_address(0)) ? no_memory()
									   : REAL(calloc)(n, size);
}

void *realloc(void *p, size_t n)
{
	return hit(FAULT_ALLOC, "realloc", -1, __builtin_return_address(0)) ? no_memory()
									    : REAL(realloc)(p, n);
}

/* ---- files ---- */

/* Descriptors of files and folders; not the log, pipes, sockets. */
static bool is_file(int fd)
{
	struct stat sb;

	return atomic_load(&faults.kind) == FAULT_IO && fd > 2 && !fstat(fd, &sb) &&
	       (S_ISREG(sb.st_mode) || S_ISDIR(sb.st_mode));
}

static int failed(int e)
{
	errno = e;
	return -1;
}

/* The kernel is called directly: to look up the C library's function is no business of a malloc or open that the
 * loader calls before it is done. */
#define FD_CALL(ret, name, decl, fd, e, ...)                       \
	ret name decl;                                             \
	ret name decl                                              \
	{                                                          \
		if (is_file(fd) && hit(FAULT_IO, #name, fd, NULL)) \
			return failed(e);                          \
		return (ret)syscall(__VA_ARGS__);                  \
	}
FD_CALL(ssize_t, write, (int fd, const void *p, size_t n), fd, ENOSPC, SYS_write, fd, p, n)
FD_CALL(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t o), fd, ENOSPC, SYS_pwrite64, fd,
	p, n, o)
FD_CALL(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t o), fd, ENOSPC, SYS_pwrite64,
	fd, p, n, o)
FD_CALL(int, ftruncate, (int fd, off_t n), fd, EIO, SYS_ftruncate, fd, n)
FD_CALL(int, ftruncate64, (int fd, off64_t n), fd, EIO, SYS_ftruncate, fd, n)
/* Nobody cuts the power here, so a sync that works has nothing to do. */
static int sync_file(const char *call, int fd)
{
	return is_file(fd) && hit(FAULT_IO, call, fd, NULL) ? failed(EIO) : 0;
}

int fsync(int fd)
{
	return sync_file("fsync", fd);
}

int fdatasync(int fd)
{
	return sync_file("fdatasync", fd);
}

#define PATH_CALL(name, decl, path, ...)            \
	int name decl;                              \
	int name decl                               \
	{                                           \
		if (hit(FAULT_IO, #name, -1, path)) \
			return failed(EIO);         \
		return (int)syscall(__VA_ARGS__);   \
	}
PATH_CALL(rename, (const char *a, const char *b), b, SYS_renameat, AT_FDCWD, a, AT_FDCWD, b)
PATH_CALL(renameat, (int f, const char *a, int g, const char *b), b, SYS_renameat, f, a, g, b)
PATH_CALL(unlink, (const char *a), a, SYS_unlinkat, AT_FDCWD, a, 0)
PATH_CALL(unlinkat, (int f, const char *a, int flags), a, SYS_unlinkat, f, a, flags)
PATH_CALL(mkdir, (const char *a, mode_t m), a, SYS_mkdirat, AT_FDCWD, a, m)
PATH_CALL(mkdirat, (int f, const char *a, mode_t m), a, SYS_mkdirat, f, a, m)

/* The result is the error here. */
int posix_fallocate(int fd, off_t at, off_t n);
int posix_fallocate(int fd, off_t at, off_t n)
{
	if (is_file(fd) && hit(FAULT_IO, "posix_fallocate", fd, NULL))
		return ENOSPC;
	return syscall(SYS_fallocate, fd, 0, at, n) ? errno : 0;
}

static int open_file(const char *call, int dir, const char *path, int flags, va_list ap)
{
	mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;

	if ((flags & O_ACCMODE) != O_RDONLY && hit(FAULT_IO, call, -1, path))
		return failed(EIO);
	return (int)syscall(SYS_openat, dir, path, flags, mode);
}

#define OPEN_CALL(name, decl, dir)                               \
	int name decl;                                           \
	int name decl                                            \
	{                                                        \
		va_list ap;                                      \
		va_start(ap, flags);                             \
		int fd = open_file(#name, dir, path, flags, ap); \
		va_end(ap);                                      \
		return fd;                                       \
	}
OPEN_CALL(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN_CALL(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN_CALL(openat, (int dir, const char *path, int flags, ...), dir)
OPEN_CALL(openat64, (int dir, const char *path, int flags, ...), dir)
