/* SPDX-License-Identifier: Apache-2.0 */
/* What every store must do with keep marks and notes. Included, see contract.h. */
#include "tests/store/contract.h"

#include "store/notes.h"

static enum fsc_status edit(struct place *p, int64_t trace, struct fsc_trace_edit e)
{
	struct fsc_trace_edited done;

	e.project = 1;
	e.trace = trace;
	e.actor = "token:7";
	return fsc_store_trace_edit(p->s, &e, &done, &p->err);
}

static enum fsc_status edit_note(struct place *p, int64_t trace, struct fsc_note_edit n)
{
	return edit(p, trace, (struct fsc_trace_edit){ .notes = &n, .n_notes = 1 });
}

static struct fsc_note_edit add(int64_t t0, int64_t t1, const char *text)
{
	return (struct fsc_note_edit){ .op = FSC_NOTE_ADD,
				       .has_t0 = true,
				       .has_t1 = true,
				       .t0_ns = t0,
				       .t1_ns = t1,
				       .text = text };
}

static struct fsc_notes notes(struct place *p, int64_t trace)
{
	struct fsc_notes out;

	assert_ok(p, fsc_store_trace_notes(p->s, &p->a, trace, &out, &p->err));
	return out;
}

static struct fsc_trace_row get_trace(struct place *p, int64_t id)
{
	struct fsc_trace_row t;

	assert_ok(p, fsc_store_trace_get(p->s, &p->a, 1, id, &t, &p->err));
	return t;
}

/* Publishes the bundle of the trace again, with another base. */
static void index_again(struct place *p, int64_t trace, int64_t t_base_ns)
{
	struct fsc_trace_row row = get_trace(p, trace);
	struct fact_list l = { .n = 0 };
	struct fsc_fact_trace *t = fact_trace(&l, row.member, 0);
	int64_t id;

	t->t_base_ns = t_base_ns;
	fact_trace_end(&l);
	fact_end(&l);
	assert_ok(p, publish_facts(p, row.bundle, &l, NULL, &id, NULL));
	assert_int_equal(id, trace);
}

static void a_kept_trace_is_listed_as_such_and_not_deleted_by_accident(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "j", "h", 1);
	int64_t other = ready_trace(p, "def", "y", "j", "h", 1);
	int64_t bundle = get_trace(p, id).bundle;
	struct fsc_delete_request req = { .project = 1, .trace = id, .actor = "a" };
	struct fsc_trace_edit e = {
		.project = 1, .trace = id, .actor = "a", .set_keep = true, .keep = true
	};
	struct fsc_trace_query q = { .project = 1, .only_kept = true };
	struct fsc_delete_target job = { .project = 1, .job = "j" };
	struct fsc_trace_edited done;
	struct fsc_bundle_deleted gone;
	struct fsc_delete_plan plan;
	struct fsc_trace_page page;

	assert_ok(p, fsc_store_trace_edit(p->s, &e, &done, &p->err));
	assert_true(done.keep_changed);
	assert_ok(p, fsc_store_trace_edit(p->s, &e, &done, &p->err));
	assert_false(done.keep_changed);
	assert_true(get_trace(p, id).keep && !get_trace(p, other).keep);
	assert_ok(p, fsc_store_trace_list(p->s, &p->a, &q, &page, &p->err));
	assert_true(page.total == 1 && page.items[0].t.id == id && page.items[0].t.keep);
	/* neither it, nor its bundle, nor as one of a job */
	assert_fails(p, fsc_store_delete(p->s, &p->a, &req, &gone, &p->err), FSC_EEXIST, "kept");
	assert_fails(p, delete_bundle_row(p, 1, bundle, &gone), FSC_EEXIST, "kept");
	assert_ok(p, fsc_store_delete_plan(p->s, &p->a, &job, &plan, &p->err));
	assert_true(plan.kept == 1 && plan.n_units == 1 && plan.units[0].bundle != bundle);
	assert_true(plan.n_items == 2 && plan.items[0].keep && !plan.items[1].keep);
	/* marked between the plan and the delete: the delete sees it */
	e.trace = other;
	assert_ok(p, fsc_store_trace_edit(p->s, &e, &done, &p->err));
	req.trace = 0;
	assert_ok(p, fsc_store_delete_some(p->s, &p->a, &req, plan.units, plan.n_units, 1, &gone,
					   &p->err));
	assert_true(gone.kept == 1 && gone.bundles == 0);
	assert_true(get_trace(p, other).keep);
	/* asked for as such it goes */
	job.kept = req.kept = true;
	assert_ok(p, fsc_store_delete_plan(p->s, &p->a, &job, &plan, &p->err));
	assert_true(plan.kept == 0 && plan.bundles == 2);
	req.trace = id;
	assert_ok(p, fsc_store_delete(p->s, &p->a, &req, &gone, &p->err));
	assert_int_equal(gone.bundles, 1);
}

