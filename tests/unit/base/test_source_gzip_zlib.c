/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same tests against the gzip source built for machines without ISA-L: its definition here takes the
 * place of the one in the library.
 */
#define FSC_NO_ISAL
#include "lib/base/source_gzip.c"

#include "tests/unit/base/test_source_gzip.c"
