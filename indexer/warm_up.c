/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has to happen before the sandbox. Libraries open files when they are first used: jansson seeds its hash,
 * libcrypto reads its configuration, the C library loads character sets. So a zip and a
 * tar.gz of our own, with a manifest and a name outside ASCII, are read once while files can still be opened.
 */
#include "indexer/work.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/crypto.h"
#include "bundle/bundle_read.h"
#include "bundle/manifest.h"

/* "é.json" with the UTF-8 flag, stored, 2 bytes "{}", dated 2020-01-01. */
static const uint8_t zip[] = {
	'P',  'K',  3,	  4,	20,   0, 0, 8,	0, 0,  0, 0, 0x21, 0x50, 0x43, 0xBF, 0xA6, 0xA3,
	2,    0,    0,	  0,	2,    0, 0, 0,	7, 0,  0, 0, 0xC3, 0xA9, '.',  'j',  's',  'o',
	'n',  '{',  '}',  'P',	'K',  1, 2, 20, 0, 20, 0, 0, 8,	   0,	 0,    0,    0,	   0x21,
	0x50, 0x43, 0xBF, 0xA6, 0xA3, 2, 0, 0,	0, 2,  0, 0, 0,	   7,	 0,    0,    0,	   0,
	0,    0,    0,	  0,	0,    0, 0, 0,	0, 0,  0, 0, 0,	   0xC3, 0xA9, '.',  'j',  's',
	'o',  'n',  'P',  'K',	5,    6, 0, 0,	0, 0,  1, 0, 1,	   0,	 53,   0,    0,	   0,
	39,   0,    0,	  0,	0,    0
};

#define TAR_BLOCK 512

/* One ustar entry of at most a block of data at p; returns what it takes. */
static size_t tar_entry(char *p, const char *name, char type, const char *data)
{
	size_t n = strlen(data);
	unsigned sum = 0;

	snprintf(p, 100, "%s", name);
	snprintf(p + 100, 8, "%07o", 0644u);
	snprintf(p + 108, 8, "%07o", 0u);
	snprintf(p + 116, 8, "%07o", 0u);
	snprintf(p + 124, 12, "%011o", (unsigned)n);
	snprintf(p + 136, 12, "%011o", 1577836800u);
	memset(p + 148, ' ', 8);
	p[156] = type;
	memcpy(p + 257,
	       "ustar\0"
	       "00",
	       8);
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)p[i];
	snprintf(p + 148, 8, "%06o", sum);
	memcpy(p + TAR_BLOCK, data, n);
	return 2 * TAR_BLOCK;
}

static void read_all(const void *bytes, size_t n)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_bundle *b = NULL;
	struct fsc_member m;
	char buf[256];
	size_t got = 0;

	if (fsc_bundle_open(&b, fsc_source_mem(bytes, n), "warm-up", &err) != FSC_OK)
		return;
	while (fsc_bundle_next(b, &m, &err) == FSC_OK) {
		struct fsc_source *src = fsc_bundle_member_auto(b);

		while (fsc_source_read(src, buf, sizeof(buf), &got, &err) == FSC_OK)
			;
		fsc_source_free(src);
	}
	fsc_bundle_close(b);
}

void fsc_work_warm_up(void)
{
	static const char manifest[] =
		"{\"version\":1,\"files\":[{\"path\":\"\xC3\xA9.json\",\"sha256\":"
		"\"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\"}]}";
	char tar[8 * TAR_BLOCK] = { 0 };
	uint8_t digest[FSC_SHA256_LEN];
	size_t n = 0;

	/* with a zone of its own the C library never looks for /etc/localtime, which it does at each mktime() */
	setenv("TZ", "UTC0", 1);
	tzset();
	/* libarchive converts names to the locale's characters; this one is built into the C library */
	setlocale(LC_CTYPE, "C.UTF-8");
	fsc_manifest_memory_or_abort();
	fsc_sha256(digest, "", 0);
	n += tar_entry(tar + n, FSC_MANIFEST_NAME, '0', manifest);
	/* a pax header with the real name of the entry that follows it */
	n += tar_entry(tar + n, "pax", 'x', "16 path=\xC3\xA9.json\n");
	tar_entry(tar + n, "e.json", '0', "{}");
	read_all(tar, sizeof(tar));
	read_all(zip, sizeof(zip));
}
