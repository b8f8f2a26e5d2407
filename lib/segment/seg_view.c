/* SPDX-License-Identifier: Apache-2.0 */
/* Views: a shallow copy of an open segment with the stop flag of the one who asks. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "segment/seg_internal.h"

#define FROM offsetof(struct fsc_seg, whole)

enum fsc_status fsc_seg_view(struct fsc_seg **out, struct fsc_seg *s, const atomic_bool *stop,
			     struct fsc_err *err)
{
	struct fsc_seg *v = fsc_alloc(1, sizeof(*v));

	*out = v;
	if (!v) {
		fsc_seg_unref(s);
		return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory for a view");
	}
	/* All but the count of references, which others change meanwhile. */
	memcpy((char *)v + FROM, (const char *)s + FROM, sizeof(*v) - FROM);
	atomic_init(&v->refs, 1);
	v->whole = s;
	v->stop = stop;
	return FSC_OK;
}

void fsc_seg_view_free(struct fsc_seg *view)
{
	fsc_seg_unref(view->whole);
	fsc_free(view);
}

enum fsc_status fsc_seg_stop_error(struct fsc_err *err)
{
	return fsc_err_set(err, FSC_ECANCELED, "query_stopped",
			   "the query was stopped before it had its answer");
}
