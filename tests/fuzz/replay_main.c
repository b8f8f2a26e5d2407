/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer: every file of tests/fuzz/corpus/<name>, and every prefix of the
 * small ones (truncation at each byte). Inputs are copied into allocations of their exact size, so that
 * AddressSanitizer sees a read past the end. TAP on standard output, one test per file.
 *   replay_<name> [FILE|DIR...]     default: $FSC_SRC/tests/fuzz/corpus/<name>
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

#define EVERY_PREFIX_BELOW 8192
#define PREFIX_SAMPLES 256
#define MAX_FILE_BYTES (64u << 20)

static unsigned n_tests;

static void run_bytes(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	/* With no bytes the one-byte allocation must not be touched either. */
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0;

	n_tests++;
	if (!f || fseek(f, 0, SEEK_END) || ftell(f) < 0 || (size_t)ftell(f) > MAX_FILE_BYTES) {
		printf("not ok %u - %s cannot be read\n", n_tests, path);
		if (f)
			fclose(f);
		return;
	}
	size = (size_t)ftell(f);
	rewind(f);
	data = malloc(size + 1);
	if (!data || fread(data, 1, size, f) != size)
		abort();
	fclose(f);
	size_t step = size <= EVERY_PREFIX_BELOW ? 1 : size / PREFIX_SAMPLES;
	for (size_t n = 0; n < size; n += step)
		run_bytes(data, n);
	run_bytes(data, size);
	free(data);
	const char *base = strrchr(path, '/');
	printf("ok %u - %s survives whole and cut short\n", n_tests, base ? base + 1 : path);
	fflush(stdout);
}

static void run_path(const char *path)
{
	struct stat st;
	DIR *d;

	if (stat(path, &st)) {
		printf("not ok %u - %s: %m\n", ++n_tests, path);
		return;
	}
	if (!S_ISDIR(st.st_mode)) {
		run_file(path);
		return;
	}
	d = opendir(path);
	for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
		char sub[4096];

		if (e->d_name[0] == '.')
			continue;
		snprintf(sub, sizeof(sub), "%s/%s", path, e->d_name);
		run_path(sub);
	}
	if (d)
		closedir(d);
}

int main(int argc, char **argv)
{
	const char *src = getenv("FSC_SRC");
	const char *name = strstr(argv[0], "replay_");
	char dir[4096];

	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	if (argc == 1) {
		snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/%s", src ? src : ".",
			 name ? name + strlen("replay_") : "");
		run_path(dir);
	}
	printf("1..%u\n", n_tests);
	return 0;
}
