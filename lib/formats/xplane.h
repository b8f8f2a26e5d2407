/* SPDX-License-Identifier: Apache-2.0 */
/* The XPlane reader (`*.xplane.pb` of JAX, TensorFlow and PyTorch/XLA), for registry.c and for tests. Owner thread. */
#ifndef FSC_FORMATS_XPLANE_H
#define FSC_FORMATS_XPLANE_H

#include "formats/reader.h"

int fsc_xplane_sniff(const uint8_t *head, size_t n);
/* Besides what reader.h names: "xplane_truncated", "xplane_corrupt", "plane_too_big", "not_a_timeline". */
fsc_nodiscard enum fsc_status fsc_xplane_read(struct fsc_source *src,
					      const struct fsc_reader_sink *sink,
					      struct fsc_err *err);

#endif
