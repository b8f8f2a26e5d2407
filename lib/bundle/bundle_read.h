/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks one upload: a tar or zip archive (itself maybe compressed), or a single file, which is a bundle of
 * one member. Nothing is ever written: names are data, only regular files are read, all decompression of
 * tar is ours (base/source.h), libarchive does the framing (and inflates the members of a zip).
 *
 * What is no readable member is not fatal: it is reported in a list with a code
 *   member_symlink member_hardlink member_device member_traversal member_absolute member_duplicate
 *   member_name_too_long member_bad_name member_os_metadata member_encrypted member_compression
 *   member_missing manifest_not_first
 *   archive_trailing_data (behind the end of a tar, under the name of the archive)
 *   archive_not_listed (a zip holds more members than its directory lists)
 * Names that are no UTF-8 are made visible (bundle/member_text.h). libarchive converts names to the characters of
 * the locale: LC_CTYPE must be one of UTF-8.
 * The manifest, when it is the first file, is taken by the bundle itself; members it gives a sha256 for are
 * hashed while they are read, and a wrong one fails at its end with FSC_ECORRUPT "digest_mismatch".
 *
 * A zip must be whole to the directory at its end, which must list what was read: bundle/zip_directory.h.
 *
 * Limits: FSC_MAX_ARCHIVE_ENTRIES ("too_many_entries"), FSC_MAX_ARCHIVE_BYTES ("archive_too_big"),
 * FSC_MAX_ENTRY_BYTES ("member_too_big"), FSC_MAX_RATIO ("bomb"); the ratio and the sum also hold for everything
 * that is decompressed of the upload together, members that are compressed again included. Owner thread.
 *
 *   fsc_bundle_open(&b, src, "upload.tar.gz", &err)
 *   while (fsc_bundle_next(b, &m, &err) == FSC_OK) read fsc_bundle_member_source(b) to its end
 *   fsc_bundle_skipped(b, &n)
 */
#ifndef FSC_BUNDLE_BUNDLE_READ_H
#define FSC_BUNDLE_BUNDLE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/source.h"
#include "bundle/manifest.h"

struct fsc_bundle;

struct fsc_member {
	const char *path; /* as in the archive, valid UTF-8, "./" removed; borrowed until next */
	bool renamed;	  /* its name is not in the archive in this form */
	int64_t size;	  /* -1 unknown */
	const struct fsc_manifest_file
		*file; /* its manifest entry, or NULL; borrowed from the bundle */
};

struct fsc_skipped {
	const char *path; /* borrowed from the bundle */
	const char *code; /* static */
};

/* Takes src, also on failure. name is what a single file is called. Expected errors: those of src, FSC_ECORRUPT
 * "archive_corrupt" / "archive_truncated", FSC_EPARSE "manifest_invalid", FSC_EUNSUPPORTED "manifest_version". */
fsc_nodiscard enum fsc_status fsc_bundle_open(struct fsc_bundle **out, struct fsc_source *src,
					      const char *name, struct fsc_err *err);
void fsc_bundle_close(struct fsc_bundle *b); /* NULL is fine */
/* The next regular file. FSC_END after the last, when the archive was whole to its end. An error is final.
 * Bytes of the member before that were not read are passed over (and its digest is then not checked). */
fsc_nodiscard enum fsc_status fsc_bundle_next(struct fsc_bundle *b, struct fsc_member *m,
					      struct fsc_err *err);
/* Bytes of the current member, valid until next. Borrowed: wrap it with fsc_bundle_member_auto() to hand it on. */
struct fsc_source *fsc_bundle_member_source(struct fsc_bundle *b);
/* A source of the current member's decompressed bytes that the caller frees before next. */
struct fsc_source *fsc_bundle_member_auto(struct fsc_bundle *b);
bool fsc_bundle_is_archive(const struct fsc_bundle *b);
/* NULL when there is none. Borrowed. */
const struct fsc_manifest *fsc_bundle_manifest(const struct fsc_bundle *b);
const char *fsc_bundle_manifest_json(const struct fsc_bundle *b, size_t *n);
/* Everything passed over so far, in order. Borrowed until next. */
const struct fsc_skipped *fsc_bundle_skipped(const struct fsc_bundle *b, size_t *n);

#endif
