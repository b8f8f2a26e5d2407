/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks every invariant of model/trace.h: tests run it on all they build, the indexer after each import in
 * sanitizer builds. FSC_EBUG with the first broken invariant. Any thread.
 */
#ifndef FSC_MODEL_VALIDATE_H
#define FSC_MODEL_VALIDATE_H

#include "base/err.h"
#include "model/trace.h"

fsc_nodiscard enum fsc_status fsc_trace_validate(const struct fsc_trace *t, struct fsc_err *err);

#endif
