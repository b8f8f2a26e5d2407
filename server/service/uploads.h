/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uploads in several sittings: begin, pieces, end. What came before a cut counts, and stays over a restart of the
 * server. An offset is told only after the bytes before it are durable, so it never shrinks. The end is that of
 * any upload: digest, blob, bundle row and queue row, and only then the answer.
 *
 * One writer at a time: whoever begins a piece, or asks for the state, takes over from an older piece, whose next
 * write is refused. A client asks because its connection broke; the server may not have noticed yet.
 *
 * Thread rule: struct fsc_uploads is for any thread; a piece belongs to one thread at a time. begin, write and
 * abort do not wait for the disk to be synced and may run on an I/O thread; all others may block.
 * Codes beside those of service/ingest.h: "no_such_upload" FSC_ENOTFOUND (never was, ended long ago, expired,
 * cancelled, or another project's), "upload_offset" FSC_EEXIST (the offset is not where the upload is),
 * "upload_superseded" FSC_EEXIST (a newer request took over), "upload_complete" FSC_EEXIST (nothing may be added),
 * "upload_length" FSC_EINVAL (two lengths that differ), "upload_busy" FSC_EBUSY (being synced or completed, or the offset
 * is not where the upload is and that is not durable yet),
 * "too_many_uploads" FSC_EBUSY, "part_lost" FSC_EIO or FSC_EFULL (the disk lost bytes of it: it is gone).
 */
#ifndef FSC_SERVICE_UPLOADS_H
#define FSC_SERVICE_UPLOADS_H

#include "base/buf.h"
#include "service/ingest.h"

struct fsc_uploads;
struct fsc_piece;

struct fsc_uploads_opts {
	struct fsc_store *store;   /* borrowed */
	struct fsc_blobs *blobs;   /* borrowed */
	struct fsc_ingest *ingest; /* borrowed */
	uint32_t max_open;	   /* of a project; 0 = FSC_MAX_UPLOAD_SESSIONS */
	int64_t max_age_ns;	   /* 0 = FSC_MAX_UPLOAD_AGE_S */
};
fsc_nodiscard struct fsc_uploads *fsc_uploads_new(const struct fsc_uploads_opts *opts);
void fsc_uploads_free(struct fsc_uploads *u); /* after the last piece; NULL is fine */
/* Start-up: room is counted for what went on when the server ended. */
fsc_nodiscard enum fsc_status fsc_uploads_load(struct fsc_uploads *u, struct fsc_err *err);
uint64_t fsc_uploads_max_bytes(const struct fsc_uploads *u);

/* Where an upload is. */
struct fsc_upload_state {
	int64_t id;
	int64_t offset;
	int64_t length; /* -1 not announced yet */
	bool complete;
	int64_t expires_in_s;
};

struct fsc_piece_begin {
	int64_t project;
	int64_t id;	       /* of the upload that goes on; 0 begins one */
	int64_t offset;	       /* of an upload that goes on */
	int64_t length;	       /* of the whole upload as said in this request, -1 not said */
	int64_t bytes;	       /* that this request brings, -1 unknown */
	bool complete;	       /* the upload ends with this piece */
	const uint8_t *sha256; /* 32 bytes, of the whole upload, or NULL */
	/* Of one that begins: metadata and key (its bytes and sha256 are not looked at), and who asks. */
	struct fsc_upload_begin meta;
	const char *actor;
};
#define FSC_PIECE_BEGIN_INIT                                               \
	{                                                                  \
		.project = FSC_PROJECT_DEFAULT, .length = -1, .bytes = -1, \
		.meta = FSC_UPLOAD_BEGIN_INIT                              \
	}
/* Checks everything that is known before a byte is read. Everything in `b` is copied. *state is filled when the
 * error is "upload_offset" or "upload_complete". An upload that begins without a body and with an
 * Idempotency-Key that another one has which goes on, and which nobody writes to now, is that one. */
fsc_nodiscard enum fsc_status fsc_piece_begin(struct fsc_piece **out, struct fsc_uploads *u,
					      const struct fsc_piece_begin *b,
					      struct fsc_upload_state *state, struct fsc_err *err);
/* After an error the bytes of earlier calls still count; only fsc_piece_abort is left. */
fsc_nodiscard enum fsc_status fsc_piece_write(struct fsc_piece *p, const void *data, size_t n,
					      struct fsc_err *err);
void fsc_piece_abort(struct fsc_piece *p); /* NULL is fine */

struct fsc_piece_done {
	struct fsc_upload_state state;
	struct fsc_upload_done bundle; /* when state.complete */
};
/* All bytes of the piece are here: durable on FSC_OK. Frees the piece in every case. An upload whose digest or
 * idempotency key does not fit is gone; after any other error it can go on. */
fsc_nodiscard enum fsc_status fsc_piece_end(struct fsc_piece *p, struct fsc_piece_done *out,
					    struct fsc_err *err);

/* Takes over from a piece that is under way. */
fsc_nodiscard enum fsc_status fsc_uploads_state(struct fsc_uploads *u, int64_t project, int64_t id,
						struct fsc_upload_state *out, struct fsc_err *err);
/* Forgets the upload and its bytes; a bundle that it became stays. */
fsc_nodiscard enum fsc_status fsc_uploads_cancel(struct fsc_uploads *u, int64_t project, int64_t id,
						 struct fsc_err *err);

/* Housekeeping, every minute or so: gives up what has expired, gives back the room of what stands still for an
 * hour (the next piece asks for it again), removes parts without a row. */
fsc_nodiscard enum fsc_status fsc_uploads_sweep(struct fsc_uploads *u, struct fsc_err *err);
/* Prometheus text. */
void fsc_uploads_metrics(struct fsc_uploads *u, struct fsc_buf *out);

#endif