static void keep_and_notes_survive_indexing_again_in_their_place(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "j", "h", 1000000);
	struct fsc_notes n;

	assert_ok(p, edit(p, id, (struct fsc_trace_edit){ .set_keep = true, .keep = true }));
	assert_ok(p, edit_note(p, id, add(500, 700, "second\nline")));
	assert_ok(p, edit_note(p, id, add(-20, -20, "first")));
	n = notes(p, id);
	assert_int_equal(n.n_items, 2);
	assert_true(n.items[0].t0_ns == -20 && n.items[1].t0_ns == 500 && n.items[1].t1_ns == 700);
	assert_string_equal(n.items[1].text, "second\nline");
	assert_string_equal(n.items[1].author, "token:7");
	assert_true(n.items[1].created_at_ns == n.items[1].updated_at_ns);
	index_again(p, id, 1000100); /* the base moved: the same moment is 100 ns earlier now */
	assert_true(get_trace(p, id).keep);
	n = notes(p, id);
	assert_true(n.items[0].t0_ns == -120 && n.items[1].t0_ns == 400 && n.items[1].t1_ns == 600);
	/* a new note is of the new base */
	assert_ok(p, edit_note(p, id, add(0, 1, "third")));
	index_again(p, id, 1000000);
	n = notes(p, id);
	assert_true(n.items[1].t0_ns == 100 && n.items[2].t0_ns == 500);
}

static void a_note_is_changed_and_removed_by_its_id(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "j", "h", 1), a, b;
	int64_t other = ready_trace(p, "def", "y", "j", "h", 1);
	struct fsc_note before;
	struct fsc_notes n;

	assert_ok(p, edit_note(p, id, add(5, 6, "a")));
	assert_ok(p, edit_note(p, id, add(7, 8, "b")));
	n = notes(p, id);
	before = n.items[0];
	a = n.items[0].id;
	b = n.items[1].id;
	assert_ok(p,
		  edit_note(p, id,
			    (struct fsc_note_edit){ .op = FSC_NOTE_UPDATE, .id = a, .text = "a" }));
	assert_int_equal(notes(p, id).items[0].updated_at_ns, before.updated_at_ns);
	assert_ok(p,
		  edit_note(p, id,
			    (struct fsc_note_edit){
				    .op = FSC_NOTE_UPDATE, .id = a, .has_t1 = true, .t1_ns = 9 }));
	n = notes(p, id);
	assert_true(n.items[0].t0_ns == 5 && n.items[0].t1_ns == 9);
	assert_string_equal(n.items[0].text, "a");
	assert_true(n.items[0].updated_at_ns > before.updated_at_ns);
	assert_int_equal(n.items[0].created_at_ns, before.created_at_ns);
	/* of this trace only */
	assert_fails(p,
		     edit_note(p, other, (struct fsc_note_edit){ .op = FSC_NOTE_REMOVE, .id = a }),
		     FSC_ENOTFOUND, "no_such_note");
	assert_fails(p,
		     edit_note(p, other,
			       (struct fsc_note_edit){
				       .op = FSC_NOTE_UPDATE, .id = a, .text = "x" }),
		     FSC_ENOTFOUND, "no_such_note");
	assert_ok(p, edit_note(p, id, (struct fsc_note_edit){ .op = FSC_NOTE_REMOVE, .id = a }));
	n = notes(p, id);
	assert_true(n.n_items == 1 && n.items[0].id == b);
}

