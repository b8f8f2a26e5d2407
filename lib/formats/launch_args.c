/* SPDX-License-Identifier: Apache-2.0 */
/* Args of GPU work under Kineto's names. */
#include "formats/launch_args.h"

#include <math.h>

#include "base/num.h"

static void put_ordinal(struct fsc_json *j, const char *key, int32_t v)
{
	if (v != FSC_NO_ORDINAL)
		fsc_json_kint(j, key, v);
}

static void put_known(struct fsc_json *j, const char *key, int64_t v)
{
	if (v >= 0)
		fsc_json_kint(j, key, v);
}

/* Floats have seven digits; the rest of a double would be noise. */
static void put_float(struct fsc_json *j, const char *key, float v)
{
	if (v >= 0)
		fsc_json_kdouble(j, key, round((double)v * 1e4) / 1e4);
}

static void put_triple(struct fsc_json *j, const char *key, const int32_t v[3])
{
	if (v[0] < 0 || v[1] < 0 || v[2] < 0)
		return;
	fsc_json_key(j, key);
	fsc_json_arr(j);
	for (int i = 0; i < 3; i++)
		fsc_json_int(j, v[i]);
	fsc_json_arr_end(j);
}

void fsc_launch_args_put(struct fsc_json *j, int32_t device, int32_t context, int32_t stream,
			 int64_t correlation, const struct fsc_launch *l)
{
	put_ordinal(j, "device", device);
	put_ordinal(j, "context", context);
	put_ordinal(j, "stream", stream);
	if (correlation != FSC_NO_CORRELATION)
		fsc_json_kint(j, "correlation", correlation);
	if (!l)
		return;
	put_triple(j, "grid", l->grid);
	put_triple(j, "block", l->block);
	put_known(j, "registers per thread", l->registers);
	put_known(j, "shared memory", l->shared_bytes);
	put_float(j, "est. achieved occupancy %", l->occupancy_pct);
	put_known(j, "graph id", l->graph_id);
	put_known(j, "graph node id", l->graph_node_id);
	put_known(j, "bytes", l->bytes);
	put_float(j, "memory bandwidth (GB/s)", l->bandwidth_gbs);
}

void fsc_launch_clear(struct fsc_launch *l)
{
	*l = (struct fsc_launch){ .grid = { -1, -1, -1 },
				  .block = { -1, -1, -1 },
				  .registers = -1,
				  .shared_bytes = -1,
				  .blocks_per_sm = -1,
				  .warps_per_sm = -1,
				  .occupancy_pct = -1,
				  .graph_id = -1,
				  .graph_node_id = -1,
				  .bytes = -1,
				  .bandwidth_gbs = -1 };
}

void fsc_launch_detail(double *out, int n, struct fsc_cur text, const char *key)
{
	size_t key_n = strlen(key), left = fsc_cur_left(&text);
	const char *p = left ? memmem(text.p, left, key, key_n) : NULL;
	const char *end = (const char *)text.end;

	if (!p)
		return;
	p += key_n;
	for (int i = 0; i < n; i++) {
		const char *from = p;
		double d;

		while (p < end && ((*p >= '0' && *p <= '9') || *p == '.' || *p == '-'))
			p++;
		if (fsc_parse_double(&d, from, (size_t)(p - from)))
			out[i] = d;
		if (p == end || *p++ != ',')
			return;
	}
}

static int32_t to_i32(double v)
{
	return v >= 0 && v <= INT32_MAX ? (int32_t)v : -1;
}

void fsc_launch_details(struct fsc_launch *l, struct fsc_cur kernel, struct fsc_cur bytes)
{
	double grid[3] = { -1, -1, -1 }, block[3] = { -1, -1, -1 };
	double regs = -1, shared[2] = { -1, -1 }, occ = -1, size = -1;

	fsc_launch_clear(l);
	fsc_launch_detail(&regs, 1, kernel, "regs:");
	fsc_launch_detail(&shared[0], 1, kernel, "static_shared:");
	fsc_launch_detail(&shared[1], 1, kernel, "dynamic_shared:");
	fsc_launch_detail(grid, 3, kernel, "grid:");
	fsc_launch_detail(block, 3, kernel, "block:");
	fsc_launch_detail(&occ, 1, kernel, "occ_pct:");
	fsc_launch_detail(&size, 1, bytes, "size:");
	l->registers = to_i32(regs);
	if (shared[0] >= 0 && shared[1] >= 0)
		l->shared_bytes = to_i32(shared[0] + shared[1]);
	if (occ >= 0 && occ <= 100)
		l->occupancy_pct = (float)occ;
	if (size >= 0 && size < 9e15)
		l->bytes = (int64_t)size;
	for (int i = 0; i < 3; i++) {
		l->grid[i] = to_i32(grid[i]);
		l->block[i] = to_i32(block[i]);
	}
}
