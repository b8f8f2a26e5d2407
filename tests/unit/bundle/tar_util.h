/* SPDX-License-Identifier: Apache-2.0 */
/* Makes archives in memory, header by header, so that tests can make wrong ones too. */
#ifndef FSC_TESTS_BUNDLE_TAR_UTIL_H
#define FSC_TESTS_BUNDLE_TAR_UTIL_H

#include "base/buf.h"
#include "tests/support/test.h"

/* type: '0' file, '1' hard link, '2' symlink, '3' character device, '5' folder, 'L' GNU long name. */
static inline void tar_header(struct fsc_buf *b, const char *name, char type, size_t size,
			      const char *link)
{
	char h[512] = { 0 };
	unsigned sum = 0;

	memcpy(h, name, strnlen(name, 100));
	snprintf(h + 100, 8, "%07o", 0644);
	snprintf(h + 108, 8, "%07o", 0);
	snprintf(h + 116, 8, "%07o", 0);
	snprintf(h + 124, 12, "%011o", (unsigned)size & 0x3FFFFFFF);
	snprintf(h + 136, 12, "%011o", 0);
	h[156] = type;
	if (link)
		memcpy(h + 157, link, strnlen(link, 100));
	memcpy(h + 257, "ustar", 6);
	memcpy(h + 263, "00", 2);
	memset(h + 148, ' ', 8);
	for (size_t i = 0; i < sizeof(h); i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum);
	fsc_buf_add(b, h, sizeof(h));
}

static inline void tar_data(struct fsc_buf *b, const char *data, size_t n)
{
	static const char zeros[512];

	fsc_buf_add(b, data, n);
	fsc_buf_add(b, zeros, (512 - n % 512) % 512);
}

static inline void tar_file(struct fsc_buf *b, const char *name, const char *data)
{
	size_t n = strlen(data);

	if (strlen(name) > 100) {
		tar_header(b, "././@LongLink", 'L', strlen(name) + 1, NULL);
		tar_data(b, name, strlen(name) + 1);
	}
	tar_header(b, name, '0', n, NULL);
	tar_data(b, data, n);
}

static inline void tar_end(struct fsc_buf *b)
{
	static const char zeros[1024];

	fsc_buf_add(b, zeros, sizeof(zeros));
}

#endif