static void replacing_keeps_the_notes_that_are_named(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "j", "h", 1), a;
	struct fsc_note_edit list[2];
	struct fsc_notes n;

	assert_ok(p, edit_note(p, id, add(5, 6, "a")));
	assert_ok(p, edit_note(p, id, add(7, 8, "b")));
	a = notes(p, id).items[0].id;
	list[0] = (struct fsc_note_edit){ .op = FSC_NOTE_UPDATE, .id = a, .text = "A" };
	list[1] = add(1, 2, "c");
	assert_ok(p, edit(p, id,
			  (struct fsc_trace_edit){ .replace = true, .notes = list, .n_notes = 2 }));
	n = notes(p, id);
	assert_int_equal(n.n_items, 2);
	assert_string_equal(n.items[0].text, "c");
	assert_true(n.items[1].id == a);
	assert_string_equal(n.items[1].text, "A");
	assert_ok(p, edit(p, id, (struct fsc_trace_edit){ .replace = true }));
	assert_int_equal(notes(p, id).n_items, 0);
}

static void a_bad_edit_changes_nothing_at_all(void **state)
{
	struct place *p = *state;
	int64_t other, id = ready_trace(p, "abc", "x", "j", "h", 1);
	char big[FSC_MAX_NOTE_BYTES + 2];
	const char *bad_texts[] = { "", "a\tb", "a\x7f", "\xff\xfe", big };
	struct fsc_note_edit list[2] = { add(1, 2, "good"), add(2, 1, "bad") };
	struct fsc_trace_edit e = { .set_keep = true, .keep = true, .notes = list, .n_notes = 2 };
	struct fsc_trace_edited done;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_fails(p, edit(p, id, e), FSC_EINVAL, "note_range");
	list[1] = add(INT64_MAX - 1, INT64_MAX, "bad");
	assert_fails(p, edit(p, id, e), FSC_EINVAL, "note_range");
	for (size_t i = 0; i < FSC_ARRAY_LEN(bad_texts); i++) {
		list[1] = add(1, 2, bad_texts[i]);
		assert_fails(p, edit(p, id, e), FSC_EINVAL, "note_text");
	}
	assert_int_equal(notes(p, id).n_items, 0);
	assert_false(get_trace(p, id).keep);
	assert_ok(p, fsc_store_project_put(p->s, "other", &other, &p->err));
	e = (struct fsc_trace_edit){
		.project = other, .trace = id, .actor = "a", .set_keep = true
	};
	assert_fails(p, fsc_store_trace_edit(p->s, &e, &done, &p->err), FSC_ENOTFOUND, "not_found");
	big[FSC_MAX_NOTE_BYTES] = '\0';
	assert_ok(p, edit_note(p, id, add(1, 2, big)));
}

static void a_trace_takes_so_many_notes_and_no_more(void **state)
{
	struct place *p = *state;
	int64_t id = ready_trace(p, "abc", "x", "j", "h", 1);
	struct fsc_note_edit *list = fsc_xalloc(FSC_MAX_NOTES, sizeof(*list));

	for (size_t i = 0; i < FSC_MAX_NOTES; i++)
		list[i] = add((int64_t)i, (int64_t)i, "n");
	assert_ok(p,
		  edit(p, id, (struct fsc_trace_edit){ .notes = list, .n_notes = FSC_MAX_NOTES }));
	assert_fails(p, edit_note(p, id, add(1, 2, "one too many")), FSC_ELIMIT, "too_many_notes");
	assert_int_equal(notes(p, id).n_items, FSC_MAX_NOTES);
	/* all of them replaced in one go */
	assert_ok(p, edit(p, id,
			  (struct fsc_trace_edit){
				  .replace = true, .notes = list, .n_notes = FSC_MAX_NOTES }));
	assert_int_equal(notes(p, id).n_items, FSC_MAX_NOTES);
	fsc_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		contract_test(a_kept_trace_is_listed_as_such_and_not_deleted_by_accident),
		contract_test(keep_and_notes_survive_indexing_again_in_their_place),
		contract_test(a_note_is_changed_and_removed_by_its_id),
		contract_test(replacing_keeps_the_notes_that_are_named),
		contract_test(a_bad_edit_changes_nothing_at_all),
		contract_test(a_trace_takes_so_many_notes_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
