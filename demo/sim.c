/* SPDX-License-Identifier: Apache-2.0 */
/* Emits the events of one simulated rank in Kineto's JSON, field by field as libkineto writes them. */
#include "demo/sim.h"

#include "base/limits.h"

enum { PID_HOST = 48210, TID_MAIN = 48210, TID_AUTOGRAD = 48377, TID_LOADER = 48402 };

static const int tids[SIM_THREADS] = { TID_MAIN, TID_AUTOGRAD, TID_LOADER };
static const int streams[SIM_STREAMS] = { 7, 20, 24 };

static int pid_of(const struct sim_rank *r)
{
	return PID_HOST + (int)r->rank;
}

static uint64_t next_random(struct sim_rank *r)
{
	/* xorshift64*: Marsaglia 2003, Vigna 2016 */
	r->rng ^= r->rng >> 12;
	r->rng ^= r->rng << 25;
	r->rng ^= r->rng >> 27;
	return r->rng * 2685821657736338717ULL;
}

int64_t fsc_sim_about(struct sim_rank *r, int64_t mean, double spread)
{
	double unit = (double)(next_random(r) >> 11) / 9007199254740992.0;

	return (int64_t)((double)mean * (1.0 + spread * (2.0 * unit - 1.0)));
}

void fsc_sim_work(struct sim_rank *r, int64_t ns)
{
	r->cpu += (int64_t)((double)fsc_sim_about(r, ns, 0.25) * r->host_scale);
}

/* ns as microseconds with three decimals. */
static void us(struct fsc_buf *b, const char *key, int64_t ns)
{
	fsc_buf_addf(b, "\"%s\": %lld.%03lld", key, (long long)(ns / 1000), (long long)(ns % 1000));
}

static void begin(struct sim_rank *r, const char *ph, const char *cat, const char *name, int pid,
		  int tid, int64_t ts)
{
	struct fsc_buf *b = &r->json;

	fsc_buf_adds(b, r->any ? ",\n  {" : "\n  {");
	r->any = true;
	fsc_buf_addf(
		b, "\"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %d, ",
		ph, cat, name, pid, tid);
	us(b, "ts", ts);
}

static void complete(struct sim_rank *r, const char *cat, const char *name, int pid, int tid,
		     int64_t ts, int64_t dur)
{
	begin(r, "X", cat, name, pid, tid, ts);
	fsc_buf_adds(&r->json, ", ");
	us(&r->json, "dur", dur);
}

static void metadata(struct sim_rank *r, const char *what, int pid, int tid, const char *arg)
{
	begin(r, "M", "__metadata", what, pid, tid, 0);
	fsc_buf_addf(&r->json, ", \"args\": {%s}}", arg);
}

static void describe(struct sim_rank *r)
{
	char text[64];
	struct fsc_buf b = FSC_BUF_INIT(sizeof(text));

	metadata(r, "process_name", pid_of(r), 0, "\"name\": \"python train_gpt.py\"");
	metadata(r, "process_labels", pid_of(r), 0, "\"labels\": \"CPU\"");
	metadata(r, "process_sort_index", pid_of(r), 0, "\"sort_index\": 1");
	metadata(r, "thread_name", pid_of(r), TID_MAIN, "\"name\": \"main\"");
	metadata(r, "thread_name", pid_of(r), TID_AUTOGRAD, "\"name\": \"pt_autograd_0\"");
	metadata(r, "thread_name", pid_of(r), TID_LOADER, "\"name\": \"pin_memory\"");
	metadata(r, "process_name", (int)r->device, 0, "\"name\": \"python\"");
	fsc_buf_addf(&b, "\"labels\": \"GPU %u\"", r->device);
	metadata(r, "process_labels", (int)r->device, 0, b.data);
	metadata(r, "process_sort_index", (int)r->device, 0, "\"sort_index\": 5000000");
	for (int i = 0; i < SIM_STREAMS; i++) {
		fsc_buf_clear(&b);
		fsc_buf_addf(&b, "\"name\": \"stream %d\"", streams[i]);
		metadata(r, "thread_name", (int)r->device, streams[i], b.data);
	}
	fsc_buf_fini(&b);
}

void fsc_sim_init(struct sim_rank *r, uint32_t rank, uint32_t world, uint64_t seed)
{
	*r = (struct sim_rank){ .rank = rank, .world = world, .device = rank % 4 };
	r->rng = seed * 0x9e3779b97f4a7c15ULL + rank + 1;
	for (int i = 0; i < 8; i++)
		next_random(r);
	r->host_scale = 1.0;
	r->gpu_scale = 1.0;
	r->cpu = 1000000;
	r->correlation = 1000;
	r->external_id = 1;
	r->reserved = (int64_t)(38 * FSC_GIB);
	r->allocated = (int64_t)(21 * FSC_GIB);
	fsc_buf_init(&r->json, FSC_GIB);
	describe(r);
}

