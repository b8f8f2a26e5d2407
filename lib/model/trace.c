/* SPDX-License-Identifier: Apache-2.0 */
/* Release of a trace. */
#include "model/trace.h"

#include "base/alloc.h"

void fsc_trace_free(struct fsc_trace *t)
{
	if (!t)
		return;
	fsc_strtab_free(t->strings);
	fsc_vec_fini(&t->processes);
	fsc_vec_fini(&t->tracks);
	fsc_vec_fini(&t->cats);
	fsc_free(t->slices.ts);
	fsc_free(t->slices.dur);
	fsc_free(t->slices.correlation);
	fsc_free(t->slices.track);
	fsc_free(t->slices.name);
	fsc_free(t->slices.args);
	fsc_free(t->slices.cat);
	fsc_free(t->slices.depth);
	fsc_free(t->slices.kind);
	fsc_free(t->slices.flags);
	fsc_vec_fini(&t->flows);
	fsc_vec_fini(&t->counters);
	fsc_vec_fini(&t->launches);
	fsc_vec_fini(&t->collectives);
	fsc_args_free(t->args);
	fsc_free(t);
}

static const char *const kind_names[FSC_KIND_COUNT] = {
	[FSC_KIND_NONE] = "other",	  [FSC_KIND_OP] = "op",
	[FSC_KIND_RUNTIME] = "runtime",	  [FSC_KIND_PYTHON] = "python",
	[FSC_KIND_USER] = "user",	  [FSC_KIND_COMPUTE] = "compute",
	[FSC_KIND_COMM] = "comm",	  [FSC_KIND_MEMCPY] = "memcpy",
	[FSC_KIND_MEMSET] = "memset",	  [FSC_KIND_GPU_OTHER] = "unclassified",
	[FSC_KIND_SYNC] = "sync",	  [FSC_KIND_GPU_ANNOTATION] = "annotation",
	[FSC_KIND_OVERHEAD] = "overhead", [FSC_KIND_INSTANT] = "instant",
	[FSC_KIND_OTHER] = "other",
};

const char *fsc_kind_name(uint8_t kind)
{
	return kind < FSC_KIND_COUNT ? kind_names[kind] : "other";
}
