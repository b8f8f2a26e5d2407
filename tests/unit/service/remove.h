/* SPDX-License-Identifier: Apache-2.0 */
/* Deleting a bundle as a person would, for the tests that need it gone. */
#ifndef FSC_TESTS_UNIT_SERVICE_REMOVE_H
#define FSC_TESTS_UNIT_SERVICE_REMOVE_H

#include "service/removal.h"

static inline enum fsc_status delete_bundle(struct fsc_ingest *in, int64_t project, int64_t bundle,
					    struct fsc_err *err)
{
	const struct fsc_delete_request req = { .project = project,
						.bundle = bundle,
						.actor = "test" };
	struct fsc_removed gone;

	return fsc_removal_one(in, &req, &gone, err);
}

#endif
