/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Past an event that is no JSON (PyTorch wrote quotes into names without escaping them): finds the next object
 * that follows a closed one and reads as an event. Such events are counted as "event_unreadable". When none
 * follows the fault stands, so that other text is not taken for a trace.
 */
#include "formats/chrome_int.h"

#define MAX_UNREADABLE 10000u
#define MAX_WASTED \
	(64 * FSC_MIB) /* bytes looked at in vain, per file: bounds what a made file can cost */

/* `} , { "` from p on: the brace that opens; NULL when the window holds none. */
static const char *candidate(const char *p, const char *end)
{
	for (; (p = memchr(p, '}', (size_t)(end - p))) != NULL; p++) {
		const char *q = fsc_jt_ws(p + 1);
		if (*q != ',')
			continue;
		q = fsc_jt_ws(q + 1);
		if (*q == '{' && *fsc_jt_ws(q + 1) == '"')
			return q;
	}
	return NULL;
}

#define EVENT_KEYS \
	(1u << F_PH | 1u << F_TS | 1u << F_PID | 1u << F_TID | 1u << F_NAME | 1u << F_CAT)

/* Is the object at *p an event? FSC_OK yes, FSC_END no. One that begins as an event and is broken, too, counts. */
static enum fsc_status is_event(struct chrome *c, const char **p)
{
	for (;;) {
		const char *q = fsc_chrome_scan_event(c, *p);
		if (q)
			return c->in_samples || c->have >> F_PH & 1 ? FSC_OK : FSC_END;
		c->wasted += (uint64_t)(c->t.fail_at - *p);
		if (c->t.fail != FSC_JT_MORE) {
			c->broken += (c->have & EVENT_KEYS) != 0;
			return FSC_END;
		}
		enum fsc_status st = fsc_chrome_fill(c, p);
		if (st != FSC_OK)
			return st;
	}
}

enum fsc_status fsc_chrome_resync(struct chrome *c, const char **p)
{
	struct fsc_jt_count *k = &c->unreadable;
	uint64_t at = fsc_jt_offset(&c->t, *p);
	enum fsc_status st = FSC_END;
	c->broken = 1;
	++*p;
	while (k->n < MAX_UNREADABLE && c->wasted < MAX_WASTED) {
		const char *q = candidate(*p, c->t.end);
		if (q) {
			*p = q;
			st = is_event(c, p);
			if (st != FSC_END)
				break;
			++*p;
			continue;
		}
		/* The brace that closes may be the last thing in the window: keep some of it. */
		size_t left = (size_t)(c->t.end - *p), keep = left < 4096 ? left : 4096;
		c->wasted += left - keep;
		*p = c->t.end - keep;
		st = fsc_chrome_fill(c, p);
		if (st != FSC_OK)
			break;
	}
	fsc_chrome_undo(c);
	if (st == FSC_OK)
		fsc_jt_note_at(&c->t, k, c->broken, at);
	return st == FSC_OK || st == FSC_END ? st : FSC_END;
}
