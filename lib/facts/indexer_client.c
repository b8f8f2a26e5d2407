/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of the sandboxed indexer: start, feed, watch, reap. One call owns one child from start
 * to wait4(); nothing of the child's behaviour can keep it from ending.
 */
#include "facts/indexer_client.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/fs.h"
#include "base/vec.h"
#include "facts/fact_codec.h"

/* Descriptors are first moved above those that the child gets, so that the dup2 actions cannot collide. */
#define FIRST_FREE_FD 10
#define POLL_MS 100
#define READ_BYTES 65536
#define ECHO_BYTES 8192
/* A child that has closed its socket, or said END, gets this long to exit by itself. */
#define EXIT_GRACE_NS 5000000000LL
#define NS_PER_S 1000000000LL

struct run {
	const struct fsc_indexer_job *job;
	const struct fsc_indexer_sink *sink;
	const atomic_bool *stop;
	uint64_t max_memory; /* the job's limits with defaults put in */
	int max_cpu_s, max_wall_s;
	struct fsc_indexer_result res;
	struct fsc_fact_decoder dec;
	pid_t pid;	   /* 0 until started */
	int sock, errpipe; /* owned, -1 when closed */
	int segment_fd;	   /* the sink's, -1 when no trace is open */
	int64_t start_ns, deadline_ns;
	bool timed_out, stopped, reaped;
	int wait_status;
	size_t note_len, echoed;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int move_up(int fd)
{
	int up = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	int saved = errno;

	close(fd);
	errno = saved;
	return up;
}

/* ---- start ---- */

struct argv {
	FSC_VEC(char *) v; /* strings owned; NULL-terminated */
};

static void argv_fini(struct argv *a)
{
	for (size_t i = 0; i < a->v.n; i++)
		fsc_free(a->v.v[i]);
	fsc_vec_fini(&a->v);
}

static bool argv_add(struct argv *a, char *s)
{
	if (fsc_vec_push(&a->v, s))
		return true;
	fsc_free(s);
	return false;
}

static bool argv_opt(struct argv *a, const char *key, const char *value)
{
	return !value || argv_add(a, fsc_xasprintf("--%s=%s", key, value));
}

static bool build_argv(struct argv *a, const struct run *r)
{
	const struct fsc_indexer_job *job = r->job;
	char sha[FSC_SHA256_HEX];

	if (!argv_add(a, fsc_xstrdup(job->program)) || !argv_add(a, fsc_xstrdup("--child")) ||
	    !argv_opt(a, "name", job->name) || !argv_opt(a, "job", job->job) ||
	    !argv_opt(a, "host", job->host) || !argv_opt(a, "capture", job->capture))
		return false;
	if (job->rank >= 0 && !argv_add(a, fsc_xasprintf("--rank=%" PRId64, job->rank)))
		return false;
	if (job->blob_sha256) {
		fsc_hex(sha, job->blob_sha256, FSC_SHA256_LEN);
		if (!argv_opt(a, "blob-sha256", sha))
			return false;
	}
	return argv_add(a, fsc_xasprintf("--max-memory=%" PRIu64, r->max_memory)) &&
	       argv_add(a, fsc_xasprintf("--max-cpu=%d", r->max_cpu_s)) &&
	       fsc_vec_push(&a->v, NULL);
}

/* The environment of the child: nothing of ours but what sanitizers and the loader of tests need. */
static bool build_env(struct argv *env)
{
	static const char *const keep[] = { "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS",
					    "TSAN_OPTIONS" };

	for (size_t i = 0; i < FSC_ARRAY_LEN(keep); i++) {
		const char *v = getenv(keep[i]);

		if (v && !argv_add(env, fsc_xasprintf("%s=%s", keep[i], v)))
			return false;
	}
	return argv_add(env, fsc_xstrdup("LC_ALL=C")) && fsc_vec_push(&env->v, NULL);
}

static int spawn_actions(posix_spawn_file_actions_t *fa, int sock, int errpipe, int blob)
{
	int rc = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0);