void fsc_sim_fini(struct sim_rank *r)
{
	fsc_buf_fini(&r->json);
}

void fsc_sim_op(struct sim_rank *r, const char *name, int64_t start)
{
	complete(r, "cpu_op", name, pid_of(r), tids[r->thread], start, r->cpu - start);
	fsc_buf_addf(
		&r->json,
		", \"args\": {\"External id\": %u, \"Record function id\": 0, \"Ev Idx\": %u}}",
		r->external_id, r->external_id);
	r->external_id++;
}

void fsc_sim_python(struct sim_rank *r, const char *name, int64_t start)
{
	complete(r, "python_function", name, pid_of(r), tids[r->thread], start, r->cpu - start);
	fsc_buf_addf(&r->json, ", \"args\": {\"Python id\": %u}}", ++r->python_id);
}

void fsc_sim_loader(struct sim_rank *r, const char *name, int64_t start, int64_t dur)
{
	complete(r, "python_function", name, pid_of(r), TID_LOADER, start,
		 fsc_sim_about(r, dur, 0.15));
	fsc_buf_addf(&r->json, ", \"args\": {\"Python id\": %u}}", ++r->python_id);
}

void fsc_sim_user(struct sim_rank *r, const char *name, int64_t start)
{
	complete(r, "user_annotation", name, pid_of(r), tids[r->thread], start, r->cpu - start);
	fsc_buf_addf(&r->json, ", \"args\": {\"External id\": %u}}", r->external_id++);
}

void fsc_sim_gpu_user(struct sim_rank *r, const char *name, int64_t start, int64_t end)
{
	complete(r, "gpu_user_annotation", name, (int)r->device, streams[SIM_COMPUTE], start,
		 end - start);
	fsc_buf_addf(&r->json, ", \"args\": {\"External id\": %u}}", r->external_id++);
}

/* Runtime call with its correlation, and the start of the arrow to what it launches. */
static void runtime_call(struct sim_rank *r, const char *name, int64_t ts, int64_t dur,
			 bool launches)
{
	complete(r, "cuda_runtime", name, pid_of(r), tids[r->thread], ts, dur);
	fsc_buf_addf(&r->json, ", \"args\": {\"External id\": %u, \"correlation\": %u}}",
		     r->external_id, ++r->correlation);
	if (!launches)
		return;
	begin(r, "s", "ac2g", "ac2g", pid_of(r), tids[r->thread], ts);
	fsc_buf_addf(&r->json, ", \"id\": %u}", r->correlation);
}

static void arrow_end(struct sim_rank *r, enum sim_stream s, int64_t ts)
{
	begin(r, "f", "ac2g", "ac2g", (int)r->device, streams[s], ts);
	fsc_buf_addf(&r->json, ", \"id\": %u, \"bp\": \"e\"}", r->correlation);
}

/* When work enqueued now starts on the stream: launch latency, then its turn. */
static int64_t stream_start(struct sim_rank *r, enum sim_stream s)
{
	int64_t ready = r->cpu + fsc_sim_about(r, 4200, 0.3);

	return ready > r->stream_free[s] + 900 ? ready : r->stream_free[s] + 900;
}

static void kernel_args(struct sim_rank *r, enum sim_stream s, const struct sim_kernel *k)
{
	int64_t blocks = (int64_t)k->grid[0] * k->grid[1] * k->grid[2];

	fsc_buf_addf(&r->json,
		     ", \"args\": {\"External id\": %u, \"queued\": 0, \"device\": %u, "
		     "\"context\": 1, \"stream\": %d, "
		     "\"correlation\": %u, \"registers per thread\": %d, \"shared memory\": %d, "
		     "\"blocks per SM\": %.6f, \"warps per SM\": %.6f, \"grid\": [%d, %d, %d], "
		     "\"block\": [%d, %d, %d], \"est. achieved occupancy %%\": %.0f",
		     r->external_id, r->device, streams[s], r->correlation, k->registers,
		     k->shared_bytes, (double)blocks / 108.0,
		     (double)blocks * k->block[0] / 32.0 / 108.0, k->grid[0], k->grid[1],
		     k->grid[2], k->block[0], k->block[1], k->block[2], (double)k->occupancy);
}

