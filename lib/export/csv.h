/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV (RFC 4180: CRLF, quotes doubled, a head line), one row a slice, tracks in display order, by start within one.
 * Times are integer ns: ts_ns relative to the trace's start, abs_ts_ns on its clock. Unknown values are empty cells.
 *
 * Spreadsheets run cells that begin with = + - @ tab or CR, quoted or not, and names come from files. So a text cell
 * that begins with one of those, or with an apostrophe, gets one apostrophe in front; take one off a cell that begins
 * with one to have the text as it was. Numbers are written as numbers.
 */
#ifndef FSC_EXPORT_CSV_H
#define FSC_EXPORT_CSV_H

#include "export/exporter.h"

extern const struct fsc_exporter fsc_export_csv;

#endif