	if (!rc)
		rc = posix_spawn_file_actions_addopen(fa, 1, "/dev/null", O_WRONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(fa, errpipe, 2);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(fa, sock, FSC_INDEXER_FD_SOCKET);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(fa, blob, FSC_INDEXER_FD_BLOB);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(fa, FSC_INDEXER_FD_BLOB + 1);
	return rc;
}

/* Own process group, and signal state as a fresh program expects it, whatever the server has set. */
static int spawn_attributes(posix_spawnattr_t *at)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	int rc = posix_spawnattr_setflags(at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF);
	if (!rc)
		rc = posix_spawnattr_setpgroup(at, 0);
	if (!rc)
		rc = posix_spawnattr_setsigmask(at, &none);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(at, &all);
	return rc;
}

static int spawn_child(struct run *r, int sock, int errpipe, int blob)
{
	struct argv argv = { .v = { 0 } }, env = { .v = { 0 } };
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	int rc = ENOMEM;

	if (posix_spawn_file_actions_init(&fa))
		return ENOMEM;
	if (posix_spawnattr_init(&at)) {
		posix_spawn_file_actions_destroy(&fa);
		return ENOMEM;
	}
	if (build_argv(&argv, r) && build_env(&env)) {
		rc = spawn_actions(&fa, sock, errpipe, blob);
		if (!rc)
			rc = spawn_attributes(&at);
		if (!rc)
			rc = posix_spawn(&r->pid, r->job->program, &fa, &at, argv.v.v, env.v.v);
		if (rc)
			r->pid = 0;
	}
	argv_fini(&argv);
	argv_fini(&env);
	posix_spawnattr_destroy(&at);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

static enum fsc_status start(struct run *r, struct fsc_err *err)
{
	int pair[2] = { -1, -1 }, pipefd[2] = { -1, -1 }, blob = -1, rc = 0;

	if (lseek(r->job->blob_fd, 0, SEEK_SET) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    pipe2(pipefd, O_CLOEXEC) < 0)
		rc = errno;
	if (!rc && ((blob = fcntl(r->job->blob_fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD)) < 0 ||
		    (pair[1] = move_up(pair[1])) < 0 || (pipefd[1] = move_up(pipefd[1])) < 0))
		rc = errno;
	if (!rc)
		rc = spawn_child(r, pair[1], pipefd[1], blob);
	if (!rc) {
		r->sock = pair[0];
		r->errpipe = pipefd[0];
		pair[0] = pipefd[0] = -1;
		fcntl(r->errpipe, F_SETFL, O_NONBLOCK);
	}
	for (int i = 0; i < 2; i++) {
		close_fd(&pair[i]);
		close_fd(&pipefd[i]);
	}
	close_fd(&blob);
	if (!rc)
		return FSC_OK;
	const char *why = strerrordesc_np(rc);
	return fsc_err_set(err, FSC_EIO, "indexer_start", "cannot start %s: %s", r->job->program,
			   why ? why : "unknown error");
}

/* ---- what the child says ---- */

/* Keeps the first bytes of its descriptor 2 as printable text: hostile input may have a hand in them. */
static void read_note(struct run *r)
{
	char buf[1024];
	ssize_t n = 0;

	while (r->errpipe >= 0 && (n = read(r->errpipe, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n && r->note_len + 1 < sizeof(r->res.note); i++) {
			bool plain = buf[i] >= ' ' && buf[i] <= '~';

			r->res.note[r->note_len++] = plain ? buf[i] : ' ';
		}
		/* Reports of the child's sanitizer must reach whoever runs the tests. */
		if (FSC_SANITIZED && r->echoed < ECHO_BYTES && write(2, buf, (size_t)n) == n) {
			r->echoed += (size_t)n;
			if (r->echoed >= ECHO_BYTES && write(2, "...\n", 4) < 0)
				break;
		}
	}
	if (r->errpipe >= 0 && (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)))
		close_fd(&r->errpipe);
}

static enum fsc_status send_fd(struct run *r, int fd, struct fsc_err *err)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} u;
	struct iovec iov = { .iov_base = (char[1]){ 'F' }, .iov_len = 1 };
	struct msghdr mh = { .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = u.buf,
			     .msg_controllen = sizeof(u.buf) };
	ssize_t n = 0;

	memset(&u, 0, sizeof(u));
	struct cmsghdr *cm = CMSG_FIRSTHDR(&mh);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SCM_RIGHTS;
	cm->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cm), &fd, sizeof(int));
	do
		n = sendmsg(r->sock, &mh, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return FSC_OK;
	if (errno == EPIPE || errno == ECONNRESET)
		return FSC_END; /* it died meanwhile: the caller finds out how */
	return fsc_err_set(err, FSC_EPARSE, "indexer_protocol",
			   "indexer does not take the segments it asks for");
}

