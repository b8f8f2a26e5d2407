/* SPDX-License-Identifier: Apache-2.0 */
/* What a name inside an archive may look like. Pure, any thread. */
#ifndef FSC_BUNDLE_MEMBER_NAME_H
#define FSC_BUNDLE_MEMBER_NAME_H

#include <stddef.h>

/* NULL when the name is fine, else why it is not (a code of bundle_read.h). Back slashes separate too. */
const char *fsc_member_name_code(const char *path, size_t n);

#endif
