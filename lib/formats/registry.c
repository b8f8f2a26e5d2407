/* SPDX-License-Identifier: Apache-2.0 */
/* The table of readers: the index of what formats there are. */
#include <string.h>

#include "formats/chrome.h"
#include "formats/reader.h"

static const struct fsc_reader readers[] = {
	{ .name = "trace_json", .sniff = fsc_chrome_sniff, .read = fsc_chrome_read },
};

static size_t skip_blank(const uint8_t *head, size_t n)
{
	size_t i = n >= 3 && !memcmp(head, "\xEF\xBB\xBF", 3) ? 3 : 0;
	while (i < n && (head[i] == ' ' || head[i] == '\t' || head[i] == '\r' || head[i] == '\n'))
		i++;
	return i;
}

const struct fsc_reader *fsc_reader_pick(const uint8_t *head, size_t n, struct fsc_err *err)
{
	const struct fsc_reader *best = NULL;
	int score = 0;
	for (size_t i = 0; i < FSC_ARRAY_LEN(readers); i++) {
		int s = readers[i].sniff(head, n);
		if (s > score) {
			score = s;
			best = &readers[i];
		}
	}
	if (best)
		return best;
	size_t i = skip_blank(head, n);
	if (i == n)
		fsc_err_set(err, FSC_EUNSUPPORTED, "empty_file",
			    n < 4096 ? "the file is empty" : "the file begins with 4096 blanks");
	else if (head[i] == '<')
		fsc_err_set(err, FSC_EUNSUPPORTED, "html",
			    "this is HTML or XML, perhaps an error page that was saved in place of "
			    "the trace");
	else
		fsc_err_set(err, FSC_EUNSUPPORTED, "unknown_format",
			    "no reader knows a file that begins with 0x%02X 0x%02X 0x%02X 0x%02X",
			    head[i], i + 1 < n ? head[i + 1] : 0, i + 2 < n ? head[i + 2] : 0,
			    i + 3 < n ? head[i + 3] : 0);
	fsc_err_at(err, NULL, (int64_t)i);
	return NULL;
}
