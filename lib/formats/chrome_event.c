/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans one trace event in a single pass: known keys into a table of values (pointers into the window), the
 * args object both into typed values and into a canonical copy made of runs.
 */
#include "formats/chrome_int.h"

#define IS(k, lit) (memcmp((k), (lit), sizeof(lit) - 1) == 0)

#define THREE(a, b, c) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16)

/* Three bytes of the window as one number: one load of four, since a quote follows. */
static inline uint32_t three(const char *k)
{
	const unsigned char *u = (const unsigned char *)k;
	return ((uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 |
		(uint32_t)u[3] << 24) &
	       0xFFFFFF;
}

static int field_of(const char *k, size_t n)
{
	switch (n) {
	case 1:
		return *k == 's' ? F_SCOPE : -1;
	case 2:
		return IS(k, "ph")   ? F_PH
		       : IS(k, "ts") ? F_TS
		       : IS(k, "id") ? F_ID
		       : IS(k, "bp") ? F_BP
		       : IS(k, "sf") ? F_SF
				     : -1;
	case 3:
		switch (three(k)) {
		case THREE('p', 'i', 'd'):
			return F_PID;
		case THREE('t', 'i', 'd'):
			return F_TID;
		case THREE('d', 'u', 'r'):
			return F_DUR;
		case THREE('c', 'a', 't'):
			return F_CAT;
		case THREE('i', 'd', '2'):
			return F_ID2;
		case THREE('t', 't', 's'):
			return F_TTS;
		case THREE('e', 's', 'f'):
			return F_ESF;
		case THREE('c', 'p', 'u'):
			return F_CPU;
		default:
			return -1;
		}
	case 4:
		return IS(k, "name")   ? F_NAME
		       : IS(k, "args") ? F_ARGS
		       : IS(k, "tdur") ? F_TDUR
				       : -1;
	case 5:
		return IS(k, "scope") ? F_ID_SCOPE : IS(k, "stack") ? F_STACK : -1;
	case 6:
		return IS(k, "estack") ? F_ESTACK : IS(k, "weight") ? F_WEIGHT : -1;
	case 7:
		return IS(k, "bind_id") ? F_BIND_ID : IS(k, "flow_in") ? F_FLOW_IN : -1;
	case 8:
		return IS(k, "flow_out") ? F_FLOW_OUT : -1;
	default:
		return -1;
	}
}

static int long_arg_of(const char *k, size_t n)
{
	switch (n) {
	case 12:
		return IS(k, "warps per SM") ? A_WARPS_PER_SM : -1;
	case 13:
		return IS(k, "shared memory")	? A_SHARED
		       : IS(k, "blocks per SM") ? A_BLOCKS_PER_SM
		       : IS(k, "graph node id") ? A_GRAPH_NODE_ID
		       : IS(k, "In msg nelems") ? A_IN_NELEMS
						: -1;
	case 14:
		return IS(k, "Total Reserved")	 ? A_TOTAL_RESERVED
		       : IS(k, "Out msg nelems") ? A_OUT_NELEMS
						 : -1;
	case 15:
		return IS(k, "Total Allocated")	  ? A_TOTAL_ALLOCATED
		       : IS(k, "Collective name") ? A_COLLECTIVE
						  : -1;
	case 18:
		return IS(k, "Process Group Name") ? A_PG_NAME : -1;
	case 19:
		return IS(k, "Process Group Ranks") ? A_PG_RANKS : -1;
	case 20:
		return IS(k, "registers per thread") ? A_REGISTERS : -1;
	case 23:
		return IS(k, "memory bandwidth (GB/s)") ? A_BANDWIDTH : -1;
	case 25:
		return IS(k, "est. achieved occupancy %")   ? A_OCCUPANCY
		       : IS(k, "Process Group Description") ? A_PG_DESC
							    : -1;
	default:
		return -1;
	}
}

static int arg_of(const char *k, size_t n)
{
	switch (n) {
	case 3:
		return IS(k, "Seq") ? A_SEQ : -1;
	case 4:
		return IS(k, "grid")   ? A_GRID
		       : IS(k, "name") ? A_NAME
		       : IS(k, "Rank") ? A_RANK
				       : -1;
	case 5:
		return IS(k, "block")	? A_BLOCK
		       : IS(k, "bytes") ? A_BYTES
		       : IS(k, "dtype") ? A_DTYPE
					: -1;
	case 6:
		return IS(k, "device")	 ? A_DEVICE
		       : IS(k, "stream") ? A_STREAM
		       : IS(k, "queued") ? A_QUEUED
		       : IS(k, "labels") ? A_LABELS
					 : -1;
	case 7:
		return IS(k, "context") ? A_CONTEXT : -1;
	case 8:
		return IS(k, "graph id")   ? A_GRAPH_ID
		       : IS(k, "Comms Id") ? A_COMMS_ID
		       : IS(k, "Src Rank") ? A_SRC_RANK
		       : IS(k, "Dst Rank") ? A_DST_RANK
					   : -1;
	case 9:
		return IS(k, "Device Id") ? A_DEVICE_ID : -1;
	case 10:
		return IS(k, "Group size")   ? A_GROUP_SIZE
		       : IS(k, "sort_index") ? A_SORT_INDEX
		       : IS(k, "sycl queue") ? A_QUEUE
					     : -1;
	case 11:
		return IS(k, "correlation")   ? A_CORRELATION
		       : IS(k, "Device Type") ? A_DEVICE_TYPE
					      : -1;
	default:
		return long_arg_of(k, n);
	}
}

/* The members of the args object behind its brace. */
static const char *scan_args(struct chrome *c, const char *p, struct fsc_jt_out *o)
{
	struct fsc_jt *t = &c->t;
	struct fsc_jt_val key;
	p = fsc_jt_ws_out(p, o);
	if (*p == '}')
		return p + 1;
	for (;;) {
		if (*p != '"')
			return fsc_jt_failed(t, p);
		p = fsc_jt_string(t, p + 1, &key);
		if (!p)
			return NULL;
		if (FSC_UNLIKELY(key.flags))
			fsc_jt_out_string(t, o, &key);
		p = fsc_jt_ws_out(p, o);
		if (*p != ':')
			return fsc_jt_failed(t, p);
		p = fsc_jt_ws_out(p + 1, o);
		struct fsc_jt_val v;
		p = fsc_jt_value_fast(t, p, &v, 3, o);
		if (!p)
			return NULL;
		int a = arg_of(key.s, key.n);
		if (a >= 0) {
			c->a[a] = v;
			c->have_arg |= 1ULL << a;
		}
		p = fsc_jt_ws_out(p, o);
		if (*p == '}')
			return p + 1;
		if (*p != ',')
			return fsc_jt_failed(t, p);
		p = fsc_jt_ws_out(p + 1, o);
		if (FSC_UNLIKELY(*p == '}')) {
			fsc_jt_out_drop_comma(t, o, p);
			return p + 1;
		}
	}
}

/* args at p. What is no object is kept as the member "args" of one. */
static const char *scan_args_value(struct chrome *c, const char *p)
{
	struct fsc_jt_out o;
	struct fsc_jt_val v = { .type = FSC_JT_OBJ };
	fsc_jt_out_init(&o, c->args, CHROME_ARGS_CAP, p);
	bool object = *p == '{';
	if (object) {
		p = scan_args(c, p + 1, &o);
	} else {
		fsc_jt_out_put(&o, "{\"args\":", 8);
		p = fsc_jt_value(&c->t, p, &v, 3, &o);
	}
	if (!p)
		return NULL;
	fsc_jt_out_flush(&o, p);
	if (!object)
		fsc_jt_out_put(&o, "}", 1);
	size_t n = (size_t)(o.w - o.start);
	c->args_full = o.full || n > FSC_MAX_ARGS_BYTES;
	c->args_n = c->args_full || n <= 2 || v.type == FSC_JT_NULL ? 0 : n;
	if (FSC_UNLIKELY(!object && v.type != FSC_JT_NULL))
		fsc_jt_note(&c->t, &c->n.args_not_object, 1, p - 1);
	return p;
}

static const char *scan_member(struct chrome *c, const char *p)
{
	struct fsc_jt *t = &c->t;
	struct fsc_jt_val key, v;
	if (*p != '"')
		return fsc_jt_failed(t, p);
	p = fsc_jt_string(t, p + 1, &key);
	if (!p)
		return NULL;
	p = fsc_jt_ws(p);
	if (*p != ':')
		return fsc_jt_failed(t, p);
	p = fsc_jt_ws(p + 1);
	int f = field_of(key.s, key.n);
	if (f == F_ARGS) {
		c->have_arg = 0;
		p = scan_args_value(c, p);
	} else {
		p = fsc_jt_value_fast(t, p, f < 0 ? &v : &c->f[f], 2, NULL);
	}
	if (f < 0) {
		if (p)
			fsc_jt_note(&c->t, &c->n.extra_keys, 1, key.s);
		return p;
	}
	if (FSC_UNLIKELY(c->have >> f & 1))
		fsc_jt_note(&c->t, &c->n.duplicates, 1, key.s);
	c->have |= 1u << f;
	return p;
}

const char *fsc_chrome_scan_event(struct chrome *c, const char *p)
{
	c->have = 0;
	c->have_arg = 0;
	c->args_n = 0;
	c->args_full = false;
	p = fsc_jt_ws(p + 1);
	if (*p == '}')
		return p + 1;
	for (;;) {
		p = scan_member(c, p);
		if (!p)
			return NULL;
		p = fsc_jt_ws(p);
		if (*p == '}')
			return p + 1;
		if (*p != ',')
			return fsc_jt_failed(&c->t, p);
		p = fsc_jt_ws(p + 1);
		if (FSC_UNLIKELY(*p == '}')) {
			fsc_jt_note(&c->t, &c->t.repairs.comma, 1, p);
			return p + 1;
		}
	}
}
