/* SPDX-License-Identifier: Apache-2.0 */
/* Media type of a static file by the end of its name. Any thread. */
#ifndef FSC_HTTP_MIME_H
#define FSC_HTTP_MIME_H

#include "base/attr.h"

const char *fsc_mime_of(const char *name); /* "application/octet-stream" when unknown; static */

#endif
