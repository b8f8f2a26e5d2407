/* SPDX-License-Identifier: Apache-2.0 */
/* Packet framing, clocks and interning of a Perfetto sequence. Field numbers: protos/perfetto/trace of
 * google/perfetto (trace_packet.proto, interned_data.proto, clock_snapshot.proto). */
#include "export/perfetto_seq.h"

#include "base/limits.h"
#include "export/pb.h"

enum {
	TRACE_PACKET = 1,
	PKT_CLOCK_SNAPSHOT = 6,
	PKT_TIMESTAMP = 8,
	PKT_SEQUENCE_ID = 10,
	PKT_INTERNED = 12,
	PKT_SEQUENCE_FLAGS = 13,
	PKT_DEFAULTS = 59,
	PKT_FIRST_ON_SEQUENCE = 87,
	FLAG_STATE_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,
	CLOCK_REALTIME = 1,
	CLOCK_BOOTTIME = 6,
	CLOCK_DELTA = 64, /* first sequence-scoped id */
};

#define PF_BODY_MAX (4 * FSC_MIB)

fsc_nodiscard enum fsc_status fsc_pf_seq_init(struct pf_seq *q, const struct fsc_seg *seg,
					      struct fsc_err *err)
{
	*q = (struct pf_seq){ .seg = seg };
	fsc_buf_init(&q->interned, PF_BODY_MAX);
	fsc_buf_init(&q->body, PF_BODY_MAX);
	fsc_buf_init(&q->text, PF_BODY_MAX);
	q->texts = fsc_strtab_new();
	return q->texts ? FSC_OK
			: fsc_err_set(err, FSC_ENOMEM, NULL, "export: no memory for names");
}

void fsc_pf_seq_fini(struct pf_seq *q)
{
	fsc_strtab_free(q->texts);
	fsc_vec_fini(&q->seen_cat);
	fsc_vec_fini(&q->seen_name);
	fsc_vec_fini(&q->seen_key);
	fsc_vec_fini(&q->seen_text);
	fsc_vec_fini(&q->seen_kernel);
	fsc_vec_fini(&q->seen_arg);
	fsc_buf_fini(&q->interned);
	fsc_buf_fini(&q->body);
	fsc_buf_fini(&q->text);
}

static void clock_reading(struct fsc_buf *out, uint64_t clock, uint64_t ts, bool incremental)
{
	size_t m = pb_begin(out, 1);

	pb_uint(out, 1, clock);
	pb_uint(out, 2, ts);
	if (incremental)
		pb_uint(out, 3, 1);
	pb_end(out, m);
}

void fsc_pf_seq_start(struct pf_seq *q, struct fsc_buf *out, uint64_t first_ts,
		      uint64_t default_track_uuid)
{
	size_t pkt, m, inner;

	q->id++;
	q->last_ts = first_ts;
	q->contexts_sent = false;
	fsc_buf_clear(&q->interned);
	fsc_buf_clear(&q->body);
	pkt = pb_begin(out, TRACE_PACKET);
	pb_uint(out, PKT_SEQUENCE_ID, q->id);
	pb_uint(out, PKT_SEQUENCE_FLAGS, FLAG_STATE_CLEARED);
	pb_uint(out, PKT_FIRST_ON_SEQUENCE, 1);
	m = pb_begin(out, PKT_CLOCK_SNAPSHOT);
	clock_reading(out, CLOCK_BOOTTIME, first_ts, false);
	clock_reading(out, CLOCK_REALTIME, first_ts, false);
	clock_reading(out, CLOCK_DELTA, 0, true);
	pb_end(out, m);
	m = pb_begin(out, PKT_DEFAULTS);
	pb_uint(out, 58, CLOCK_DELTA);
	if (default_track_uuid) {
		inner = pb_begin(out, 11);
		pb_uint(out, 11, default_track_uuid);
		pb_end(out, inner);
	}
	pb_end(out, m);
	pb_end(out, pkt);
}

void fsc_pf_seq_descriptor(struct pf_seq *q, struct fsc_buf *out, uint32_t field)
{
	size_t pkt = pb_begin(out, TRACE_PACKET);

	pb_uint(out, PKT_SEQUENCE_ID, q->id);
	pb_bytes(out, field, q->body.data, q->body.len);
	pb_end(out, pkt);
	if (q->body.failed)
		out->failed = q->body.failed;
	fsc_buf_clear(&q->body);
}

void fsc_pf_seq_event(struct pf_seq *q, struct fsc_buf *out, uint64_t ts, uint32_t field)
{
	size_t pkt = pb_begin(out, TRACE_PACKET);

	pb_uint(out, PKT_TIMESTAMP, ts - q->last_ts);
	pb_uint(out, PKT_SEQUENCE_ID, q->id);
	pb_uint(out, PKT_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
	if (q->interned.len)
		pb_bytes(out, PKT_INTERNED, q->interned.data, q->interned.len);
	pb_bytes(out, field, q->body.data, q->body.len);
	pb_end(out, pkt);
	if (q->body.failed || q->interned.failed)
		out->failed = q->body.failed ? q->body.failed : q->interned.failed;
	q->last_ts = ts;
	fsc_buf_clear(&q->interned);
	fsc_buf_clear(&q->body);
}

/* True when the sequence has not sent id yet; remembers that it has now. */
static bool first_use(struct pf_seq *q, pf_seen *seen, uint32_t id)
{
	if (id >= seen->n) {
		size_t want = (size_t)id + 1024;

		if (!fsc_vec_reserve(seen, want)) {
			q->interned.failed = FSC_ENOMEM;
			return false;
		}
		memset(seen->v + seen->n, 0, (want - seen->n) * sizeof(*seen->v));
		seen->n = want;
	}
	if (seen->v[id] == q->id)
		return false;
	seen->v[id] = q->id;
	return true;
}

static void entry(struct pf_seq *q, enum pf_dict dict, uint64_t iid, const char *s, size_t n)
{
	size_t m = pb_begin(&q->interned, (uint32_t)dict);

	pb_uint(&q->interned, 1, iid);
	pb_bytes(&q->interned, 2, s, n);
	pb_end(&q->interned, m);
}

uint64_t fsc_pf_intern_seg(struct pf_seq *q, enum pf_dict dict, pf_seen *seen, uint32_t string_id)
{
	uint64_t iid = (uint64_t)string_id + 1;

	if (first_use(q, seen, string_id)) {
		size_t n;
		const char *s = fsc_seg_str(q->seg, string_id, &n);

		entry(q, dict, iid, s, n);
	}
	return iid;
}

uint64_t fsc_pf_intern_text(struct pf_seq *q, enum pf_dict dict, pf_seen *seen, const char *s,
			    size_t n)
{
	uint32_t id;

	/* Distinct values could be as many as slices: stop learning new ones before memory grows. */
	if (fsc_strtab_bytes(q->texts) > 8 * FSC_MIB) {
		id = fsc_strtab_find(q->texts, s, n);
		if (id == UINT32_MAX)
			return 0;
	} else if (fsc_strtab_put(&id, q->texts, s, n)) {
		return 0;
	}
	if (first_use(q, seen, id))
		entry(q, dict, (uint64_t)id + 1, s, n);
	return (uint64_t)id + 1;
}
