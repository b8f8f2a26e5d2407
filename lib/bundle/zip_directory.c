/* SPDX-License-Identifier: Apache-2.0 */
/* Central directory and its end record, plain and zip64 (APPNOTE 4.3.12 to 4.3.16); see zip_directory.h. */
#include "bundle/zip_directory.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc.h"

#define ENTRY_BYTES 46u
#define END_BYTES 22u
#define LOCATOR_BYTES 20u
#define END64_BYTES 56u
#define BEHIND_BYTES_MAX 24u
#define UNICODE_PATH 0x7075 /* extra field: the real name */

struct end_record {
	uint64_t entries, at; /* number of entries; byte where they begin */
};

struct entry {
	uint64_t at, size;
	uint32_t crc, name;
	size_t bytes;
};

static uint16_t u16_at(const uint8_t *p)
{
	struct fsc_cur c = fsc_cur_of(p, 2);

	return fsc_cur_u16(&c);
}

static uint32_t u32_at(const uint8_t *p)
{
	struct fsc_cur c = fsc_cur_of(p, 4);

	return fsc_cur_u32(&c);
}

static uint64_t u64_at(const uint8_t *p)
{
	struct fsc_cur c = fsc_cur_of(p, 8);

	return fsc_cur_u64(&c);
}

uint32_t fsc_zip_name_hash(const char *name, size_t n)
{
	uint32_t h = 0;

	while (n && (name[n - 1] == '/' || name[n - 1] == '\\'))
		n--;
	for (size_t i = 0; i < n; i++) {
		uint8_t c = name[i] == '\\' ? '/' : (uint8_t)name[i];
		if (c < ' ' || c >= 0x7F)
			return 0;
		h = fsc_crc32(h, &c, 1);
	}
	return h;
}

/* ---- end records ---- */

/* The zip64 record in front of its locator, which is in front of the record at p + at. */
static bool end64(struct end_record *e, const uint8_t *p, size_t at)
{
	if (at < LOCATOR_BYTES + END64_BYTES || memcmp(p + at - LOCATOR_BYTES, "PK\6\7", 4) != 0)
		return false;
	const uint8_t *r = p + at - LOCATOR_BYTES - END64_BYTES;
	if (memcmp(r, "PK\6\6", 4) != 0)
		return false;
	*e = (struct end_record){ u64_at(r + 32), u64_at(r + 48) };
	return true;
}

static bool find_end(struct end_record *e, const uint8_t *tail, size_t n)
{
	for (size_t at = n < END_BYTES ? 0 : n - END_BYTES + 1; at-- > 0;) {
		const uint8_t *p = tail + at;
		if (memcmp(p, "PK\5\6", 4) != 0 || at + END_BYTES + u16_at(p + 20) > n)
			continue;
		*e = (struct end_record){ u16_at(p + 10), u32_at(p + 16) };
		return (e->entries != UINT16_MAX && e->at != UINT32_MAX) || end64(e, tail, at);
	}
	return false;
}

/* ---- entries ---- */

/* Numbers that did not fit, in the order of their fields; and whether the name stands there once more. */
static void read_extra(struct entry *e, bool size, bool packed, bool at, const uint8_t *p, size_t n)
{
	while (n >= 4) {
		uint16_t id = u16_at(p), len = u16_at(p + 2);
		const uint8_t *v = p + 4;
		if ((size_t)len + 4 > n)
			return;
		if (id == UNICODE_PATH)
			e->name = 0;
		if (id == 1 && len >= 8u * ((unsigned)size + packed + at)) {
			if (size)
				e->size = u64_at(v);
			if (at)
				e->at = u64_at(v + 8 * ((unsigned)size + packed));
		}
		p += 4 + len;
		n -= 4 + (size_t)len;
	}
}

static bool read_entry(struct entry *e, const uint8_t *p, size_t n)
{
	if (n < ENTRY_BYTES || memcmp(p, "PK\1\2", 4) != 0)
		return false;
	size_t name = u16_at(p + 28), extra = u16_at(p + 30), comment = u16_at(p + 32);
	uint32_t packed = u32_at(p + 20), size = u32_at(p + 24), at = u32_at(p + 42);
	*e = (struct entry){ .at = at, .size = size, .crc = u32_at(p + 16) };
	e->bytes = ENTRY_BYTES + name + extra + comment;
	if (e->bytes > n)
		return false;
	e->name = fsc_zip_name_hash((const char *)p + ENTRY_BYTES, name);
	read_extra(e, size == UINT32_MAX, packed == UINT32_MAX, at == UINT32_MAX,
		   p + ENTRY_BYTES + name, extra);
	return true;
}

/* The member whose header is at that byte. Its place may be noted too early by the sizes that stand behind the data
 * of the member before, when that one was passed over. */
static struct fsc_zip_member *member_at(struct fsc_zip_member *m, size_t n, uint64_t at)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (m[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && at - m[lo - 1].at <= BEHIND_BYTES_MAX ? &m[lo - 1] : NULL;
}

/* Why the entry and what was read are not the same; NULL when they are. */
static const char *difference(const struct entry *e, const struct fsc_zip_member *m)
{
	if (!m || m->listed)
		return "is not there";
	if (e->name && m->name && e->name != m->name)
		return "has another name";
	if (m->whole && e->size != m->size)
		return "has another size";
	if (m->whole && e->crc != m->crc)
		return "has another checksum";
	return NULL;
}

enum fsc_status fsc_zip_directory_check(struct fsc_zip_member *m, size_t n, const uint8_t *tail,
					size_t len, uint64_t tail_at, struct fsc_err *err)
{
	struct end_record end;
	struct entry e;

	if (!find_end(&end, tail, len))
		return fsc_err_set(err, FSC_ECORRUPT, "archive_truncated",
				   "archive: the zip ends without its directory");
	if (end.at < tail_at || end.at - tail_at > len)
		return fsc_err_set(err, FSC_ECORRUPT, "archive_corrupt",
				   "archive: the directory of the zip is not where it should be");
	size_t pos = (size_t)(end.at - tail_at);
	for (uint64_t i = 0; i < end.entries; i++, pos += e.bytes) {
		if (!read_entry(&e, tail + pos, len - pos))
			return fsc_err_set(err, FSC_ECORRUPT, "archive_corrupt",
					   "archive: entry %" PRIu64
					   " of the zip's directory is damaged",
					   i + 1);
		struct fsc_zip_member *found = member_at(m, n, e.at);
		const char *what = difference(&e, found);
		if (what)
			return fsc_err_set(err, FSC_ECORRUPT, "archive_corrupt",
					   "archive: member %" PRIu64
					   " of the zip's directory %s, at byte %" PRIu64,
					   i + 1, what, e.at);
		found->listed = true;
	}
	return FSC_OK;
}
