/* SPDX-License-Identifier: Apache-2.0 */
/* Folder walk of `push`; see the header. */
#include "collector/cli/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Deeper folders are refused rather than followed for ever. */
#define MAX_FOLDER_DEPTH 32

static const char *const known_suffixes[] = {
	".json",    ".json.gz", ".json.zst", ".tar",   ".tar.gz", ".tgz",
	".tar.zst", ".zip",	".pftrace",  ".pb.gz", ".folded",
};

const char *fsc_cli_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_known(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < FSC_ARRAY_LEN(known_suffixes); i++) {
		size_t k = strlen(known_suffixes[i]);

		if (n > k && !strcasecmp(name + n - k, known_suffixes[i]))
			return true;
	}
	return false;
}

static enum fsc_status push_path(struct fsc_cli_files *f, char *path, struct fsc_err *err)
{
	if (fsc_vec_push(&f->v, path))
		return FSC_OK;
	fsc_free(path);
	return fsc_err_set(err, FSC_ENOMEM, NULL, "no memory for the list of files");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static enum fsc_status add_folder(struct fsc_cli_files *f, const char *path, bool recursive,
				  int depth, struct fsc_err *err);

static enum fsc_status add_entry(struct fsc_cli_files *f, char *path, bool recursive, int depth,
				 struct fsc_err *err)
{
	struct stat sb;
	enum fsc_status st = FSC_OK;

	if (lstat(path, &sb))
		st = fsc_err_sys(err, errno, "%s", path);
	else if (S_ISREG(sb.st_mode) && is_known(fsc_cli_base_name(path)))
		return push_path(f, path, err);
	else if (S_ISDIR(sb.st_mode) && recursive)
		st = add_folder(f, path, true, depth + 1, err);
	else if (S_ISREG(sb.st_mode))
		f->skipped++;
	fsc_free(path);
	return st;
}

static bool ends_with_slash(const char *path)
{
	size_t n = strlen(path);

	return n && path[n - 1] == '/';
}

static enum fsc_status add_folder(struct fsc_cli_files *f, const char *path, bool recursive,
				  int depth, struct fsc_err *err)
{
	struct dirent **names;
	enum fsc_status st = FSC_OK;
	int n;

	if (depth > MAX_FOLDER_DEPTH)
		return fsc_err_set(err, FSC_ELIMIT, NULL, "%s: folders are nested deeper than %d",
				   path, MAX_FOLDER_DEPTH);
	n = scandir(path, &names, visible, by_name);
	if (n < 0)
		return fsc_err_sys(err, errno, "%s", path);
	for (int i = 0; i < n; i++) {
		if (!st)
			st = add_entry(f,
				       fsc_xasprintf("%s%s%s", path,
						     ends_with_slash(path) ? "" : "/",
						     names[i]->d_name),
				       recursive, depth, err);
		/* scandir allocates with malloc, which our allocator is */
		fsc_free(names[i]);
	}
	fsc_free(names);
	return st;
}

enum fsc_status fsc_cli_files_add(struct fsc_cli_files *f, const char *path, bool recursive,
				  struct fsc_err *err)
{
	struct stat sb;

	if (stat(path, &sb))
		return fsc_err_sys(err, errno, "%s", path);
	if (S_ISREG(sb.st_mode))
		return push_path(f, fsc_xstrdup(path), err);
	if (S_ISDIR(sb.st_mode))
		return add_folder(f, path, recursive, 0, err);
	return fsc_err_set(err, FSC_EINVAL, NULL, "%s: neither a file nor a folder", path);
}

void fsc_cli_files_fini(struct fsc_cli_files *f)
{
	for (size_t i = 0; i < f->v.n; i++)
		fsc_free(f->v.v[i]);
	fsc_vec_fini(&f->v);
}
