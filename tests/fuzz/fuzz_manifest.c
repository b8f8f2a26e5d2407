/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.json, and Perfetto's manifest, from any bytes. */
#include <string.h>

#include "base/assert.h"
#include "bundle/manifest.h"
#include "bundle/perfetto_manifest.h"
#include "tests/fuzz/fuzz.h"

static void perfetto(const uint8_t *data, size_t size)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_perfetto_manifest *m;

	if (fsc_perfetto_manifest_parse(&m, (const char *)data, size, &err) != FSC_OK) {
		FSC_ASSERT(err.code[0] && !m);
		return;
	}
	for (size_t i = 0; i < m->n_files; i++)
		FSC_ASSERT(fsc_perfetto_manifest_file(m, m->files[i].path));
	fsc_perfetto_manifest_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_manifest *m;

	perfetto(data, size);
	if (fsc_manifest_parse(&m, (const char *)data, size, &err) != FSC_OK) {
		FSC_ASSERT(err.code[0] && !m);
		return 0;
	}
	for (size_t i = 0; i < m->n_files; i++)
		FSC_ASSERT(fsc_manifest_file(m, m->files[i].path));
	fsc_manifest_free(m);
	return 0;
}
