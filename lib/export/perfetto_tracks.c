/* SPDX-License-Identifier: Apache-2.0 */
/* Track descriptors and the GPU dictionaries of the Perfetto exporter (track_descriptor.proto,
 * gpu_render_stage_event.proto). */
#include "export/perfetto_internal.h"

#include "export/pb.h"

/* Perfetto's pid is an int32, and text pids have no number: such a process is a plain named track. */
static bool has_pid(const struct fsc_seg_process *p)
{
	return !p->pid_text && p->pid >= 0 && p->pid <= INT32_MAX;
}

void fsc_pf_describe_process(struct pf *x, struct fsc_buf *out, uint32_t i)
{
	const struct fsc_seg_process *p = fsc_seg_process(x->seg, i);
	struct fsc_buf *b = &x->seq.body;
	const char *name = fsc_seg_str(x->seg, p->name ? p->name : p->pid_text, NULL);
	size_t m;

	pb_uint(b, 1, process_uuid(i));
	if (has_pid(p)) {
		m = pb_begin(b, 3);
		pb_int(b, 1, p->pid);
		pb_str(b, 6, name);
		if (p->labels)
			pb_str(b, 8, fsc_seg_str(x->seg, p->labels, NULL));
		pb_end(b, m);
	} else {
		pb_str(b, 2, name);
	}
	fsc_pf_seq_descriptor(&x->seq, out, PKT_TRACK_DESCRIPTOR);
}

/* Name of a track that is no thread: streams of annotations, async work. */
static void plain_name(struct pf *x, struct fsc_buf *b, const struct fsc_seg_track *t,
		       uint32_t lane)
{
	struct fsc_buf name = FSC_BUF_INIT(4096);

	if (t->kind == FSC_TRACK_ANNOTATION) {
		if (t->device != FSC_NO_ORDINAL)
			fsc_buf_addf(&name, "GPU %d ", t->device);
		if (t->stream != FSC_NO_ORDINAL)
			fsc_buf_addf(&name, "stream %d ", t->stream);
		fsc_buf_adds(&name, "annotations");
	} else if (t->name) {
		fsc_buf_adds(&name, fsc_seg_str(x->seg, t->name, NULL));
	} else if (t->tid_text) {
		fsc_buf_adds(&name, fsc_seg_str(x->seg, t->tid_text, NULL));
	} else {
		fsc_buf_addf(&name, "%lld", (long long)t->tid);
	}
	if (lane)
		fsc_buf_addf(&name, " (overlapping %u)", lane);
	if (name.data)
		pb_bytes(b, 2, name.data, name.len);
	fsc_buf_fini(&name);
}

static void describe_thread(struct pf *x, struct fsc_buf *b, const struct fsc_seg_track *t)
{
	size_t m = pb_begin(b, 4);

	pb_int(b, 1, fsc_seg_process(x->seg, t->process)->pid);
	pb_int(b, 2, t->tid);
	if (t->name)
		pb_str(b, 5, fsc_seg_str(x->seg, t->name, NULL));
	pb_end(b, m);
}

static void describe_counter(struct pf *x, struct fsc_buf *b, const struct fsc_seg_track *t)
{
	size_t m;

	pb_uint(b, 5, process_uuid(t->process));
	pb_str(b, 2, fsc_seg_str(x->seg, t->name, NULL));
	m = pb_begin(b, 8);
	if (t->unit)
		pb_str(b, 6, fsc_seg_str(x->seg, t->unit, NULL));
	pb_end(b, m);
}

void fsc_pf_describe_track(struct pf *x, struct fsc_buf *out, uint32_t lane)
{
	const struct fsc_seg_track *t = fsc_seg_track(x->seg, x->track);
	struct fsc_buf *b = &x->seq.body;

	pb_uint(b, 1, track_uuid(x->track, lane));
	if (t->kind == FSC_TRACK_COUNTER) {
		describe_counter(x, b, t);
	} else if (t->kind == FSC_TRACK_THREAD && !lane && !t->tid_text && t->tid >= 0 &&
		   has_pid(fsc_seg_process(x->seg, t->process))) {
		describe_thread(x, b, t);
	} else {
		pb_uint(b, 5, process_uuid(t->process));
		plain_name(x, b, t, lane);
		pb_uint(b, 15, 2); /* SIBLING_MERGE_BEHAVIOR_NONE: equal names stay apart */
	}
	fsc_pf_seq_descriptor(&x->seq, out, PKT_TRACK_DESCRIPTOR);
}

/* pid of the process that launched the first linked work of a stream, else of the stream's own process. */
static int64_t launching_pid(struct pf *x, const struct fsc_seg_track *t)
{
	uint32_t first, n = fsc_seg_row_slices(x->seg, t->first_row, &first), call;
	struct fsc_seg_slice s;

	for (uint32_t i = 0; i < n && i < 64; i++) {
		if (fsc_seg_correlated(x->seg, first + i, &call, 1) &&
		    !fsc_seg_slice(&s, x->seg, call, NULL)) {
			const struct fsc_seg_process *p =
				fsc_seg_process(x->seg, fsc_seg_track(x->seg, s.track)->process);

			if (has_pid(p))
				return p->pid;
		}
	}
	return has_pid(fsc_seg_process(x->seg, t->process))
		       ? fsc_seg_process(x->seg, t->process)->pid
		       : 0;
}

static void specification(struct fsc_buf *b, uint64_t iid, const char *name, uint32_t category)
{
	size_t m = pb_begin(b, PF_GPU_SPECIFICATIONS);

	pb_uint(b, 1, iid);
	pb_str(b, 2, name);
	if (category)
		pb_uint(b, 4, category);
	pb_end(b, m);
}

void fsc_pf_intern_stream(struct pf *x)
{
	const struct fsc_seg_track *t = fsc_seg_track(x->seg, x->track);
	struct fsc_buf *b = &x->seq.interned;
	struct fsc_buf name = FSC_BUF_INIT(64);
	size_t m;

	if (x->seq.contexts_sent)
		return;
	x->seq.contexts_sent = true;
	m = pb_begin(b, PF_GRAPHICS_CONTEXTS);
	pb_uint(b, 1, 1);
	pb_int(b, 2, launching_pid(x, t));
	pb_uint(b, 3, 4); /* GRAPHICS_CONTEXT_API CUDA */
	pb_end(b, m);
	if (t->stream != FSC_NO_ORDINAL)
		fsc_buf_addf(&name, "Stream #%d", t->stream);
	else
		fsc_buf_adds(&name, "Stream");
	specification(b, QUEUE_BASE + x->track, name.data ? name.data : "", 0);
	fsc_buf_fini(&name);
	specification(b, STAGE_KERNEL, "Kernel", 2);
	specification(b, STAGE_MEMCPY, "Memcpy", 0);
	specification(b, STAGE_MEMSET, "Memset", 0);
}
