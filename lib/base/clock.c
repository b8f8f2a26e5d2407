/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, and civil time without the C library's shared state. */
#include "base/clock.h"

#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;
	if (clock_gettime(id, &ts) != 0)
		return 0;
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t fsc_clock_real_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t fsc_clock_mono_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t fsc_clock_cpu_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/*
 * Days since 1970-01-01 to year, month, day in the proleptic Gregorian calendar. The year starts in
 * March, so that the leap day comes last; eras are of 400 years (146097 days). All of int64 ns fits.
 */
static void civil_of_days(int64_t days, int *year, int *month, int *day)
{
	int64_t z = days + 719468; /* days from 0000-03-01 to 1970-01-01 */
	int64_t era = floor_div(z, 146097);
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;
	*day = (int)(doy - (153 * mp + 2) / 5 + 1);
	*month = (int)(mp < 10 ? mp + 3 : mp - 9);
	*year = (int)(yoe + era * 400 + (*month <= 2));
}

/* v in `width` digits, then the separator. */
static char *put_digits(char *dst, int64_t v, int width, char sep)
{
	for (int i = width - 1; i >= 0; i--) {
		dst[i] = (char)('0' + v % 10);
		v /= 10;
	}
	dst[width] = sep;
	return dst + width + 1;
}

void fsc_clock_iso8601(char dst[32], int64_t real_ns)
{
	int64_t ms = floor_div(real_ns, 1000000);
	int64_t days = floor_div(ms, 86400000);
	int64_t in_day = ms - days * 86400000;
	int year, month, day;
	civil_of_days(days, &year, &month, &day);
	char *p = put_digits(dst, year, 4, '-');
	p = put_digits(p, month, 2, '-');
	p = put_digits(p, day, 2, 'T');
	p = put_digits(p, in_day / 3600000, 2, ':');
	p = put_digits(p, in_day / 60000 % 60, 2, ':');
	p = put_digits(p, in_day / 1000 % 60, 2, '.');
	p = put_digits(p, in_day % 1000, 3, 'Z');
	*p = '\0';
}