static enum fsc_status check_segment(const struct run *r, const struct fsc_fact *f,
				     struct fsc_err *err)
{
	struct stat st;

	if (fsc_fs_fstat(r->segment_fd, &st) < 0)
		return fsc_err_sys(err, errno, "indexer: segment");
	if (st.st_size != f->u.trace_end.segment_bytes)
		return fsc_err_set(err, FSC_EPARSE, "indexer_protocol",
				   "segment has %lld bytes where its trace says %lld",
				   (long long)st.st_size, (long long)f->u.trace_end.segment_bytes);
	return FSC_OK;
}

static enum fsc_status take_fact(struct run *r, const struct fsc_fact *f, struct fsc_err *err)
{
	enum fsc_status st = FSC_OK;

	r->res.frames++;
	if (f->type == FSC_FACT_TRACE_END)
		st = check_segment(r, f, err);
	if (st == FSC_OK && r->sink->fact)
		st = r->sink->fact(r->sink->ctx, f, err);
	if (st == FSC_OK && f->type == FSC_FACT_SEGMENT_WANTED) {
		r->segment_fd = -1;
		st = r->sink->segment_fd(r->sink->ctx, &r->segment_fd, err);
		if (st == FSC_OK)
			st = send_fd(r, r->segment_fd, err);
	}
	return st;
}

/* Reads what is there and hands on whole frames. FSC_END after the end frame or at the end of the bytes. */
static enum fsc_status pump(struct run *r, char *buf, struct fsc_err *err)
{
	ssize_t n = recv(r->sock, buf, READ_BYTES, MSG_DONTWAIT);
	struct fsc_fact f;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? FSC_OK : FSC_END;
	if (n == 0)
		return FSC_END;
	enum fsc_status st = fsc_fact_decoder_put(&r->dec, buf, (size_t)n, err);
	while (st == FSC_OK && (st = fsc_fact_decoder_next(&f, &r->dec, err)) == FSC_OK)
		st = take_fact(r, &f, err);
	if (st == FSC_AGAIN)
		return r->dec.ended ? FSC_END : FSC_OK;
	return st;
}

/* ---- watching and reaping ---- */

static bool must_end(struct run *r)
{
	if (r->stop && atomic_load_explicit(r->stop, memory_order_relaxed))
		r->stopped = true;
	if (fsc_clock_mono_ns() >= r->deadline_ns)
		r->timed_out = true;
	return r->stopped || r->timed_out;
}

static void kill_group(const struct run *r)
{
	/* The group may not exist yet or any more; the child itself is not reaped, so its id is ours. */
	if (kill(-r->pid, SIGKILL) < 0)
		kill(r->pid, SIGKILL);
}

