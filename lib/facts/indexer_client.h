/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs fleetscope-indexer as a child process on one blob and hands its facts to a sink. Used by the server's
 * workers and by the indexer's own by-hand mode. The child is in a process group of its own, has descriptors
 * 0 and 1 on /dev/null, 2 on a pipe that is kept short, 3 a socket, 4 the blob, and no other.
 *
 * Protocol on the socket: the child writes frames (facts/fact.h). After SEGMENT_WANTED the parent sends one
 * byte with one descriptor attached (SCM_RIGHTS): an empty regular file that becomes the segment.
 *
 * Whatever the child does, the call returns: its death, its deadline and its nonsense are FSC_* errors with
 * one of the codes below, and the child is dead and reaped then.
 *   indexer_killed    it was ended by a signal or exited unasked (message names the signal)
 *   indexer_timeout   wall deadline or CPU limit passed
 *   indexer_memory    it ran into its memory limit
 *   indexer_protocol  its stream breaks the rules of fact.h, or ends without END
 *   indexer_start     it could not be started
 *   disk_full         it had no space for a segment (FSC_EFULL)
 *   indexer_io        the system refused it a read of the blob or a write of a segment (FSC_EIO)
 *   indexer_stopped   *stop became true (FSC_ECANCELED)
 * A run whose END frame says that the bundle is broken is FSC_OK: that is an answer (the sink saw the frame).
 *
 * Thread rule: any thread; the calling thread must live until the call returns (the child dies with it).
 */
#ifndef FSC_FACTS_INDEXER_CLIENT_H
#define FSC_FACTS_INDEXER_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "facts/fact.h"

/* Descriptors of the child. */
#define FSC_INDEXER_FD_SOCKET 3
#define FSC_INDEXER_FD_BLOB 4

/* Exit statuses of the child. Any other is a fault of the program. */
#define FSC_INDEXER_EXIT_OK 0	   /* END was written */
#define FSC_INDEXER_EXIT_PIPE 3	   /* the parent is gone or answered nonsense */
#define FSC_INDEXER_EXIT_MEMORY 4  /* out of memory */
#define FSC_INDEXER_EXIT_SANDBOX 5 /* the sandbox could not be set up: no input byte was touched */
/* The host's trouble, not the input's: there is no END, nothing of the run may be used. */
#define FSC_INDEXER_EXIT_FULL 10 /* no space for a segment */
#define FSC_INDEXER_EXIT_IO 11	 /* blob or segment could not be read or written */

/* Used where the job has 0. */
#define FSC_INDEXER_DEFAULT_MEMORY (4ULL << 30)
#define FSC_INDEXER_DEFAULT_CPU_S 900
#define FSC_INDEXER_DEFAULT_WALL_S 1800

struct fsc_indexer_job {
	const char *program; /* path of fleetscope-indexer */
	int blob_fd;	     /* readable, borrowed; read from offset 0 (its position is moved) */
	const char *name;    /* display name of the file */
	const char *job, *host, *capture; /* hints of the upload, NULL when none */
	int64_t rank;			  /* hint, -1 none */
	const uint8_t *blob_sha256;	  /* 32 bytes, or NULL */
	uint64_t max_memory_bytes; /* address space; ignored by sanitizer builds of the child */
	int max_cpu_s, max_wall_s;
};
#define FSC_INDEXER_JOB_INIT              \
	{                                 \
		.blob_fd = -1, .rank = -1 \
	}

struct fsc_indexer_sink {
	void *ctx;
	/* Every frame, in order, validated. A non-OK status ends the run and is returned by it. */
	enum fsc_status (*fact)(void *ctx, const struct fsc_fact *f, struct fsc_err *err);
	/* Gives an empty regular file, open for reading and writing, for the current trace. It stays the
	 * sink's, and stays open until TRACE_END (or the MEMBER that withdraws the trace) was delivered.
	 * Its size has been checked against TRACE_END.segment_bytes when the sink sees that frame. */
	enum fsc_status (*segment_fd)(void *ctx, int *fd, struct fsc_err *err);
};

struct fsc_indexer_result {
	int exit_code;	 /* -1 when a signal ended it */
	int term_signal; /* 0 when it exited */
	int64_t cpu_ns;	 /* user + system */
	int64_t wall_ns;
	int64_t maxrss_bytes;
	uint64_t frames;
	char note[512]; /* start of what it wrote to descriptor 2, printable ASCII, "" normally */
};

/* res may be NULL; it is filled whenever a child was started. stop may be NULL; it is looked at 10 times a
 * second. Expected errors: FSC_EIO (killed, start, io), FSC_EFULL (disk full), FSC_ECANCELED (stopped, timeout), FSC_ENOMEM (memory),
 * FSC_EPARSE (protocol), and what the sink returns. */
fsc_nodiscard enum fsc_status fsc_indexer_run(const struct fsc_indexer_job *job,
					      const struct fsc_indexer_sink *sink,
					      struct fsc_indexer_result *res,
					      const atomic_bool *stop, struct fsc_err *err);

#endif
