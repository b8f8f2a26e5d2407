/* SPDX-License-Identifier: Apache-2.0 */
/* String scans of the JSON tokenizer: one contract, three widths, chosen by the CPU at run time. */
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "formats/json_tok.h"

static bool special(unsigned char c)
{
	return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
}

/* Eight bytes at a time: the exact bits do not matter, only whether there is one. */
static const char *scan_scalar(const char *p)
{
	const uint64_t ones = 0x0101010101010101ULL, high = 0x8080808080808080ULL;
	for (;; p += 8) {
		uint64_t v, q, e;
		memcpy(&v, p, 8);
		q = v ^ (ones * '"');
		e = v ^ (ones * '\\');
		if (((v - ones * 0x20) | (q - ones) | (e - ones) | v) & high)
			break;
	}
	/* A borrow starts at a special byte only, so there is one among these eight. */
	while (!special((unsigned char)*p))
		p++;
	return p;
}

#if defined(__x86_64__)
static const char *scan_sse2(const char *p)
{
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'),
		      low = _mm_set1_epi8(0x20);
	for (;; p += 16) {
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)p);
		unsigned m = (unsigned)_mm_movemask_epi8(
			_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(b, quote),
						  _mm_cmpeq_epi8(b, slash)),
				     _mm_cmplt_epi8(b, low)));
		if (m)
			return p + __builtin_ctz(m);
	}
}

fsc_target("avx2") static const char *scan_avx2(const char *p)
{
	const __m256i quote = _mm256_set1_epi8('"'), slash = _mm256_set1_epi8('\\'),
		      low = _mm256_set1_epi8(0x20);
	for (;; p += 32) {
		__m256i b = _mm256_loadu_si256((const __m256i *)(const void *)p);
		unsigned m = (unsigned)_mm256_movemask_epi8(
			_mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(b, quote),
							_mm256_cmpeq_epi8(b, slash)),
					_mm256_cmpgt_epi8(low, b)));
		if (m)
			return p + __builtin_ctz(m);
	}
}
#endif

fsc_jt_scan_fn fsc_jt_scan_of(const char *name)
{
	if (!strcmp(name, "scalar"))
		return scan_scalar;
#if defined(__x86_64__)
	if (!strcmp(name, "sse2"))
		return scan_sse2;
	if (!strcmp(name, "avx2") && __builtin_cpu_supports("avx2"))
		return scan_avx2;
#endif
	return NULL;
}

fsc_jt_scan_fn fsc_jt_scan_pick(void)
{
	fsc_jt_scan_fn fn = fsc_jt_scan_of("avx2");
	if (!fn)
		fn = fsc_jt_scan_of("sse2");
	return fn ? fn : scan_scalar;
}

/* ---- line ends ---- */

static uint64_t line_ends_scalar(const char *p, const char *end)
{
	uint64_t n = 0;
	for (; p < end; p++)
		n += *p == '\n';
	return n;
}

#if defined(__x86_64__)
/* Whole blocks of 128 bytes: their line ends are counted per byte of a vector, 60 rounds before one is full. */
fsc_target("avx2") static uint64_t line_ends_avx2(const char *p, const char *end)
{
	const __m256i nl = _mm256_set1_epi8('\n'), none = _mm256_setzero_si256();
	__m256i sum = none;
	while (end - p >= 128) {
		const char *stop = p + ((end - p) / 128 < 60 ? (end - p) / 128 * 128 : 60 * 128);
		__m256i a = none, b = none;
		for (; p < stop; p += 128) {
			const __m256i *v = (const __m256i *)(const void *)p;
			a = _mm256_sub_epi8(a, _mm256_cmpeq_epi8(_mm256_loadu_si256(v), nl));
			b = _mm256_sub_epi8(b, _mm256_cmpeq_epi8(_mm256_loadu_si256(v + 1), nl));
			a = _mm256_sub_epi8(a, _mm256_cmpeq_epi8(_mm256_loadu_si256(v + 2), nl));
			b = _mm256_sub_epi8(b, _mm256_cmpeq_epi8(_mm256_loadu_si256(v + 3), nl));
		}
		sum = _mm256_add_epi64(sum, _mm256_sad_epu8(a, none));
		sum = _mm256_add_epi64(sum, _mm256_sad_epu8(b, none));
	}
	uint64_t part[4];
	_mm256_storeu_si256((__m256i *)(void *)part, sum);
	return part[0] + part[1] + part[2] + part[3] + line_ends_scalar(p, end);
}
#endif

uint64_t fsc_jt_line_ends(const char *p, const char *end)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return line_ends_avx2(p, end);
#endif
	return line_ends_scalar(p, end);
}
