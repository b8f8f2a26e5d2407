/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of Perfetto protobuf traces: the file is a row of packets, each `0x0A, length, TracePacket`, without head or
 * end, so it is read packet by packet. What is read of a packet, and what is not, is in docs/formats/perfetto.md.
 */
#include <string.h>

#include "base/alloc.h"
#include "formats/perfetto_int.h"

#define PACKET_TAG 0x0A
#define HEAD_MAX 11 /* tag and length */
#define CHUNK ((size_t)1 << 20)

/* ---- the window ---- */

enum fsc_status fsc_pft_damaged(struct pft *p, const char *what)
{
	enum fsc_status st =
		fsc_err_set(p->err, FSC_ECORRUPT, "perfetto_corrupt", "Perfetto trace: %s", what);

	fsc_err_at(p->err, NULL, (int64_t)(p->base + p->at));
	return st;
}

static enum fsc_status truncated(struct pft *p)
{
	enum fsc_status st =
		fsc_err_set(p->err, FSC_ECORRUPT, "perfetto_truncated",
			    "Perfetto trace: the file ends inside a packet: it was cut or is still "
			    "being written");

	fsc_err_at(p->err, NULL, (int64_t)(p->base + p->len));
	return st;
}

static enum fsc_status no_memory(struct pft *p)
{
	return fsc_err_set(p->err, FSC_ENOMEM, NULL, "no memory for the trace");
}

static void progress(struct pft *p)
{
	uint64_t at = p->base + p->len;

	if (!p->sink->progress || at - p->bytes_reported < FSC_MIB)
		return;
	p->bytes_reported = at;
	p->sink->progress(p->sink->ctx, at, fsc_build_events(p->b));
}

/* At least `want` bytes from at on; fewer only at the end of the file. */
static enum fsc_status fill(struct pft *p, size_t want)
{
	while (p->len - p->at < want && !p->eof) {
		size_t n = 0;
		enum fsc_status st;

		if (p->at) {
			memmove(p->buf, p->buf + p->at, p->len - p->at);
			p->base += p->at;
			p->len -= p->at;
			p->at = 0;
		}
		if (p->cap - p->len < CHUNK) {
			size_t cap = p->cap < want ? want + CHUNK : p->cap + CHUNK;
			uint8_t *more = fsc_realloc(p->buf, cap, 1);

			if (!more)
				return no_memory(p);
			p->buf = more;
			p->cap = cap;
		}
		st = fsc_source_read(p->src, p->buf + p->len, p->cap - p->len, &n, p->err);
		if (st < 0)
			return st;
		p->eof = st == FSC_END;
		p->len += n;
		progress(p);
	}
	return FSC_OK;
}

/* ---- packets ---- */

/* *out is the next packet; FSC_END behind the last. */
static enum fsc_status next_packet(struct fsc_cur *out, struct pft *p)
{
	struct fsc_cur head;
	uint64_t n;
	size_t skip;

	FSC_TRY(fill(p, HEAD_MAX));
	if (p->at == p->len)
		return FSC_END;
	head = fsc_cur_of(p->buf + p->at, p->len - p->at < HEAD_MAX ? p->len - p->at : HEAD_MAX);
	if (fsc_cur_u8(&head) != PACKET_TAG)
		return fsc_pft_damaged(p, "a packet does not begin where the one before it ends");
	n = fsc_cur_varint(&head);
	if (head.failed)
		return p->len - p->at < HEAD_MAX
			       ? truncated(p)
			       : fsc_pft_damaged(p, "the length of a packet is no number");
	if (n > FSC_MAX_PACKET_BYTES) {
		enum fsc_status st =
			fsc_err_set(p->err, FSC_ELIMIT, "packet_too_big",
				    "Perfetto trace: a packet of %llu bytes, at most %llu are read",
				    (unsigned long long)n, FSC_MAX_PACKET_BYTES);

		fsc_err_at(p->err, NULL, (int64_t)(p->base + p->at));
		return st;
	}
	skip = (size_t)(head.p - head.start);
	FSC_TRY(fill(p, skip + (size_t)n));
	if (p->len - p->at < skip + n)
		return truncated(p);
	*out = fsc_cur_of(p->buf + p->at + skip, (size_t)n);
	return FSC_OK;
}

static enum fsc_status walk(struct pft *p)
{
	struct fsc_cur c;
	enum fsc_status st;

	while ((st = next_packet(&c, p)) == FSC_OK) {
		st = fsc_pft_packet(p, c, false);
		if (st == FSC_ELIMIT && p->err && !p->err->status)
			st = fsc_err_set(
				p->err, st, "too_many_names",
				"the file has more events, names or tracks than the limits allow");
		if (st == FSC_ENOMEM && p->err && !p->err->status)
			st = no_memory(p);
		if (st != FSC_OK) {
			if (p->err && p->err->offset < 0)
				fsc_err_at(p->err, NULL, (int64_t)(p->base + p->at));
			return st;
		}
		p->at += (size_t)(c.end - (p->buf + p->at));
	}
	return st == FSC_END ? FSC_OK : st;
}

