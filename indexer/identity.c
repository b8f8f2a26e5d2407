/* SPDX-License-Identifier: Apache-2.0 */
/* Precedence and disagreements of the sources of a trace's identity. */
#include "indexer/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_out.h"

static const char *const source_names[FSC_N_SOURCES] = {
	[FSC_FROM_UPLOAD] = "upload",
	[FSC_FROM_MANIFEST] = "manifest",
	[FSC_FROM_TRACE] = "trace",
	[FSC_FROM_NAME] = "file name",
};

void fsc_identity_from_name(struct fsc_identity src[FSC_N_SOURCES],
			    const struct fsc_identity_name *name, bool one_rank)
{
	bool rank = false, host = false, capture = false;

	for (int i = 0; i < FSC_FROM_NAME; i++) {
		rank |= src[i].rank >= 0;
		host |= src[i].host && src[i].host[0];
		capture |= src[i].capture && src[i].capture[0];
	}
	if (one_rank && !(name->rank_weak && rank))
		src[FSC_FROM_NAME].rank = name->rank;
	if (!host)
		src[FSC_FROM_NAME].host = name->host;
	if (!capture)
		src[FSC_FROM_NAME].capture = name->capture;
}

bool fsc_identity_outside_world(struct fsc_identity *id)
{
	bool outside = id->rank >= 0 && id->world_size >= 0 && id->rank >= id->world_size;

	if (outside)
		id->world_size = -1;
	return outside;
}

struct merge {
	struct fsc_json j;
	struct fsc_buf *told;
	uint32_t n;
};

static void tell(struct merge *m, const char *field, const char *used, int used_from,
		 const char *other, int other_from)
{
	if (!m->n++) {
		fsc_json_init(&m->j, m->told);
		fsc_json_arr(&m->j);
	}
	fsc_json_obj(&m->j);
	fsc_json_kstr(&m->j, "field", field);
	fsc_json_kstr(&m->j, "used", used);
	fsc_json_kstr(&m->j, "used_from", source_names[used_from]);
	fsc_json_kstr(&m->j, "other", other);
	fsc_json_kstr(&m->j, "other_from", source_names[other_from]);
	fsc_json_obj_end(&m->j);
}

static const char *merge_text(struct merge *m, const char *field,
			      const char *const v[FSC_N_SOURCES])
{
	int used = -1;

	for (int i = 0; i < FSC_N_SOURCES; i++) {
		if (!v[i] || !v[i][0])
			continue;
		if (used < 0)
			used = i;
		else if (strcmp(v[i], v[used]))
			tell(m, field, v[used], used, v[i], i);
	}
	return used < 0 ? NULL : v[used];
}

static int64_t merge_number(struct merge *m, const char *field, const int64_t v[FSC_N_SOURCES],
			    const int order[FSC_N_SOURCES])
{
	int used = -1;

	for (int k = 0; k < FSC_N_SOURCES; k++) {
		int i = order[k];
		char a[24], b[24];

		if (v[i] < 0)
			continue;
		if (used < 0) {
			used = i;
		} else if (v[i] != v[used]) {
			snprintf(a, sizeof(a), "%" PRId64, v[used]);
			snprintf(b, sizeof(b), "%" PRId64, v[i]);
			tell(m, field, a, used, b, i);
		}
	}
	return used < 0 ? -1 : v[used];
}

uint32_t fsc_identity_merge(struct fsc_identity *out, const struct fsc_identity src[FSC_N_SOURCES],
			    bool archive, struct fsc_buf *told)
{
	static const int usual[] = { FSC_FROM_UPLOAD, FSC_FROM_MANIFEST, FSC_FROM_TRACE,
				     FSC_FROM_NAME };
	static const int in_archive[] = { FSC_FROM_MANIFEST, FSC_FROM_TRACE, FSC_FROM_NAME,
					  FSC_FROM_UPLOAD };
	struct merge m = { .told = told };
	const char *job[FSC_N_SOURCES], *host[FSC_N_SOURCES], *capture[FSC_N_SOURCES];
	int64_t rank[FSC_N_SOURCES], world[FSC_N_SOURCES];

	for (int i = 0; i < FSC_N_SOURCES; i++) {
		job[i] = src[i].job;
		host[i] = src[i].host;
		capture[i] = src[i].capture;
		rank[i] = src[i].rank;
		world[i] = src[i].world_size;
	}
	/* one rank for many files is no statement about any of them */
	if (archive &&
	    (rank[FSC_FROM_MANIFEST] >= 0 || rank[FSC_FROM_TRACE] >= 0 || rank[FSC_FROM_NAME] >= 0))
		rank[FSC_FROM_UPLOAD] = -1;
	out->job = merge_text(&m, "job", job);
	out->host = merge_text(&m, "host", host);
	out->capture = merge_text(&m, "capture", capture);
	out->rank = merge_number(&m, "rank", rank, archive ? in_archive : usual);
	out->world_size = merge_number(&m, "world_size", world, usual);
	if (m.n)
		fsc_json_arr_end(&m.j);
	return m.n;
}
