/* SPDX-License-Identifier: Apache-2.0 */
/* Top-level keys that mean something, and the names of the counted losses. */
#include "base/json_scan.h"
#include "formats/chrome_int.h"

static bool number_of(int64_t *out, const char *s, size_t n, enum fsc_json_type type)
{
	struct fsc_jt_val v = { .s = s, .n = (uint32_t)n, .type = FSC_JT_NUM };
	if (type == FSC_JSON_STRING && n >= 2)
		v = (struct fsc_jt_val){ .s = s + 1, .n = (uint32_t)n - 2, .type = FSC_JT_STR };
	else if (type != FSC_JSON_NUMBER)
		return false;
	return v.n > 0 && fsc_chrome_i64(out, &v);
}

static int64_t member_number(struct chrome *c, const char *json, size_t n, const char *key)
{
	struct fsc_json_member m;
	int64_t v;
	if (*json != '{' || !fsc_json_find(&m, json, n, key) || m.type == FSC_JSON_NULL)
		return -1;
	if (!number_of(&v, m.value, m.value_len, m.type)) {
		fsc_build_loss(c->b, "rank_unreadable", 1);
		return -1;
	}
	return v < 0 ? -1 : v;
}

/* Files put together by tools may say it twice: the last one counts, what it overrules is counted. */
static void distributed_info(struct chrome *c, const char *json, size_t n)
{
	struct fsc_trace_meta *m = &fsc_build_trace(c->b)->meta;
	int64_t rank = member_number(c, json, n, "rank");
	int64_t world = member_number(c, json, n, "world_size");
	fsc_build_loss(c->b, "rank_contradicted",
		       (m->rank >= 0 && rank != m->rank) ||
			       (m->world_size >= 0 && world != m->world_size));
	m->rank = rank;
	m->world_size = world;
}

/* A string value as a string id; numbers as they are written. Only the first key of a kind counts. */
static enum fsc_status text_once(uint32_t *id, struct chrome *c, const char *json, size_t n)
{
	if (*id || n == 0 || *json == '{' || *json == '[' || *json == 'n')
		return FSC_OK;
	if (*json != '"')
		return fsc_build_str(id, c->b, json, n);
	struct fsc_buf b = FSC_BUF_INIT(FSC_MAX_META_BYTES);
	fsc_json_unescape(&b, json, n);
	enum fsc_status st = fsc_buf_status(&b);
	if (st == FSC_OK)
		st = fsc_build_str(id, c->b, b.data ? b.data : "", b.len);
	fsc_buf_fini(&b);
	return st;
}

static bool key_in(const char *key, size_t n, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == n && !memcmp(*list, key, n))
			return true;
	return false;
}

enum fsc_status fsc_chrome_top_value(struct chrome *c, const char *key, size_t key_n,
				     const char *json, size_t n)
{
	static const char *const kineto[] = { "schemaVersion",	     "deviceProperties",
					      "computeProperties",   "distributedInfo",
					      "baseTimeNanoseconds", NULL };
	static const char *const host[] = { "host_name", "hostname", "host", NULL };
	static const char *const job[] = { "job_name",	    "job",	    "job_id", "tw_job",
					   "mast_job_name", "SLURM_JOB_ID", NULL };
	static const char *const capture[] = { "group_trace_id", "REQUEST_GROUP_TRACE_ID", NULL };
	struct fsc_trace_meta *m = &fsc_build_trace(c->b)->meta;
	int64_t v;
	c->kineto |= key_in(key, key_n, kineto);
	if (key_in(key, key_n, (const char *const[]){ "baseTimeNanoseconds", NULL })) {
		if (number_of(&v, json, n, *json == '"' ? FSC_JSON_STRING : FSC_JSON_NUMBER))
			fsc_build_base_time(c->b, v);
		else
			fsc_build_loss(c->b, "base_time_unreadable", 1);
	} else if (key_in(key, key_n, (const char *const[]){ "distributedInfo", NULL })) {
		distributed_info(c, json, n);
	} else if (key_in(key, key_n, host)) {
		return text_once(&m->host, c, json, n);
	} else if (key_in(key, key_n, job)) {
		return text_once(&m->job, c, json, n);
	} else if (key_in(key, key_n, capture)) {
		return text_once(&m->capture, c, json, n);
	}
	return FSC_OK;
}

void fsc_chrome_name_losses(struct chrome *c)
{
	const struct fsc_jt_repairs *r = &c->t.repairs;
	const struct {
		const char *code;
		const struct fsc_jt_count *n;
	} all[] = {
		{ "utf8_repaired", &r->utf8 },
		{ "escape_invalid", &r->escape },
		{ "surrogate_lone", &r->surrogate },
		{ "control_character", &r->control },
		{ "number_not_finite", &r->nonfinite },
		{ "number_malformed", &r->number },
		{ "duplicate_key", &c->n.duplicates },
		{ "event_key_ignored", &c->n.extra_keys },
		{ "thread_time_ignored", &c->n.thread_times },
		{ "args_not_object", &c->n.args_not_object },
		{ "args_too_big", &c->args_too_big },
		{ "event_without_phase", &c->no_phase },
		{ "event_without_ts", &c->no_ts },
		{ "event_bad_ts", &c->bad_ts },
		{ "event_empty", &c->empty },
		{ "event_unreadable", &c->unreadable },
		{ "event_not_object", &c->plain_items },
		{ "x_without_dur", &c->x_no_dur },
		{ "x_bad_dur", &c->x_bad_dur },
		{ "time_below_1_ns", &c->inexact },
		{ "id_missing", &c->no_id },
		{ "memory_device_limit", &c->memory_devices },
		{ "counter_not_a_number", &c->bad_counter },
		{ "correlation_not_a_number", &c->bad_correlation },
		{ "stream_not_a_number", &c->bad_stream },
		{ "metadata_event_ignored", &c->metadata_unknown },
		{ "flow_args_ignored", &c->flow_args },
		{ "sample_as_instant", &c->samples },
		{ "stack_frame_unknown", &c->stacks.unknown },
		{ "stack_frame_unreadable", &c->stacks.unreadable },
		{ "stack_too_deep", &c->stacks.too_deep },
		{ "stack_limit", &c->stacks.limit },
		{ "comma_repaired", &c->commas },
		{ "comma_repaired", &r->comma },
	};
	for (size_t i = 0; i < FSC_ARRAY_LEN(all); i++)
		fsc_build_loss_at(c->b, all[i].code, all[i].n->n, (int64_t)all[i].n->first);
	for (unsigned ph = 0; ph < 128; ph++) {
		char code[] = "phase_unknown_X";
		code[sizeof(code) - 2] =
			ph > ' ' && ph < 127 && ph != '"' && ph != '\\' ? (char)ph : '_';
		fsc_build_loss_at(c->b, code, c->phases[ph].n, (int64_t)c->phases[ph].first);
	}
}