/* Packets that another one holds compressed; one level. */
enum fsc_status fsc_pft_unpack(struct pft *p, struct fsc_cur c, bool zstd)
{
	struct fsc_source *raw = fsc_source_mem(c.p, fsc_cur_left(&c));
	struct fsc_source *src = zstd ? fsc_source_zstd(raw) : fsc_source_zlib(raw);
	struct fsc_buf plain = FSC_BUF_INIT(FSC_MAX_PACKET_BYTES);
	struct fsc_pb_field f;
	enum fsc_status st = FSC_OK;

	while (st == FSC_OK) {
		char *room = fsc_buf_room(&plain, CHUNK / 8);
		size_t n = 0;

		if (!room)
			st = fsc_buf_status(&plain) == FSC_ENOMEM
				     ? FSC_ENOMEM
				     : fsc_err_set(p->err, FSC_ELIMIT, "packet_too_big",
						   "Perfetto trace: a compressed packet holds more "
						   "than %llu bytes",
						   FSC_MAX_PACKET_BYTES);
		else
			st = fsc_source_read(src, room, CHUNK / 8, &n, p->err);
		plain.len += n;
	}
	p->unpacked += plain.len;
	/* the grace of the ratio is for the file, not for each of its packets */
	if (st == FSC_END && p->unpacked > FSC_RATIO_GRACE_BYTES &&
	    p->unpacked / FSC_MAX_RATIO > p->base + p->len)
		st = fsc_err_set(p->err, FSC_ELIMIT, "bomb",
				 "Perfetto trace: compressed packets of %llu bytes",
				 (unsigned long long)p->unpacked);
	if (st == FSC_END) {
		struct fsc_cur all = fsc_cur_of(plain.data ? plain.data : "", plain.len);

		st = FSC_OK;
		while (st == FSC_OK && fsc_pb_next(&all, &f))
			if (f.num == 1 && f.wire == FSC_PB_BYTES)
				st = fsc_pft_packet(p, f.body, true);
		if (st == FSC_OK && all.failed)
			st = fsc_pft_damaged(p, "a compressed packet holds no packets");
	}
	if (st < 0 && p->err && p->err->status)
		fsc_err_at(p->err, NULL, (int64_t)(p->base + p->at));
	fsc_buf_fini(&plain);
	fsc_source_free(src);
	return st;
}

/* ---- the trace ---- */

static void name_losses(struct pft *p)
{
	const struct {
		const char *code;
		const struct pft_count *c;
	} all[] = {
		{ "utf8_repaired", &p->n.utf8 },
		{ "control_character", &p->n.zeros },
		{ "event_without_ts", &p->n.no_ts },
		{ "event_bad_ts", &p->n.bad_ts },
		{ "clock_unknown", &p->n.clock },
		{ "sequence_state_lost", &p->n.state },
		{ "interned_id_missing", &p->n.interned },
		{ "args_too_big", &p->n.args_too_big },
		{ "annotation_unreadable", &p->n.annotations },
		{ "annotation_too_deep", &p->n.deep },
		{ "legacy_event_ignored", &p->n.legacy },
		{ "typed_args_ignored", &p->n.typed },
		{ "thread_time_ignored", &p->n.thread_time },
		{ "event_without_track", &p->n.no_track },
		{ "counter_without_track", &p->n.counters_without_track },
		{ "packet_ignored", &p->n.packets },
		{ "sample_as_instant", &p->n.samples },
		{ "number_not_finite", &p->n.nonfinite },
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++)
		fsc_build_loss_at(p->b, all[i].code, all[i].c->n, (int64_t)all[i].c->first);
}

static enum fsc_status metadata(struct pft *p)
{
	struct fsc_trace *t = fsc_build_trace(p->b);

	fsc_buf_clear(&p->scratch);
	fsc_buf_addc(&p->scratch, '{');
	if (p->gpus.len && fsc_buf_status(&p->gpus) == FSC_OK)
		fsc_buf_addf(&p->scratch, "\"gpus\":[%s]", p->gpus.data);
	fsc_buf_addc(&p->scratch, '}');
	FSC_TRY(fsc_buf_status(&p->scratch));
	FSC_TRY(fsc_build_str(&t->meta.format, p->b, "perfetto", strlen("perfetto")));
	return fsc_build_str(&t->meta.json, p->b, p->scratch.data, p->scratch.len);
}

