/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome / Kineto trace-event JSON, the form that our own reader, torch.profiler's tools and every timeline viewer
 * take. Reading it again gives the same slices, ns, flows, counters and launch pairs:
 *  - ts and dur are microseconds with exactly three decimals, relative to the top-level baseTimeNanoseconds;
 *  - slices are X events (B without E where the end was missing, b/e on async tracks), instants i or n, counters C,
 *    processes and threads M; args are the file's own text;
 *  - a flow is a pair s, f. Launch flows keep the correlation as id; all others get an id of their own, and a ts
 *    at which their slice is the innermost one, because that is what readers bind them to. A slice that is
 *    covered by its children from end to end has no such ts: its flow lies at its start;
 *  - counters that the file gave as [memory] instants are not written a second time;
 *  - ids of processes and threads are numbers or texts as in the source; an empty text and -1 are one in a segment and
 *    become -1;
 *  - the top-level keys of the source file are kept; "fleetscope" tells what was exported.
 * In a range, flows are written when both their slices are.
 */
#ifndef FSC_EXPORT_CHROME_H
#define FSC_EXPORT_CHROME_H

#include "export/exporter.h"

extern const struct fsc_exporter fsc_export_chrome;

#endif