/* flags: WNOHANG or 0. What may be left of the group goes while the child still holds the group's id. */
static bool try_reap(struct run *r, int flags)
{
	siginfo_t si = { 0 };
	struct rusage ru;
	pid_t got = 0;
	int rc = 0;

	do
		rc = waitid(P_PID, (id_t)r->pid, &si, WEXITED | WNOWAIT | flags);
	while (rc < 0 && errno == EINTR);
	if (rc < 0 || si.si_pid != r->pid)
		return false;
	kill(-r->pid, SIGKILL);
	do
		got = wait4(r->pid, &r->wait_status, 0, &ru);
	while (got < 0 && errno == EINTR);
	if (got != r->pid)
		return false;
	r->reaped = true;
	r->res.cpu_ns = ((int64_t)ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * NS_PER_S +
			((int64_t)ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
	r->res.maxrss_bytes = (int64_t)ru.ru_maxrss * 1024;
	r->res.exit_code = WIFEXITED(r->wait_status) ? WEXITSTATUS(r->wait_status) : -1;
	r->res.term_signal = WIFSIGNALED(r->wait_status) ? WTERMSIG(r->wait_status) : 0;
	return true;
}

static enum fsc_status converse(struct run *r, struct fsc_err *err)
{
	char *buf = fsc_xalloc(1, READ_BYTES);
	enum fsc_status st = FSC_OK;

	while (st == FSC_OK && !must_end(r)) {
		struct pollfd pf[2] = { { .fd = r->sock, .events = POLLIN },
					{ .fd = r->errpipe, .events = POLLIN } };

		if (poll(pf, 2, POLL_MS) < 0 && errno != EINTR) {
			st = fsc_err_sys(err, errno, "indexer: poll");
			break;
		}
		read_note(r);
		if (pf[0].revents)
			st = pump(r, buf, err);
	}
	fsc_free(buf);
	return st;
}

/* The stream is over, for whatever reason. polite: let it exit by itself for a moment. */
static void reap(struct run *r, bool polite)
{
	int64_t until = fsc_clock_mono_ns() + EXIT_GRACE_NS;
	struct timespec nap = { .tv_nsec = 200000 };

	while (polite && !try_reap(r, WNOHANG) && !must_end(r) && fsc_clock_mono_ns() < until) {
		read_note(r);
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < 20000000)
			nap.tv_nsec *= 2;
	}
	if (!r->reaped) {
		/* Killed by us: for a polite end that means it did not exit in time. */
		kill_group(r);
		r->timed_out = r->timed_out || (polite && !r->stopped);
		try_reap(r, 0);
	}
	read_note(r);
	r->res.wall_ns = fsc_clock_mono_ns() - r->start_ns;
}

/* ---- verdict ---- */

/* fsc_xalloc aborts and says so; a reader that trusts a failed mmap ends with SIGSEGV or SIGBUS. */
static bool looks_like_memory(const struct run *r)
{
	bool fell = r->res.term_signal == SIGABRT || r->res.term_signal == SIGSEGV ||
		    r->res.term_signal == SIGBUS || r->res.term_signal == SIGKILL;

	if (r->res.exit_code == FSC_INDEXER_EXIT_MEMORY)
		return true;
	/* libarchive ends the process by itself, with exit status 1, where it cannot return an error */
	if (r->res.exit_code == 1 && strstr(r->res.note, "Fatal Internal Error in libarchive") &&
	    strcasestr(r->res.note, "memory"))
		return true;
	return (r->res.term_signal == SIGABRT && strstr(r->res.note, "out of memory")) ||
	       (fell && (uint64_t)r->res.maxrss_bytes > r->max_memory / 4 * 3);
}

static enum fsc_status died(const struct run *r, struct fsc_err *err)
{
	const char *sep = r->res.note[0] ? ": " : "";
	int sig = r->res.term_signal;
	const char *name = sig ? sigabbrev_np(sig) : NULL;

	if (looks_like_memory(r))
		return fsc_err_set(err, FSC_ENOMEM, "indexer_memory",
				   "indexer ran out of memory (limit %" PRIu64 " MiB)%s%.120s",
				   r->max_memory >> 20, sep, r->res.note);
	if (sig == SIGXCPU)
		return fsc_err_set(err, FSC_ECANCELED, "indexer_timeout",
				   "indexer used its %d s of CPU time", r->max_cpu_s);
	if (sig == SIGSYS)
		return fsc_err_set(
			err, FSC_EIO, "indexer_killed",
			"indexer was killed by its sandbox (SIGSYS): forbidden system call%s%.120s",
			sep, r->res.note);
	if (sig)
		return fsc_err_set(err, FSC_EIO, "indexer_killed",
				   "indexer was killed by signal %d (SIG%s)%s%.120s", sig,
				   name ? name : "?", sep, r->res.note);
	/* what loaders and shells say of a program that cannot run, for example without a library of its own */
	if (r->res.exit_code == 127 && !r->res.frames)
		return fsc_err_set(err, FSC_EIO, "indexer_start",
				   "indexer could not be started (status 127)%s%.160s", sep,
				   r->res.note);
	if (r->res.exit_code == FSC_INDEXER_EXIT_SANDBOX)
		return fsc_err_set(err, FSC_EIO, "indexer_start",
				   "indexer could not enter its sandbox%s%.160s", sep, r->res.note);
	if (r->res.exit_code == FSC_INDEXER_EXIT_FULL)
		return fsc_err_set(err, FSC_EFULL, "disk_full",
				   "indexer had no space for a segment%s%.160s", sep, r->res.note);
	if (r->res.exit_code == FSC_INDEXER_EXIT_IO)
		return fsc_err_set(err, FSC_EIO, "indexer_io",
				   "indexer could not read or write%s%.160s", sep, r->res.note);
	return fsc_err_set(err, FSC_EIO, "indexer_killed", "indexer exited with status %d%s%.120s",
			   r->res.exit_code, sep, r->res.note);
}

static enum fsc_status verdict(struct run *r, enum fsc_status st, struct fsc_err *err)
{
	if (r->stopped)
		return fsc_err_set(err, FSC_ECANCELED, "indexer_stopped",
				   "indexing was stopped on request");
	if (st != FSC_OK && st != FSC_END)
		return st; /* err is set: protocol, sink or system */
	if (r->timed_out)
		return fsc_err_set(err, FSC_ECANCELED, "indexer_timeout",
				   "indexer was not done after %d s",
				   r->job->max_wall_s > 0 ? r->job->max_wall_s
							  : FSC_INDEXER_DEFAULT_WALL_S);
	if (r->res.exit_code != FSC_INDEXER_EXIT_OK)
		return died(r, err);
	return fsc_fact_decoder_finish(&r->dec, err);
}

enum fsc_status fsc_indexer_run(const struct fsc_indexer_job *job,
				const struct fsc_indexer_sink *sink, struct fsc_indexer_result *res,
				const atomic_bool *stop, struct fsc_err *err)
{
	struct run r = {
		.job = job,
		.sink = sink,
		.stop = stop,
		.max_memory =
			job->max_memory_bytes ? job->max_memory_bytes : FSC_INDEXER_DEFAULT_MEMORY,
		.max_cpu_s = job->max_cpu_s > 0 ? job->max_cpu_s : FSC_INDEXER_DEFAULT_CPU_S,
		.max_wall_s = job->max_wall_s > 0 ? job->max_wall_s : FSC_INDEXER_DEFAULT_WALL_S,
		.res = { .exit_code = -1 },
		.sock = -1,
		.errpipe = -1,
		.segment_fd = -1,
	};

	if (!job->program || job->blob_fd < 0 || !sink->segment_fd)
		return fsc_err_set(err, FSC_EINVAL, NULL,
				   "indexer: no program, no blob or no segment sink");
	fsc_fact_decoder_init(&r.dec);
	r.start_ns = fsc_clock_mono_ns();
	r.deadline_ns = r.start_ns + NS_PER_S * r.max_wall_s;
	enum fsc_status st = start(&r, err);
	if (st == FSC_OK) {
		st = converse(&r, err);
		reap(&r, st == FSC_END);
		st = verdict(&r, st, err);
		if (res)
			*res = r.res;
	}
	close_fd(&r.sock);
	close_fd(&r.errpipe);
	fsc_fact_decoder_fini(&r.dec);
	return st;
}
