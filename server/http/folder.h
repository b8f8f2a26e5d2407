/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static files of a folder on disk, as an operator names one. The names are read once, at the start, into a
 * table; a request is looked up in it, so that no path can leave the folder. Only regular files count: links are
 * left out. Files are opened anew for each request and streamed, so one that is replaced under the server is
 * served as it then is.
 *
 * Open and free: start-up and shut-down. Serving: any thread.
 */
#ifndef FSC_HTTP_FOLDER_H
#define FSC_HTTP_FOLDER_H

#include "http/resp.h"

#define FSC_FOLDER_MAX_FILES 5000
#define FSC_FOLDER_MAX_DEPTH 12
#define FSC_FOLDER_MAX_NAME 500 /* bytes of a path below the folder */

struct fsc_folder;

/* FSC_ENOTFOUND or another error of the system with the path; FSC_ELIMIT: too many files, too deep, a name too
 * long. */
fsc_nodiscard enum fsc_status fsc_folder_open(struct fsc_folder **out, const char *path,
					      struct fsc_err *err);
void fsc_folder_free(struct fsc_folder *f); /* NULL is fine */
bool fsc_folder_has(const struct fsc_folder *f, const char *name);
/* "/" is index.html. csp: as fsc_resp.csp. 404 when the table does not have it. */
void fsc_folder_serve(const struct fsc_folder *f, struct fsc_req *req, struct fsc_resp *resp,
		      const char *csp);

#endif
