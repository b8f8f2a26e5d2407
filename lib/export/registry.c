/* SPDX-License-Identifier: Apache-2.0 */
/* The table of exporters: adding one is a line here and a file beside it. */
#include "export/exporter.h"

#include <string.h>

#include "export/chrome.h"
#include "export/csv.h"
#include "export/perfetto.h"

static const struct fsc_exporter *const exporters[] = {
	&fsc_export_perfetto,
	&fsc_export_chrome,
	&fsc_export_csv,
};

const struct fsc_exporter *fsc_exporter_find(const char *name)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(exporters); i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}
