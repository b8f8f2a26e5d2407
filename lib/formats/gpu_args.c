/* SPDX-License-Identifier: Apache-2.0 */
/* Args that mean something on a GPU slice. */
#include "formats/gpu_args.h"

#include <stddef.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/num.h"
#include "formats/launch_args.h"

enum what { ORDINAL, CORRELATION, LAUNCH, COLLECTIVE };
enum type { I32, I64, FLOAT, DIMS, TEXT };

#define AT(member) offsetof(struct fsc_gpu_args, member)
#define ARG(key, what, type, at)                             \
	{                                                    \
		(key), sizeof(key) - 1, (what), (type), (at) \
	}
static const struct arg {
	const char *key;
	uint8_t len; /* of key */
	enum what what;
	enum type type;
	size_t at;
} args[] = {
	ARG("device", ORDINAL, I32, AT(device)),
	ARG("context", ORDINAL, I32, AT(context)),
	ARG("stream", ORDINAL, I32, AT(stream)),
	ARG("correlation", CORRELATION, I64, AT(correlation)),
	ARG("grid", LAUNCH, DIMS, AT(launch.grid)),
	ARG("block", LAUNCH, DIMS, AT(launch.block)),
	ARG("registers per thread", LAUNCH, I32, AT(launch.registers)),
	ARG("shared memory", LAUNCH, I32, AT(launch.shared_bytes)),
	ARG("queued", ORDINAL, I64, AT(launch.queued_ns)),
	ARG("blocks per SM", LAUNCH, FLOAT, AT(launch.blocks_per_sm)),
	ARG("warps per SM", LAUNCH, FLOAT, AT(launch.warps_per_sm)),
	ARG("est. achieved occupancy %", LAUNCH, FLOAT, AT(launch.occupancy_pct)),
	ARG("graph id", LAUNCH, I64, AT(launch.graph_id)),
	ARG("graph node id", LAUNCH, I64, AT(launch.graph_node_id)),
	ARG("bytes", LAUNCH, I64, AT(launch.bytes)),
	ARG("memory bandwidth (GB/s)", LAUNCH, FLOAT, AT(launch.bandwidth_gbs)),
	ARG("Collective name", COLLECTIVE, TEXT, AT(collective.name)),
	ARG("dtype", ORDINAL, TEXT, AT(collective.dtype)),
	ARG("Process Group Name", ORDINAL, TEXT, AT(collective.pg_name)),
	ARG("Process Group Description", ORDINAL, TEXT, AT(collective.pg_desc)),
	ARG("Process Group Ranks", ORDINAL, TEXT, AT(collective.pg_ranks)),
	ARG("In msg nelems", ORDINAL, I64, AT(collective.in_nelems)),
	ARG("Out msg nelems", ORDINAL, I64, AT(collective.out_nelems)),
	ARG("Group size", ORDINAL, I32, AT(collective.group_size)),
	ARG("Rank", ORDINAL, I32, AT(collective.rank)),
	ARG("Src Rank", ORDINAL, I32, AT(collective.src_rank)),
	ARG("Dst Rank", ORDINAL, I32, AT(collective.dst_rank)),
	ARG("Seq", ORDINAL, I64, AT(collective.seq)),
	ARG("Comms Id", ORDINAL, I64, AT(collective.comms_id)),
};

static const struct arg *find(const struct fsc_json_member *m)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(args); i++)
		if (args[i].len == m->key_len && !memcmp(args[i].key, m->key, m->key_len))
			return &args[i];
	return NULL;
}

/* The text of a number, quoted or not. */
static void number_text(const struct fsc_json_member *m, const char **s, size_t *n)
{
	bool quoted = m->type == FSC_JSON_STRING;

	*s = m->value + quoted;
	*n = m->value_len - 2 * (size_t)quoted;
}

static bool integer(int64_t *v, const struct fsc_json_member *m)
{
	const char *s;
	size_t n;
	double d;

	number_text(m, &s, &n);
	if (fsc_parse_i64(v, s, n))
		return true;
	if (!fsc_parse_double(&d, s, n) || !(d > -9.2e18 && d < 9.2e18))
		return false;
	*v = (int64_t)d;
	return true;
}

