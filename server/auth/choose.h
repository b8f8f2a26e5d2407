/* SPDX-License-Identifier: Apache-2.0 */
/* Which project a caller is in. */
#ifndef FSC_AUTH_CHOOSE_H
#define FSC_AUTH_CHOOSE_H

#include "auth/cache.h"
#include "http/req.h"

/*
 * Completes req->who, of which all but project, project_id and perms is known (a token has these already). The header
 * X-Fleetscope-Project must fit: FSC_EDENIED "project_denied" alike for a project that does not exist and one that is not the
 * caller's. The cookie fleetscope_project, which a browser may have from another login, is passed over when it does not fit.
 */
fsc_nodiscard enum fsc_status fsc_auth_choose(struct fsc_cache *c, struct fsc_req *req,
					      struct fsc_err *err);

#endif
