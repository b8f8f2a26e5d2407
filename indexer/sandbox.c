/* SPDX-License-Identifier: Apache-2.0 */
/* Puts up the layers described in sandbox.h, from the outermost to the one that forbids the rest. */
#include "indexer/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A worker gets one segment descriptor at a time besides 0..4; the rest is slack. */
#define MAX_DESCRIPTORS 32
/* SIGXCPU comes first, so that the parent can tell; this is for a process that ignores it. */
#define CPU_HARD_EXTRA_S 5

/* ---- limits ---- */

static int set_limit(int what, rlim_t soft, rlim_t hard)
{
	struct rlimit r = { .rlim_cur = soft, .rlim_max = hard };
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)what, &now) < 0)
		return -1;
	/* Never raise: the hard limit of whoever started us stands. */
	if (now.rlim_max < r.rlim_max)
		r.rlim_max = now.rlim_max;
	if (r.rlim_cur > r.rlim_max)
		r.rlim_cur = r.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &r);
}

static enum fsc_status limit_resources(const struct fsc_sandbox_limits *l,
				       struct fsc_sandbox_state *state, struct fsc_err *err)
{
	rlim_t cpu = (rlim_t)(l->max_cpu_s > 0 ? l->max_cpu_s : 1);

	if (set_limit(RLIMIT_CPU, cpu, cpu + CPU_HARD_EXTRA_S) < 0 ||
	    set_limit(RLIMIT_CORE, 0, 0) < 0 ||
	    set_limit(RLIMIT_FSIZE, l->max_file_bytes, l->max_file_bytes) < 0 ||
	    set_limit(RLIMIT_NOFILE, MAX_DESCRIPTORS, MAX_DESCRIPTORS) < 0)
		return fsc_err_sys(err, errno, "sandbox: resource limits");
	/* the shadow memory of a sanitizer is terabytes of address space */
	state->memory_limited = !FSC_SANITIZED;
	if (state->memory_limited &&
	    set_limit(RLIMIT_AS, l->max_memory_bytes, l->max_memory_bytes) < 0)
		return fsc_err_sys(err, errno, "sandbox: memory limit");
	/* Over the file size or without a reader, a write fails instead of killing. */
	if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return fsc_err_sys(err, errno, "sandbox: signals");
	return FSC_OK;
}

/* ---- Landlock ---- */

/* As of ABI 6; the header of an older kernel knows only the first field. The size that is passed says how
 * many fields there are. */
struct ruleset {
	uint64_t fs, net, scoped;
};

static enum fsc_status deny_files(struct fsc_sandbox_state *state, struct fsc_err *err)
{
	long abi = syscall(__NR_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct ruleset r = { .fs = (1u << 13) - 1 };
	size_t size = sizeof(r.fs);

	/* ENOSYS: before Linux 5.13. EOPNOTSUPP: switched off at boot. seccomp stands without it. */
	if (abi < 1)
		return FSC_OK;
	if (abi >= 2)
		r.fs |= 1u << 13; /* REFER */
	if (abi >= 3)
		r.fs |= 1u << 14; /* TRUNCATE */
	if (abi >= 5)
		r.fs |= 1u << 15; /* IOCTL_DEV */
	if (abi >= 4) {
		r.net = 3; /* BIND_TCP, CONNECT_TCP */
		size = sizeof(r.fs) + sizeof(r.net);
	}
	if (abi >= 6) {
		r.scoped = 3; /* ABSTRACT_UNIX_SOCKET, SIGNAL */
		size = sizeof(r);
	}
	long fd = syscall(__NR_landlock_create_ruleset, &r, size, 0);
	if (fd < 0)
		return fsc_err_sys(err, errno, "sandbox: landlock ruleset");
	long rc = syscall(__NR_landlock_restrict_self, (int)fd, 0);
	int saved = errno;
	close((int)fd);
	if (rc < 0)
		return fsc_err_sys(err, saved, "sandbox: landlock");
	state->landlock_abi = (int)abi;
	return FSC_OK;
}

/* ---- seccomp ---- */

static const int allowed[] = {
	/* descriptors that we have */
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(pread64),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(pwrite64),
	SCMP_SYS(lseek),
	SCMP_SYS(fstat), /* and not newfstatat, see fsc_fs_fstat() */
	SCMP_SYS(ftruncate),
	SCMP_SYS(close),
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),
	SCMP_SYS(recvfrom),
	SCMP_SYS(sendto),
	SCMP_SYS(poll),
	/* memory (mmap and mprotect: see add_conditional) */
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(brk),
	SCMP_SYS(madvise),
	/* time, waiting, randomness for hash seeds */
	SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(futex),
	SCMP_SYS(sched_yield),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(getrandom),
	/* the C library: qsort() asks how much memory there is, abort() who it is */
	SCMP_SYS(sysinfo),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigreturn),
	/* the end */
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

