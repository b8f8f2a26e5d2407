/* SPDX-License-Identifier: Apache-2.0 */
/* The table of readers: the index of what formats there are. */
#include <string.h>

#include "formats/chrome.h"
#include "formats/nsys.h"
#include "formats/perfetto.h"
#include "formats/reader.h"
#include "formats/xplane.h"

static const struct fsc_reader readers[] = {
	{ .name = "trace_json", .sniff = fsc_chrome_sniff, .read = fsc_chrome_read },
	{ .name = "perfetto", .sniff = fsc_perfetto_sniff, .read = fsc_perfetto_read },
	{ .name = "nsys", .sniff = fsc_nsys_sniff, .read = fsc_nsys_read },
	{ .name = "xplane", .sniff = fsc_xplane_sniff, .read = fsc_xplane_read },
};

static size_t skip_blank(const uint8_t *head, size_t n)
{
	size_t i = n >= 3 && !memcmp(head, "\xEF\xBB\xBF", 3) ? 3 : 0;
	while (i < n && (head[i] == ' ' || head[i] == '\t' || head[i] == '\r' || head[i] == '\n'))
		i++;
	return i;
}

/* Compressions and archives that are known by their mark and not read. */
static const struct {
	const char *code, *name, *mark;
	size_t at, n;
} not_read[] = {
	{ "compression_unsupported", "xz",
	  "\xFD"
	  "7zXZ",
	  0, 6 },
	{ "compression_unsupported", "bzip2", "BZh", 0, 3 },
	{ "compression_unsupported", "lz4", "\x04\x22\x4D\x18", 0, 4 },
	{ "compression_unsupported", "lzip", "LZIP", 0, 4 },
	{ "compression_unsupported", "compress (.Z)", "\x1F\x9D", 0, 2 },
	{ "archive_unsupported", "7z", "7z\xBC\xAF\x27\x1C", 0, 6 },
	{ "archive_unsupported", "RAR", "Rar!\x1A\x07", 0, 6 },
	{ "nested_archive", "zip", "PK\3\4", 0, 4 },
	{ "nested_archive", "zip", "PK\5\6", 0, 4 },
	{ "nested_archive", "tar", "ustar", 257, 5 },
};

/* Sets err when the head is of something that could hold a trace and is not looked into. */
static bool is_wrapped(const uint8_t *head, size_t n, struct fsc_err *err)
{
	for (size_t i = 0; i < FSC_ARRAY_LEN(not_read); i++) {
		if (n < not_read[i].at + not_read[i].n ||
		    memcmp(head + not_read[i].at, not_read[i].mark, not_read[i].n) != 0)
			continue;
		fsc_err_set(err, FSC_EUNSUPPORTED, not_read[i].code,
			    !strcmp(not_read[i].code, "nested_archive")
				    ? "this is a %s inside an archive: only one level of archives "
				      "is read"
				    : "this is %s, which is not read: gzip, zstd, tar and zip are",
			    not_read[i].name);
		fsc_err_at(err, NULL, 0);
		return true;
	}
	return false;
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
	if (is_wrapped(head, n, err))
		return NULL;
	if (n >= 2 &&
	    ((head[0] == 0xFF && head[1] == 0xFE) || (head[0] == 0xFE && head[1] == 0xFF) ||
	     (head[0] == '{' && !head[1]) || (!head[0] && head[1] == '{'))) {
		fsc_err_set(err, FSC_EUNSUPPORTED, "encoding_unsupported",
			    "this is UTF-16 text: write it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
		fsc_err_at(err, NULL, 0);
		return NULL;
	}
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