static enum fsc_status finish(struct pft *p)
{
	FSC_TRY(fsc_pft_finish_tracks(p));
	FSC_TRY(fsc_pft_finish_links(p));
	name_losses(p);
	if (p->has_real)
		fsc_build_base_time(p->b, p->real_offset);
	return metadata(p);
}

static enum fsc_status deliver(struct pft *p)
{
	struct fsc_trace *t;
	enum fsc_status st;

	if (!fsc_build_events(p->b))
		return fsc_err_set(p->err, FSC_EUNSUPPORTED, "not_a_timeline",
				   "a Perfetto trace without events that are read here: track "
				   "events, GPU work, GPU "
				   "counters, CPU samples (%llu packets of other kinds)",
				   (unsigned long long)p->n.packets.n);
	st = finish(p);
	if (st == FSC_ELIMIT)
		return fsc_err_set(
			p->err, st, "too_many_names",
			"the file has more events, names or tracks than the limits allow");
	if (st != FSC_OK)
		return no_memory(p);
	fsc_free(p->buf);
	p->buf = NULL;
	FSC_TRY(fsc_build_finish(&t, p->b, p->err));
	return p->sink->trace(p->sink->ctx, t, p->err);
}

static void fini(struct pft *p)
{
	fsc_build_free(p->b);
	fsc_free(p->buf);
	fsc_strtab_free(p->texts);
	fsc_vec_fini(&p->names);
	fsc_vec_fini(&p->cats);
	fsc_map_fini(&p->seq_map);
	fsc_map_fini(&p->track_map);
	fsc_map_fini(&p->own_map);
	fsc_map_fini(&p->counter_names);
	for (size_t i = 0; i < p->seqs.n; i++)
		fsc_pft_seq_free(p->seqs.v[i]);
	fsc_vec_fini(&p->seqs);
	for (size_t i = 0; i < p->tracks.n; i++)
		fsc_vec_fini(&p->tracks.v[i].open);
	fsc_vec_fini(&p->tracks);
	fsc_pft_clocks_free(p);
	fsc_vec_fini(&p->suffixes);
	fsc_vec_fini(&p->gpu_slices);
	fsc_vec_fini(&p->links);
	fsc_buf_fini(&p->args);
	fsc_buf_fini(&p->scratch);
	fsc_buf_fini(&p->gpus);
	fsc_free(p);
}

enum fsc_status fsc_perfetto_read(struct fsc_source *src, const struct fsc_reader_sink *sink,
				  struct fsc_err *err)
{
	struct fsc_err own = FSC_ERR_INIT;
	struct pft *p = fsc_alloc(1, sizeof(*p));
	enum fsc_status st;

	if (!p)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the reader");
	p->src = src;
	p->sink = sink;
	p->err = err ? err : &own;
	p->trace_clock = 6; /* BUILTIN_CLOCK_BOOTTIME */
	fsc_buf_init(&p->args, FSC_MAX_ARGS_BYTES);
	fsc_buf_init(&p->scratch, 2 * FSC_MAX_META_BYTES);
	fsc_buf_init(&p->gpus, FSC_MAX_META_BYTES);
	p->texts = fsc_strtab_new();
	p->b = fsc_build_new();
	st = p->texts && p->b ? walk(p) : no_memory(p);
	if (st == FSC_OK)
		st = deliver(p);
	fini(p);
	return st;
}

/*
 * The first packet tells: TracePacket has numbers beyond those of other protobuf files that begin with a field 1
 * (XSpace, pprof), and nearly every packet has a timestamp, a sequence or its flags.
 */
int fsc_perfetto_sniff(const uint8_t *head, size_t n)
{
	struct fsc_cur c = fsc_cur_of(head, n);
	struct fsc_pb_field f;
	uint64_t len;
	int seen = 0;

	if (fsc_cur_u8(&c) != PACKET_TAG || c.failed)
		return 0;
	len = fsc_cur_varint(&c);
	if (c.failed || !len)
		return 0;
	if (len < fsc_cur_left(&c))
		c.end = c.p + len;
	while (fsc_pb_next(&c, &f)) {
		bool number = f.wire == FSC_PB_VARINT;

		if ((f.num == 8 || f.num == 10 || f.num == 13 || f.num == 58 || f.num == 87 ||
		     f.num == 41 || f.num == 42) &&
		    !number)
			return 0;
		seen += f.num >= 8 && f.num <= 1000 ? 2 : f.num == 3 && number;
		/* clocks, process tree, compressed packets: messages of a packet of their own */
		seen += (f.num == 6 || f.num == 2) && !number && fsc_cur_left(&f.body) &&
			*f.body.p == PACKET_TAG;
	}
	return seen >= 2 ? 85 : seen ? 60 : 0;
}