#if FSC_SANITIZED
/* What the runtimes of the sanitizers do besides: harmless, or answered with an error. */
static const int allowed_sanitized[] = {
	SCMP_SYS(sigaltstack), SCMP_SYS(sched_getaffinity), SCMP_SYS(getrusage),
	SCMP_SYS(prctl),       SCMP_SYS(set_robust_list),   SCMP_SYS(rseq),
	SCMP_SYS(tkill),       SCMP_SYS(nanosleep),	    SCMP_SYS(clock_nanosleep),
};
static const int refused_sanitized[] = {
	SCMP_SYS(open),	      SCMP_SYS(openat),	   SCMP_SYS(readlink),	SCMP_SYS(readlinkat),
	SCMP_SYS(access),     SCMP_SYS(stat),	   SCMP_SYS(lstat),	SCMP_SYS(ioctl),
	SCMP_SYS(prlimit64),  SCMP_SYS(getrlimit), SCMP_SYS(setrlimit), SCMP_SYS(pipe),
	SCMP_SYS(pipe2),      SCMP_SYS(getcwd),	   SCMP_SYS(uname),	SCMP_SYS(process_vm_readv),
	SCMP_SYS(newfstatat),
};
#endif

static int add_plain(scmp_filter_ctx ctx, uint32_t action, const int *calls, size_t n)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		/* negative numbers are calls that this architecture does not have */
		if (calls[i] >= 0)
			rc = seccomp_rule_add(ctx, action, calls[i], 0);
	}
	return rc;
}

/* Calls that are fine with some arguments only. */
static int add_conditional(scmp_filter_ctx ctx)
{
	int rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				  SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));

	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				      SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* abort() signals the thread itself */
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				      SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
	/* stdio asks whether a descriptor is a terminal, fcntl whether it is open for writing */
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				      SCMP_A1(SCMP_CMP_EQ, F_GETFL, 0));
	return rc;
}

static enum fsc_status allow_calls(struct fsc_err *err)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);

	if (!ctx)
		return fsc_err_set(err, FSC_EIO, NULL, "sandbox: seccomp is not there");
	int rc = add_plain(ctx, SCMP_ACT_ALLOW, allowed, sizeof(allowed) / sizeof(allowed[0]));
	if (!rc)
		rc = add_conditional(ctx);
#if FSC_SANITIZED
	if (!rc)
		rc = add_plain(ctx, SCMP_ACT_ALLOW, allowed_sanitized,
			       sizeof(allowed_sanitized) / sizeof(allowed_sanitized[0]));
	if (!rc)
		rc = add_plain(ctx, SCMP_ACT_ERRNO(EPERM), refused_sanitized,
			       sizeof(refused_sanitized) / sizeof(refused_sanitized[0]));
#endif
	/* the filter is a binary tree, not a list: reads and maps are most calls, and many */
	if (!rc)
		rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!rc)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	return rc ? fsc_err_sys(err, -rc, "sandbox: seccomp") : FSC_OK;
}

enum fsc_status fsc_sandbox_enter(const struct fsc_sandbox_limits *limits,
				  struct fsc_sandbox_state *state, struct fsc_err *err)
{
	struct fsc_sandbox_state unused = { 0 };

	if (!state)
		state = &unused;
	*state = (struct fsc_sandbox_state){ 0 };
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fsc_err_sys(err, errno, "sandbox: prctl");
#if !FSC_SANITIZED
	/* nobody of our user may look into this process */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return fsc_err_sys(err, errno, "sandbox: prctl");
#endif
	enum fsc_status st = limit_resources(limits, state, err);
	if (st == FSC_OK)
		st = deny_files(state, err);
	if (st == FSC_OK)
		st = allow_calls(err);
	return st;
}
