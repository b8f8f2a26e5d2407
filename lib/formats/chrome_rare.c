/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys beside args that say more about a slice: thread times (tts, tdur), call stacks written out (stack, estack) and
 * what a sample weighs. They become members of the slice's args. Stacks given by a number (sf, esf) wait
 * for the frames, which stand behind the events: chrome_stack.c.
 */
#include "base/json_scan.h"
#include "base/num.h"
#include "formats/chrome_int.h"

/* What a member takes besides its key and value: quotes, colon, comma, brace. */
#define AROUND 8u

static bool has(const struct chrome *c, enum chrome_field f)
{
	return c->have >> f & 1;
}

static void note_if(struct chrome *c, struct fsc_jt_count *k, bool it_is_so)
{
	if (it_is_so)
		fsc_chrome_note(c, k);
}

/* Appends "key":json to the args; json may lie behind them in the same buffer. */
static void add_member(struct chrome *c, const char *key, const char *json, size_t n)
{
	struct fsc_json_member m;
	size_t k = strlen(key), at = c->args_n ? c->args_n - 1 : 1;
	if (c->args_n && fsc_json_find(&m, c->args, c->args_n, key)) {
		fsc_chrome_note(c, &c->n.extra_keys); /* the args have one of their own */
		return;
	}
	if (at + k + n + AROUND > FSC_MAX_ARGS_BYTES) {
		fsc_chrome_note(c, &c->args_too_big);
		return;
	}
	char *w = c->args + at;
	size_t head = (at > 1) + k + 3;
	memmove(w + head, json, n);
	c->args[0] = '{';
	if (at > 1)
		*w++ = ',';
	*w++ = '"';
	memcpy(w, key, k);
	w += k;
	*w++ = '"';
	*w++ = ':';
	w += n;
	*w++ = '}';
	c->args_n = (size_t)(w - c->args);
}

static void add_time(struct chrome *c, enum chrome_field f, const char *key)
{
	char text[24];
	int64_t ns;
	if (!has(c, f))
		return;
	if (fsc_chrome_time_ns(c, &ns, &c->f[f]))
		add_member(c, key, text, fsc_fmt_i64(text, ns));
	else
		fsc_chrome_note(c, &c->n.thread_times);
}

/* The value once more from the window, now as a canonical copy behind the args. */
static void add_value(struct chrome *c, enum chrome_field f, const char *key)
{
	struct fsc_jt_repairs repairs = c->t.repairs; /* counted when it was scanned */
	struct fsc_jt_out o;
	struct fsc_jt_val v;
	if (!has(c, f))
		return;
	const char *p = c->f[f].s - (c->f[f].type == FSC_JT_STR), *q = NULL;
	size_t at = c->args_n + strlen(key) + 2 * AROUND;
	if (at + 256 < CHROME_ARGS_CAP) {
		fsc_jt_out_init(&o, c->args + at, CHROME_ARGS_CAP - at, p);
		q = fsc_jt_value(&c->t, p, &v, 3, &o);
		if (q)
			fsc_jt_out_flush(&o, q);
		if (q && !o.full)
			add_member(c, key, o.start, (size_t)(o.w - o.start));
	}
	c->t.repairs = repairs;
	if (!q || o.full)
		fsc_chrome_note(c, &c->args_too_big);
}

static bool is_async(char ph)
{
	return memchr("bneSTpF", ph, 7) != NULL;
}

void fsc_chrome_rare_args(struct chrome *c)
{
	char ph = has(c, F_PH) && c->f[F_PH].n ? c->f[F_PH].s[0] : 0;
	note_if(c, &c->args_too_big, c->args_full);
	c->args_full = false;
	add_time(c, F_TTS, "thread_ts_ns");
	add_time(c, F_TDUR, "thread_dur_ns");
	add_value(c, F_STACK, "callstack");
	add_value(c, F_ESTACK, "end_callstack");
	if (c->in_samples) {
		add_value(c, F_CPU, "cpu");
		add_value(c, F_WEIGHT, "weight");
	} else {
		note_if(c, &c->n.extra_keys, has(c, F_CPU));
		note_if(c, &c->n.extra_keys, has(c, F_WEIGHT));
	}
	note_if(c, &c->n.extra_keys, has(c, F_ID_SCOPE) && !is_async(ph));
	c->stack_waits = has(c, F_SF) || has(c, F_ESF);
}

void fsc_chrome_rare_ignored(struct chrome *c)
{
	static const uint8_t keys[] = { F_SF, F_ESF, F_STACK, F_ESTACK, F_CPU, F_WEIGHT };
	note_if(c, &c->n.thread_times, has(c, F_TTS));
	note_if(c, &c->n.thread_times, has(c, F_TDUR));
	for (size_t i = 0; i < sizeof(keys); i++) {
		note_if(c, &c->n.extra_keys, has(c, (enum chrome_field)keys[i]));
		c->have &= ~(1u << keys[i]);
	}
	c->have &= ~(1u << F_TTS | 1u << F_TDUR);
}
