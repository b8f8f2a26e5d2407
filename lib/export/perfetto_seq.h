/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One packet sequence of a Perfetto file: its incremental clock, what it has interned, and the packets it
 * writes. Interning ids are derived from ids we already have (segment string ids, ids of the export's own
 * string table), so a sequence only remembers which of them it has sent. Owner thread.
 */
#ifndef FSC_EXPORT_PERFETTO_SEQ_H
#define FSC_EXPORT_PERFETTO_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "segment/seg_read.h"

/* Which dictionary of InternedData (field number) an entry belongs to. */
enum pf_dict {
	PF_EVENT_CATEGORIES = 1,
	PF_EVENT_NAMES = 2,
	PF_ANNOTATION_NAMES = 3,
	PF_GRAPHICS_CONTEXTS = 23,
	PF_GPU_SPECIFICATIONS = 24,
	PF_ANNOTATION_STRINGS = 29,
	PF_COMPUTE_KERNELS = 1000,
	PF_COMPUTE_ARG_NAMES = 1001,
};

/* Last sequence that has sent an id, indexed by id. */
typedef FSC_VEC(uint32_t) pf_seen;

struct pf_seq {
	const struct fsc_seg *seg; /* borrowed */
	struct fsc_strtab
		*texts; /* owned: annotation names and values that are not segment strings */
	pf_seen seen_cat, seen_name, seen_key, seen_text, seen_kernel, seen_arg;
	uint32_t id;		 /* trusted_packet_sequence_id, counts up from 1 */
	uint64_t last_ts;	 /* absolute ns of the last packet */
	bool contexts_sent;	 /* graphics context and GPU specifications of this sequence */
	struct fsc_buf interned; /* entries for the packet being written */
	struct fsc_buf body;	 /* the packet's event being written */
	struct fsc_buf text;	 /* a string with its escapes resolved */
};

fsc_nodiscard enum fsc_status fsc_pf_seq_init(struct pf_seq *q, const struct fsc_seg *seg,
					      struct fsc_err *err);
void fsc_pf_seq_fini(struct pf_seq *q);

/* Starts the next sequence at absolute time first_ts: clock snapshot and packet defaults. */
void fsc_pf_seq_start(struct pf_seq *q, struct fsc_buf *out, uint64_t first_ts,
		      uint64_t default_track_uuid);

/* A packet without a time whose field `field` is body (a descriptor). Clears body. */
void fsc_pf_seq_descriptor(struct pf_seq *q, struct fsc_buf *out, uint32_t field);
/* A packet at ts (not before the last one) whose field `field` is body, preceded by what was interned. */
void fsc_pf_seq_event(struct pf_seq *q, struct fsc_buf *out, uint64_t ts, uint32_t field);

/* Interning: returns the iid, and adds the entry to this packet when the sequence has not sent it. */
uint64_t fsc_pf_intern_seg(struct pf_seq *q, enum pf_dict dict, pf_seen *seen, uint32_t string_id);
/* 0 when the text could not be kept: write it inline then. */
uint64_t fsc_pf_intern_text(struct pf_seq *q, enum pf_dict dict, pf_seen *seen, const char *s,
			    size_t n);

#endif