void fsc_sim_launch(struct sim_rank *r, const struct sim_kernel *k)
{
	int64_t call = r->cpu, start, dur;

	fsc_sim_work(r, 4600);
	runtime_call(r, "cudaLaunchKernel", call, r->cpu - call, true);
	start = stream_start(r, SIM_COMPUTE);
	dur = (int64_t)((double)fsc_sim_about(r, k->dur_ns, 0.03) * r->gpu_scale);
	complete(r, "kernel", k->name, (int)r->device, streams[SIM_COMPUTE], start, dur);
	kernel_args(r, SIM_COMPUTE, k);
	fsc_buf_adds(&r->json, "}}");
	arrow_end(r, SIM_COMPUTE, start);
	r->stream_free[SIM_COMPUTE] = start + dur;
}

void fsc_sim_copy_h2d(struct sim_rank *r, int64_t bytes)
{
	int64_t call = r->cpu, start,
		dur = bytes * 1000 / 12500; /* 12.5 GB/s: pageable host memory */

	fsc_sim_work(r, 9000);
	runtime_call(r, "cudaMemcpyAsync", call, r->cpu - call, true);
	start = stream_start(r, SIM_COPY);
	complete(r, "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", (int)r->device,
		 streams[SIM_COPY], start, dur);
	fsc_buf_addf(
		&r->json,
		", \"args\": {\"External id\": %u, \"device\": %u, \"context\": 1, \"stream\": %d, "
		"\"correlation\": %u, \"bytes\": %lld, \"memory bandwidth (GB/s)\": %.6f}}",
		r->external_id, r->device, streams[SIM_COPY], r->correlation, (long long)bytes,
		(double)bytes / (double)dur);
	arrow_end(r, SIM_COPY, start);
	r->stream_free[SIM_COPY] = start + dur;
	if (r->stream_free[SIM_COMPUTE] < start + dur)
		r->stream_free[SIM_COMPUTE] = start + dur;
}

static void collective_args(struct sim_rank *r, const struct sim_collective *c)
{
	fsc_buf_addf(
		&r->json,
		"\"Collective name\": \"%s\", \"In msg nelems\": %lld, \"Out msg nelems\": %lld, "
		"\"Group size\": %u, \"dtype\": \"BFloat16\", \"Process Group Name\": \"0\", "
		"\"Process Group Description\": \"default_pg\", \"Rank\": %u, \"Seq\": %u}}",
		c->name, (long long)c->nelems, (long long)c->nelems, r->world, r->rank, r->seq);
}

int64_t fsc_sim_collective_enqueue(struct sim_rank *r, const struct sim_collective *c)
{
	int64_t start = r->cpu, call, ready;

	r->seq++;
	fsc_sim_work(r, 6000);
	call = r->cpu;
	fsc_sim_work(r, 5200);
	runtime_call(r, "cudaLaunchKernelExC", call, r->cpu - call, true);
	complete(r, "cpu_op", "record_param_comms", pid_of(r), tids[r->thread], start,
		 r->cpu - start);
	fsc_buf_addf(&r->json, ", \"args\": {\"External id\": %u, ", r->external_id++);
	collective_args(r, c);
	/* the bucket is complete when the compute stream has produced it */
	ready = stream_start(r, SIM_NCCL);
	return ready > r->stream_free[SIM_COMPUTE] ? ready : r->stream_free[SIM_COMPUTE] + 1500;
}

void fsc_sim_collective_run(struct sim_rank *r, const struct sim_collective *c, int64_t start,
			    int64_t end)
{
	struct sim_kernel k = { c->kernel, { 16, 1, 1 }, { 512, 1, 1 }, 96, 82240, 13.0f, 0 };

	complete(r, "kernel", c->kernel, (int)r->device, streams[SIM_NCCL], start, end - start);
	kernel_args(r, SIM_NCCL, &k);
	fsc_buf_adds(&r->json, ", ");
	collective_args(r, c);
	arrow_end(r, SIM_NCCL, start);
	r->stream_free[SIM_NCCL] = end;
}

void fsc_sim_sync(struct sim_rank *r, const char *call, enum sim_stream s)
{
	int64_t start = r->cpu;

	fsc_sim_work(r, 3000);
	if (r->cpu < r->stream_free[s] + 2500)
		r->cpu = r->stream_free[s] + 2500;
	runtime_call(r, call, start, r->cpu - start, false);
}

void fsc_sim_memory(struct sim_rank *r, int64_t delta_bytes)
{
	r->allocated += delta_bytes;
	begin(r, "i", "cpu_instant_event", "[memory]", pid_of(r), tids[r->thread], r->cpu);
	fsc_buf_addf(&r->json,
		     ", \"s\": \"t\", \"args\": {\"Total Reserved\": %lld, \"Total Allocated\": "
		     "%lld, \"Bytes\": %lld, "
		     "\"Addr\": %llu, \"Device Id\": %u, \"Device Type\": 1}}",
		     (long long)r->reserved, (long long)r->allocated, (long long)delta_bytes,
		     (unsigned long long)(0x7f0000000000ULL + (uint64_t)r->allocated), r->device);
}
