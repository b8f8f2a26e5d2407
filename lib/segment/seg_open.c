/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a segment: header, section table, checksums of all tables, then their contents (seg_check.c). The
 * file must be exactly as long as its header says, so that no access to the mapping can pass its end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crc.h"
#include "base/fs.h"
#include "segment/seg_internal.h"

static enum fsc_status corrupt(struct fsc_err *err, const char *code, const char *what)
{
	return fsc_err_set(err, FSC_ECORRUPT, code, "segment: %s", what);
}

static enum fsc_status read_header(struct fsc_seg *s, int fd, uint64_t size, struct fsc_err *err)
{
	uint8_t page[FSC_SEG_HEADER_BYTES];
	struct fsc_seg_d_header *h = &s->h;
	size_t got = 0;
	uint32_t crc;

	while (got < sizeof(page)) {
		ssize_t n = pread(fd, page + got, sizeof(page) - got, (off_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fsc_err_sys(err, errno, "segment: header");
		if (n == 0)
			return corrupt(err, "segment_truncated", "shorter than a header");
		got += (size_t)n;
	}
	memcpy(h, page, sizeof(*h));
	if (memcmp(h->magic, FSC_SEG_MAGIC, sizeof(h->magic)) != 0)
		return corrupt(err, "segment_magic", "not a segment file");
	crc = h->header_crc;
	memset(page + offsetof(struct fsc_seg_d_header, header_crc), 0, sizeof(crc));
	if (fsc_crc32c(0, page, sizeof(page)) != crc)
		return corrupt(err, "segment_header", "header checksum does not match");
	if (h->major != FSC_SEG_MAJOR || h->endian != FSC_SEG_ENDIAN)
		return fsc_err_set(err, FSC_EUNSUPPORTED, "segment_version",
				   "segment: version %u is not one this program reads", h->major);
	if (h->file_bytes != size)
		return corrupt(err, "segment_truncated", "file size is not what its header says");
	if (h->n_slices >= UINT32_MAX || h->n_rows == UINT32_MAX || h->n_strings == 0)
		return corrupt(err, "segment_header", "impossible counts");
	return FSC_OK;
}

/* How many elements a section must have, by the header; FREE_COUNT: any. */
#define FREE_COUNT UINT64_MAX
struct expected {
	uint32_t type, elem;
	uint64_t n;
	bool optional, lazy; /* lazy: its checksum is checked in parts, on first touch */
};

static enum fsc_status check_section(struct fsc_seg *s, const struct expected *e,
				     struct fsc_err *err)
{
	struct fsc_seg_part *p = &s->part[e->type];

	if (!p->present)
		return e->optional ? FSC_OK
				   : corrupt(err, "segment_section", "a section is missing");
	if (e->elem && p->elem != e->elem)
		return corrupt(err, "segment_section", "a section has elements of a wrong size");
	if (p->elem == 0 || p->bytes % p->elem ||
	    (e->n != FREE_COUNT && p->bytes / p->elem != e->n))
		return corrupt(err, "segment_section", "a section has a wrong size");
	if (!e->lazy && fsc_crc32c(0, p->p, p->bytes) != p->crc)
		return corrupt(err, "segment_checksum", "a table's checksum does not match");
	return FSC_OK;
}

static enum fsc_status check_sections(struct fsc_seg *s, struct fsc_err *err)
{
	const struct fsc_seg_d_header *h = &s->h;
	const struct expected table[] = {
		{ FSC_SEG_STRING_OFFSETS, 4, (uint64_t)h->n_strings + 1, false, false },
		{ FSC_SEG_STRING_BYTES, 1, FREE_COUNT, false, false },
		{ FSC_SEG_PROCESSES, sizeof(struct fsc_seg_d_process), h->n_processes, false,
		  false },
		{ FSC_SEG_TRACKS, sizeof(struct fsc_seg_d_track), h->n_tracks, false, false },
		{ FSC_SEG_ROWS, sizeof(struct fsc_seg_d_row), h->n_rows, false, false },
		{ FSC_SEG_BLOCKS, sizeof(struct fsc_seg_d_block), h->n_blocks, false, false },
		{ FSC_SEG_CLASSES, sizeof(struct fsc_seg_d_class), h->n_classes, false, false },
		{ FSC_SEG_COL_TS, 4, h->n_slices, false, true },
		{ FSC_SEG_COL_DUR, 4, h->n_slices, false, true },
		{ FSC_SEG_COL_CLASS, 4, h->n_slices, false, true },
		{ FSC_SEG_COL_CORRELATION, 4, h->n_slices, true, true },
		{ FSC_SEG_COL_ARGS, 4, h->n_slices, true, true },
		{ FSC_SEG_ESCAPES, sizeof(struct fsc_seg_d_escape), h->n_escapes, false, true },
		{ FSC_SEG_LOD, 1, h->lod_bytes, false, true },
		{ FSC_SEG_FLOWS, sizeof(struct fsc_flow), h->n_flows, false, false },
		{ FSC_SEG_FLOWS_BY_TO, 4, h->n_flows, false, false },
		{ FSC_SEG_COUNTERS, sizeof(struct fsc_counter_sample), h->n_counters, false,
		  false },
		{ FSC_SEG_LAUNCHES, sizeof(struct fsc_launch), h->n_launches, false, false },
		{ FSC_SEG_COLLECTIVES, sizeof(struct fsc_collective), h->n_collectives, false,
		  false },
		{ FSC_SEG_CORR_GPU, 0, FREE_COUNT, false, false },
		{ FSC_SEG_CORR_CALL, 0, FREE_COUNT, false, false },
		{ FSC_SEG_LOSSES, sizeof(struct fsc_loss), h->n_losses, false, false },
		{ FSC_SEG_ARGS_BLOCKS, sizeof(struct fsc_seg_d_args_block), h->n_args_blocks, false,
		  false },
		{ FSC_SEG_ARGS_DATA, 1, h->args_bytes, false, true },
		{ FSC_SEG_COVER, sizeof(struct fsc_seg_d_cover), h->n_covers, false, false },
		{ FSC_SEG_COVER_SUMS, 8, FREE_COUNT, false, false },
	};

	for (size_t i = 0; i < FSC_ARRAY_LEN(table); i++) {
		enum fsc_status st = check_section(s, &table[i], err);

		if (st != FSC_OK)
			return st;
	}
	return FSC_OK;
}

static enum fsc_status read_section_table(struct fsc_seg *s, struct fsc_err *err)
{
	const struct fsc_seg_d_header *h = &s->h;
	const struct fsc_seg_d_section *t = (const void *)(s->map + h->table_offset);

	if (h->n_sections > FSC_SEG_MAX_SECTIONS || h->table_offset % FSC_SEG_ALIGN ||
	    h->table_offset < FSC_SEG_HEADER_BYTES || h->table_offset > h->file_bytes ||
	    h->file_bytes - h->table_offset != h->n_sections * sizeof(*t))
		return corrupt(err, "segment_table", "section table is not at the end of the file");
	if (fsc_crc32c(0, t, h->n_sections * sizeof(*t)) != h->table_crc)
		return corrupt(err, "segment_checksum", "section table's checksum does not match");
	for (uint32_t i = 0; i < h->n_sections; i++) {
		struct fsc_seg_part *p;

		if (t[i].offset % FSC_SEG_ALIGN || t[i].offset < FSC_SEG_HEADER_BYTES ||
		    t[i].offset > h->table_offset ||
		    t[i].stored_bytes > h->table_offset - t[i].offset)
			return corrupt(err, "segment_table", "a section lies outside the file");
		if (t[i].type >= FSC_SEG_N_TYPES)
			continue; /* written by a later minor version */
		if (t[i].codec != 0 || t[i].raw_bytes != t[i].stored_bytes)
			return fsc_err_set(
				err, FSC_EUNSUPPORTED, "segment_codec",
				"segment: section %u is stored in a way this program does not read",
				t[i].type);
		p = &s->part[t[i].type];
		if (p->present)
			return corrupt(err, "segment_table", "a section is there twice");
		p->present = true;
		p->p = s->map + t[i].offset;
		p->bytes = t[i].stored_bytes;
		p->elem = t[i].elem_bytes;
		p->crc = t[i].crc;
	}
	return check_sections(s, err);
}

static void set_pointers(struct fsc_seg *s)
{
#define AT(type) ((const void *)s->part[type].p)
	s->str_off = AT(FSC_SEG_STRING_OFFSETS);
	s->str_bytes = AT(FSC_SEG_STRING_BYTES);
	s->processes = AT(FSC_SEG_PROCESSES);
	s->rows = AT(FSC_SEG_ROWS);
	s->blocks = AT(FSC_SEG_BLOCKS);
	s->classes = AT(FSC_SEG_CLASSES);
	s->dt = AT(FSC_SEG_COL_TS);
	s->dur = AT(FSC_SEG_COL_DUR);
	s->cls = AT(FSC_SEG_COL_CLASS);
	s->corr = AT(FSC_SEG_COL_CORRELATION);
	s->args = AT(FSC_SEG_COL_ARGS);
	s->escapes = AT(FSC_SEG_ESCAPES);
	s->flows = AT(FSC_SEG_FLOWS);
	s->flows_by_to = AT(FSC_SEG_FLOWS_BY_TO);
	s->counters = AT(FSC_SEG_COUNTERS);
	s->launches = AT(FSC_SEG_LAUNCHES);
	s->collectives = AT(FSC_SEG_COLLECTIVES);
	s->args_blocks = AT(FSC_SEG_ARGS_BLOCKS);
	s->covers = AT(FSC_SEG_COVER);
	s->cover_sums = AT(FSC_SEG_COVER_SUMS);
#undef AT
}

static void set_info(struct fsc_seg *s)
{
	const struct fsc_seg_d_header *h = &s->h;
	struct fsc_seg_info *i = &s->info;

	i->t_base_ns = h->t_base_ns;
	i->t_min_ns = h->t_min_ns;
	i->t_max_ns = h->t_max_ns;
	i->has_epoch = (h->flags & FSC_SEG_FLAG_EPOCH) != 0;
	i->rank = h->rank;
	i->world_size = h->world_size;
	i->n_slices = (uint32_t)h->n_slices;
	i->n_instants = h->n_instants;
	i->n_events = h->n_events;
	i->n_flows = h->n_flows;
	i->n_counters = h->n_counters;
	i->n_tracks = h->n_tracks;
	i->n_rows = h->n_rows;
	i->n_processes = h->n_processes;
	i->n_strings = h->n_strings;
	i->n_launches = h->n_launches;
	i->n_collectives = h->n_collectives;
	i->n_args = h->n_args;
	i->file_bytes = h->file_bytes;
	i->format = h->format;
	i->job = h->job;
	i->host = h->host;
	i->capture = h->capture;
	i->name = h->name;
	i->meta_json = h->meta_json;
	memcpy(i->blob_sha256, h->blob_sha256, sizeof(i->blob_sha256));
}

static int by_ordinal(const void *pa, const void *pb)
{
	int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;

	return a < b ? -1 : a > b;
}

/* Sorted, not looked up: a file may claim as many devices as tracks. */
static enum fsc_status count_devices(struct fsc_seg *s, struct fsc_err *err)
{
	int32_t *dev = fsc_alloc((size_t)s->h.n_tracks + 1, sizeof(*dev));
	uint32_t n = 0;

	if (!dev)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory to open it");
	for (uint32_t i = 0; i < s->h.n_tracks; i++)
		if (s->tracks[i].kind == FSC_TRACK_STREAM)
			dev[n++] = s->tracks[i].device;
	qsort(dev, n, sizeof(*dev), by_ordinal);
	for (uint32_t i = 0; i < n; i++)
		s->info.n_devices += !i || dev[i] != dev[i - 1];
	fsc_free(dev);
	return FSC_OK;
}

static enum fsc_status open_mapped(struct fsc_seg *s, int fd, struct fsc_err *err)
{
	struct stat sb;
	enum fsc_status st;
	void *map;

	if (fsc_fs_fstat(fd, &sb))
		return fsc_err_sys(err, errno, "segment");
	if (!S_ISREG(sb.st_mode))
		return fsc_err_set(err, FSC_EINVAL, NULL, "segment: no regular file");
	st = read_header(s, fd, (uint64_t)sb.st_size, err);
	if (st != FSC_OK)
		return st;
	map = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return fsc_err_sys(err, errno, "segment: map");
	s->map = map;
	s->map_bytes = (size_t)sb.st_size;
	st = read_section_table(s, err);
	if (st != FSC_OK)
		return st;
	set_pointers(s);
	s->block_ok = fsc_alloc((size_t)s->h.n_blocks + 1, 1);
	s->row_ok = fsc_alloc((size_t)s->h.n_rows + 1, 1);
	s->args_ok = fsc_alloc((size_t)s->h.n_args_blocks + 1, 1);
	s->tracks = fsc_alloc((size_t)s->h.n_tracks + 1, sizeof(*s->tracks));
	if (!s->block_ok || !s->row_ok || !s->args_ok || !s->tracks)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory to open it");
	set_info(s);
	st = fsc_seg_check_tables(s, err);
	return st == FSC_OK ? count_devices(s, err) : st;
}

enum fsc_status fsc_seg_open(struct fsc_seg **out, int fd, struct fsc_err *err)
{
	struct fsc_seg *s = fsc_alloc(1, sizeof(*s));
	enum fsc_status st;

	*out = NULL;
	if (!s)
		return fsc_err_set(err, FSC_ENOMEM, NULL, "segment: no memory to open it");
	atomic_init(&s->refs, 1);
	st = open_mapped(s, fd, err);
	if (st == FSC_OK)
		*out = s;
	else
		fsc_seg_unref(s);
	return st;
}

struct fsc_seg *fsc_seg_ref(struct fsc_seg *s)
{
	if (s->whole)
		return fsc_seg_ref(s->whole);
	atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

void fsc_seg_unref(struct fsc_seg *s)
{
	if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (s->whole) {
		fsc_seg_view_free(s);
		return;
	}
	if (s->map)
		munmap((void *)(uintptr_t)s->map, s->map_bytes);
	fsc_free((void *)s->block_ok);
	fsc_free((void *)s->row_ok);
	fsc_free((void *)s->args_ok);
	fsc_free(s->tracks);
	fsc_free(s);
}

const struct fsc_seg_info *fsc_seg_info(const struct fsc_seg *s)
{
	return &s->info;
}

const struct fsc_losses *fsc_seg_losses(const struct fsc_seg *s)
{
	return &s->losses;
}

const struct fsc_seg_track *fsc_seg_track(const struct fsc_seg *s, uint32_t track)
{
	return &s->tracks[track];
}

const struct fsc_seg_process *fsc_seg_process(const struct fsc_seg *s, uint32_t process)
{
	return &s->processes[process];
}

const char *fsc_seg_str(const struct fsc_seg *s, uint32_t id, size_t *n)
{
	if (n)
		*n = (size_t)(s->str_off[id + 1] - s->str_off[id]) - 1;
	return s->str_bytes + s->str_off[id];
}

uint32_t fsc_seg_row_slices(const struct fsc_seg *s, uint32_t row, uint32_t *first)
{
	*first = s->rows[row].first_slice;
	return s->rows[row].n;
}