static bool dims(int32_t out[3], const struct fsc_json_member *m)
{
	const char *s = m->value, *end = s + m->value_len;
	int i;

	if (m->type != FSC_JSON_NESTED)
		return false;
	for (i = 0; i < 3; i++) {
		int64_t x = 0;

		while (s < end && (unsigned char)(*s - '0') >= 10)
			s++;
		if (s >= end)
			break;
		for (; s < end && (unsigned char)(*s - '0') < 10; s++)
			x = x < INT32_MAX ? x * 10 + (*s - '0') : x;
		out[i] = x > INT32_MAX ? INT32_MAX : (int32_t)x;
	}
	return i > 0;
}

static enum fsc_status text(uint32_t *id, struct fsc_build *b, const struct fsc_json_member *m)
{
	struct fsc_buf plain = FSC_BUF_INIT(1u << 20);
	enum fsc_status st;

	if (m->type == FSC_JSON_NULL)
		return FSC_OK;
	if (m->type != FSC_JSON_STRING)
		return fsc_build_str(id, b, m->value, m->value_len);
	fsc_json_unescape(&plain, m->value, m->value_len);
	st = fsc_buf_status(&plain);
	if (!st)
		st = fsc_build_str(id, b, plain.data ? plain.data : "", plain.len);
	fsc_buf_fini(&plain);
	return st;
}

/* *took: it was of its type. */
static enum fsc_status take(void *at, bool *took, struct fsc_build *b, const struct arg *a,
			    const struct fsc_json_member *m)
{
	int64_t i = 0;
	double d = 0;
	const char *s;
	size_t n;

	switch (a->type) {
	case I32:
		*took = integer(&i, m) && i > INT32_MIN && i <= INT32_MAX;
		if (*took)
			*(int32_t *)at = (int32_t)i;
		return FSC_OK;
	case I64:
		*took = integer(&i, m);
		if (*took)
			*(int64_t *)at = i;
		return FSC_OK;
	case FLOAT:
		number_text(m, &s, &n);
		*took = fsc_parse_double(&d, s, n);
		if (*took)
			*(float *)at = (float)d;
		return FSC_OK;
	case DIMS:
		*took = dims(at, m);
		return FSC_OK;
	case TEXT:
		*took = m->type != FSC_JSON_NULL;
		return text(at, b, m);
	}
	return FSC_OK;
}

enum fsc_status fsc_gpu_args_read(struct fsc_gpu_args *g, struct fsc_build *b, const char *json,
				  size_t n)
{
	struct fsc_json_scan s = fsc_json_scan_of(json, n);
	struct fsc_json_member m;

	*g = (struct fsc_gpu_args){
		.device = FSC_NO_ORDINAL,
		.context = FSC_NO_ORDINAL,
		.stream = FSC_NO_ORDINAL,
		.correlation = FSC_NO_CORRELATION,
		.collective = { .in_nelems = -1,
				.out_nelems = -1,
				.group_size = -1,
				.rank = -1,
				.src_rank = -1,
				.dst_rank = -1,
				.seq = -1,
				.comms_id = -1 },
	};
	fsc_launch_clear(&g->launch);
	while (fsc_json_scan_next(&s, &m)) {
		const struct arg *a = find(&m);
		bool took = false;
		enum fsc_status st;

		if (!a)
			continue;
		st = take((char *)g + a->at, &took, b, a, &m);
		if (st)
			return st;
		g->has_launch |= took && a->what == LAUNCH;
		g->has_collective |= took && a->what == COLLECTIVE;
	}
	return FSC_OK;
}

enum fsc_status fsc_gpu_args_put(struct fsc_gpu_args *g, struct fsc_build *b, uint32_t slice,
				 uint8_t kind)
{
	enum fsc_status st = FSC_OK;

	g->launch.slice = g->collective.slice = slice;
	if (g->has_launch && fsc_kind_is_gpu_work(kind))
		st = fsc_build_launch(b, &g->launch);
	if (!st && g->has_collective)
		st = fsc_build_collective(b, &g->collective);
	return st;
}
