/* SPDX-License-Identifier: Apache-2.0 */
/* What the path of a file says about its rank, host and capture. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "indexer/identity.h"

/* Ranks of the largest jobs have six digits; longer numbers are times, dates and ids. */
#define MAX_RANK_DIGITS 6

/* The number at p, -1 when there is none or it is no rank. */
static int64_t number_at(const char *p)
{
	size_t n = strspn(p, "0123456789");
	int64_t v = -1;

	if (!n || n > MAX_RANK_DIGITS || !fsc_parse_i64(&v, p, n))
		return -1;
	return v;
}

static int64_t after_word(const char *name, const char *word)
{
	for (const char *p = strcasestr(name, word); p; p = strcasestr(p + 1, word)) {
		const char *num = p + strlen(word);
		/* "ranking" and "crank7" are other words */
		bool whole = p == name || !strchr("abcdefghijklmnopqrstuvwxyz", p[-1] | 0x20);

		num += *num && strchr("-_ .=", *num) ? 1 : 0;
		int64_t v = whole ? number_at(num) : -1;
		if (v >= 0)
			return v;
	}
	return -1;
}

/* "…_7.json": a number between the last such underscore and a dot that no digit follows. */
static int64_t before_dot(const char *name)
{
	int64_t found = -1;

	for (const char *p = strchr(name, '_'); p; p = strchr(p + 1, '_')) {
		size_t n = strspn(p + 1, "0123456789");

		if (n && p[1 + n] == '.' && (p[2 + n] < '0' || p[2 + n] > '9'))
			found = number_at(p + 1);
	}
	return found;
}

/* "…-TP-7…" of SGLang: the rank, unless other kinds of parallelism are named too. */
static int64_t tensor_parallel(const char *name)
{
	static const char *const others[] = { "-DP-", "-PP-", "-EP-", NULL };
	const char *p = strstr(name, "-TP-");

	for (const char *const *o = others; *o; o++)
		if (strstr(name, *o))
			return -1;
	return p ? number_at(p + 4) : -1;
}

/* A folder whose whole name is "rank_7" or "worker7". */
static int64_t rank_of_folders(const char *path, const char *base)
{
	static const char *const words[] = { "rank", "worker", NULL };

	for (const char *end = base; end > path;) {
		const char *p = end - 1; /* the slash behind the folder */
		while (p > path && p[-1] != '/')
			p--;
		for (const char *const *w = words; *w; w++) {
			const char *num = p + strlen(*w);
			if (end - 1 < num || strncasecmp(p, *w, strlen(*w)))
				continue;
			num += num < end - 1 && strchr("-_ .=", *num) ? 1 : 0;
			if (num < end - 1 && strspn(num, "0123456789") == (size_t)(end - 1 - num))
				return number_at(num);
		}
		end = p;
	}
	return -1;
}

static bool ends(const char *s, size_t n, const char *suffix)
{
	size_t k = strlen(suffix);

	return n >= k && !memcmp(s + n - k, suffix, k);
}

/* Length without the first of these endings that is there; 0 when none is. */
static size_t without_ending(const char *s, const char *const *endings)
{
	size_t n = strlen(s);

	for (; *endings; endings++)
		if (ends(s, n, *endings))
			return n - strlen(*endings);
	return 0;
}

static bool host_letters(const char *s, size_t n)
{
	bool all = n > 0 && n < 254;

	for (size_t i = 0; all && i < n; i++)
		all = (s[i] >= '0' && s[i] <= '9') || (s[i] >= 'a' && s[i] <= 'z') ||
		      (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '-' || s[i] == '.';
	return all && s[0] != '-' && s[0] != '.';
}

static void put(char dst[256], const char *s, size_t n)
{
	snprintf(dst, 256, "%.*s", (int)n, s);
}

/* "plugins/profile/RUN/HOST.ending" */
static bool tensorboard_folder(struct fsc_identity_name *out, const char *path, const char *base)
{
	static const char place[] = "plugins/profile/";
	static const char *const endings[] = { ".xplane.pb", ".xplane.pb.gz", ".trace.json.gz",
					       ".trace.json", NULL };
	const char *p = strstr(path, place);
	const char *run = p ? p + sizeof(place) - 1 : NULL;

	if (!p || (p > path && p[-1] != '/') || run >= base || base - run > 250 ||
	    memchr(run, '/', (size_t)(base - 1 - run)))
		return false;
	put(out->capture, run, (size_t)(base - 1 - run));
	size_t n = without_ending(base, endings);
	if (host_letters(base, n))
		put(out->host, base, n);
	return true;
}

/* "HOST_PID.TIME.pt.trace.json", with or without compression. */
static bool tensorboard_handler(struct fsc_identity_name *out, const char *base)
{
	static const char *const endings[] = { ".pt.trace.json", ".pt.trace.json.gz",
					       ".pt.trace.json.zst", NULL };
	size_t n = without_ending(base, endings), k = n;

	while (k > 0 && base[k - 1] >= '0' && base[k - 1] <= '9')
		k--;
	if (k < n && k > 0 && base[k - 1] == '.')
		n = k - 1;
	for (k = n; k > 0 && base[k - 1] >= '0' && base[k - 1] <= '9'; k--)
		;
	if (k == n || k < 2 || base[k - 1] != '_' || !host_letters(base, k - 1))
		return false;
	if (strncasecmp(base, "rank", 4) == 0 || strncasecmp(base, "worker", 6) == 0)
		return false;
	put(out->host, base, k - 1);
	return true;
}

/* "HOST_rank7…": something with a digit that hosts are called and files are not. */
static void before_rank(struct fsc_identity_name *out, const char *base)
{
	const char *end = strcasestr(base, "_rank");
	size_t n = end ? (size_t)(end - base) : 0;
	bool digit = false;

	for (size_t i = 0; i < n; i++)
		digit |= base[i] >= '0' && base[i] <= '9';
	if (!digit || !host_letters(base, n))
		return;
	if (memchr(base, '.', n) || strncasecmp(base, "node", 4) == 0 ||
	    strncasecmp(base, "host", 4) == 0 || strncasecmp(base, "gpu-", 4) == 0 ||
	    strncasecmp(base, "ip-", 3) == 0)
		put(out->host, base, n);
}

void fsc_identity_of_name(struct fsc_identity_name *out, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *base = slash ? slash + 1 : path;

	*out = (struct fsc_identity_name){ .rank = -1 };
	if (!base)
		return;
	out->rank = after_word(base, "rank");
	if (out->rank < 0)
		out->rank = after_word(base, "worker");
	if (out->rank < 0)
		out->rank = rank_of_folders(path, base);
	if (out->rank < 0) {
		out->rank = tensor_parallel(base);
		if (out->rank < 0)
			out->rank = before_dot(base);
		out->rank_weak = out->rank >= 0;
	}
	if (!tensorboard_folder(out, path, base) && !tensorboard_handler(out, base))
		before_rank(out, base);
}
