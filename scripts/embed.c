/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build tool: writes files as one C table (base/embed.h) to standard output.
 *   embed TABLE [PATH...]
 * A PATH that is a folder gives every regular file below it, named relative to it; a PATH that is a file
 * is named by its last component. Names starting with a dot are left out. Sorted by name.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct item {
	char *name;
	char *path;
	size_t size;
};

static struct item *items;
static size_t n_items;

static void die(const char *what, const char *path)
{
	fprintf(stderr, "embed: %s: %s: %s\n", what, path, strerror(errno));
	exit(1);
}

static char *join(const char *a, const char *b)
{
	size_t n = strlen(a) + strlen(b) + 2;
	char *s = malloc(n);

	if (!s)
		die("memory", b);
	snprintf(s, n, "%s%s%s", a, a[0] ? "/" : "", b);
	return s;
}

static void add(char *name, char *path)
{
	items = realloc(items, (n_items + 1) * sizeof(*items));
	if (!items)
		die("memory", path);
	items[n_items++] = (struct item){ .name = name, .path = path };
}

static void walk(const char *dir, const char *prefix)
{
	DIR *d = opendir(dir);

	if (!d)
		die("open", dir);
	for (struct dirent *e = readdir(d); e; e = readdir(d)) {
		struct stat st;

		if (e->d_name[0] == '.')
			continue;
		char *path = join(dir, e->d_name);
		char *name = join(prefix, e->d_name);
		if (stat(path, &st))
			die("stat", path);
		if (S_ISDIR(st.st_mode)) {
			walk(path, name);
			free(path);
			free(name);
		} else {
			add(name, path);
		}
	}
	closedir(d);
}

static void collect(const char *arg)
{
	const char *base = strrchr(arg, '/');
	struct stat st;

	if (stat(arg, &st))
		die("stat", arg);
	if (S_ISDIR(st.st_mode))
		walk(arg, "");
	else
		add(join("", base ? base + 1 : arg), join("", arg));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->name, ((const struct item *)b)->name);
}

/* Octal escapes of fixed length never run into the next character; one string piece per line. */
static void emit_bytes(struct item *it, size_t idx)
{
	FILE *f = fopen(it->path, "rb");
	size_t col = 0;

	if (!f)
		die("open", it->path);
	printf("static const char data_%zu[] =\n\t\"", idx);
	for (int c = getc(f); c != EOF; c = getc(f)) {
		if (col >= 90) {
			fputs("\"\n\t\"", stdout);
			col = 0;
		}
		if (c == '"' || c == '\\')
			col += (size_t)printf("\\%c", c);
		else if (c >= ' ' && c < 127 && c != '?')
			col += putchar(c) != EOF;
		else
			col += (size_t)printf("\\%03o", (unsigned)c);
		it->size++;
	}
	fputs("\";\n", stdout);
	if (ferror(f))
		die("read", it->path);
	fclose(f);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: embed TABLE [PATH...]\n", stderr);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		collect(argv[i]);
	if (n_items)
		qsort(items, n_items, sizeof(*items), by_name);
	puts("/* Written by scripts/embed.c. */\n#include \"base/embed.h\"\n");
	for (size_t i = 0; i < n_items; i++)
		emit_bytes(&items[i], i);
	puts("static const struct fsc_embed items[] = {");
	for (size_t i = 0; i < n_items; i++)
		printf("\t{ \"%s\", (const unsigned char *)data_%zu, %zu },\n", items[i].name, i,
		       items[i].size);
	printf("\t{ 0, 0, 0 }\n};\nconst struct fsc_embed_table %s = { items, %zu };\n", argv[1],
	       n_items);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
