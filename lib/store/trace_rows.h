/* SPDX-License-Identifier: Apache-2.0 */
/* How a row of the listing (LISTING_COLUMNS of the queries) becomes a list item. Private to lib/store. */
#ifndef FSC_STORE_TRACE_ROWS_H
#define FSC_STORE_TRACE_ROWS_H

#include "store/store.h"
#include "store/store_ops.h"

#define FSC_LISTING_COLUMNS 51

fsc_nodiscard enum fsc_status fsc_store_read_item(struct fsc_trace_item *out,
						  const struct fsc_row *row, struct fsc_arena *a,
						  struct fsc_err *err);

#endif
