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
