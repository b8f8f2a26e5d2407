/* SPDX-License-Identifier: Apache-2.0 */
/* Options from every source, which source goes before which, and mistakes with the place they stand in. */
#include "tests/support/test.h"

#include "base/alloc.h"
#include "base/fs.h"
#include "base/limits.h"
#include "server/config.h"

struct place {
	struct fsc_config c;
	char dir[256], file[300];
};

static int setup(void **state)
{
	struct place *p = test_calloc(1, sizeof(*p));

	for (size_t i = 0; i < FSC_OPTION_COUNT; i++) {
		char env[64];

		fsc_option_env(env, sizeof(env), &fsc_options[i]);
		unsetenv(env);
	}
	test_tmpdir(p->dir, sizeof(p->dir));
	snprintf(p->file, sizeof(p->file), "%s/server.ini", p->dir);
	fsc_config_init(&p->c);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	fsc_config_fini(&p->c);
	unlink(p->file);
	rmdir(p->dir);
	test_free(p);
	return 0;
}

static void write_file(const struct place *p, const char *text, size_t n)
{
	struct fsc_err err = FSC_ERR_INIT;

	assert_int_equal(fsc_fs_replace(p->file, text, n, 0600, &err), FSC_OK);
}

/* Loads anew, from the file when there is text, and these arguments (NULL at the end). */
static enum fsc_status load(struct place *p, const char *ini, ...)
{
	char *argv[16] = { (char *)"fleetscope-server", (char *)"--config", p->file };
	int argc = ini ? 3 : 1;
	va_list ap;

	if (ini)
		write_file(p, ini, strlen(ini));
	va_start(ap, ini);
	for (char *s = va_arg(ap, char *); s; s = va_arg(ap, char *))
		argv[argc++] = s;
	va_end(ap);
	fsc_config_fini(&p->c);
	return fsc_config_load(&p->c, argc, argv);
}
#define END ((char *)NULL)

static const char *shown(struct place *p, const char *name)
{
	static char text[8192];
	struct fsc_buf b = FSC_BUF_INIT(sizeof(text));

	fsc_option_show(&b, &p->c, fsc_option_find(name));
	snprintf(text, sizeof(text), "%s", b.data ? b.data : "");
	fsc_buf_fini(&b);
	return text;
}

/* A value that differs from the default, and another that differs from both. */
static void values_of(const struct fsc_option *o, const char **one, const char **two)
{
	switch (o->kind) {
	case FSC_OPTION_FLAG:
		*one = "yes", *two = "no";
		break;
	case FSC_OPTION_NUMBER:
		*one = "7", *two = "8";
		break;
	case FSC_OPTION_SIZE:
		*one = "7MiB", *two = "4097";
		break;
	case FSC_OPTION_CHOICE:
		*one = strchr(o->range, '|') ? "debug" : "all";
		*two = strchr(o->range, '|') ? "error" : "all";
		break;
	case FSC_OPTION_LISTEN:
		*one = "[::1]:9", *two = "0.0.0.0:10";
		break;
	case FSC_OPTION_ORIGIN:
		*one = "http://one:1", *two = "https://two";
		break;
	case FSC_OPTION_LIST: /* right as names and as addresses */
		*one = "10.0.0.1", *two = "10.0.0.2";
		break;
	default:
		*one = "one", *two = "two";
	}
}

static void every_option_can_be_given_in_the_file_the_environment_and_the_command_line(void **state)
{
	struct place *p = *state;

	for (size_t i = 0; i < FSC_OPTION_COUNT; i++) {
		const struct fsc_option *o = &fsc_options[i];
		char ini[256], env[64], arg[256];
		const char *one, *two;

		if (o->group == FSC_OPTION_VERB || o->flags & FSC_OPTION_NO_FILE)
			continue;
		values_of(o, &one, &two);
		snprintf(ini, sizeof(ini), "[server]\n\n%s = %s\n", o->name, one);
		fsc_option_env(env, sizeof(env), o);
		snprintf(arg, sizeof(arg), "--%s=%s", o->name, one);

		assert_int_equal(load(p, ini, END), FSC_OK);
		assert_string_equal(shown(p, o->name), one);
		assert_int_equal(p->c.from[i].source, FSC_FROM_FILE);
		assert_int_equal(p->c.from[i].line, 3);

		setenv(env, two, 1);
		assert_int_equal(load(p, ini, END), FSC_OK);
		assert_string_equal(shown(p, o->name), two);
		assert_int_equal(p->c.from[i].source, FSC_FROM_ENV);

		assert_int_equal(load(p, ini, arg, END), FSC_OK);
		assert_string_equal(shown(p, o->name), one);
		assert_int_equal(p->c.from[i].source, FSC_FROM_ARGS);
		unsetenv(env);
	}
}

static void without_anything_the_defaults_of_the_table_hold(void **state)
{
	struct place *p = *state;

	assert_int_equal(load(p, NULL, END), FSC_OK);
	for (size_t i = 0; i < FSC_OPTION_COUNT; i++) {
		if (fsc_options[i].def)
			assert_string_equal(shown(p, fsc_options[i].name), fsc_options[i].def);
		assert_int_equal(p->c.from[i].source, FSC_FROM_DEFAULT);
	}
	assert_string_equal(p->c.address.host, "127.0.0.1");
	assert_int_equal(p->c.address.port, 8080);
	assert_true(p->c.max_upload == FSC_MAX_UPLOAD_BYTES);
	assert_non_null(strstr(p->c.data, "/.local/share/fleetscope"));
	assert_int_equal(p->c.verb, FSC_VERB_SERVE);
}

static void the_table_holds_together(void **state)
{
	static const size_t sizes[] = { [FSC_OPTION_FLAG] = sizeof(bool),
					[FSC_OPTION_NUMBER] = sizeof(unsigned),
					[FSC_OPTION_SIZE] = sizeof(uint64_t),
					[FSC_OPTION_TEXT] = sizeof(char *),
					[FSC_OPTION_CHOICE] = sizeof(unsigned),
					[FSC_OPTION_LISTEN] = sizeof(char *),
					[FSC_OPTION_ORIGIN] = sizeof(char *),
					[FSC_OPTION_LIST] = sizeof(struct fsc_option_list) };

	(void)state;
	for (size_t i = 0; i < FSC_OPTION_COUNT; i++) {
		const struct fsc_option *o = &fsc_options[i];
		char env[64];

		assert_ptr_equal(fsc_option_find(o->name), o); /* so no name twice */
		assert_int_equal(o->field_size, sizes[o->kind]);
		fsc_option_env(env, sizeof(env), o);
		assert_true(strlen(env) == strlen("FLEETSCOPE_") + strlen(o->name));
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(fsc_options[j].field, o->field);
	}
}

static void a_list_of_one_source_replaces_that_of_a_lesser_one(void **state)
{
	struct place *p = *state;
	static const char ini[] = "[server]\nallow-host = a\nallow-host = b\n";

	assert_int_equal(load(p, ini, END), FSC_OK);
	assert_string_equal(shown(p, "allow-host"), "a, b");
	setenv("FLEETSCOPE_ALLOW_HOST", "c, d e", 1);
	assert_int_equal(load(p, ini, END), FSC_OK);
	assert_string_equal(shown(p, "allow-host"), "c, d, e");
	assert_int_equal(load(p, ini, "--allow-host=f", "--allow-host", "g", END), FSC_OK);
	assert_string_equal(shown(p, "allow-host"), "f, g");
	unsetenv("FLEETSCOPE_ALLOW_HOST");
}

static void a_flag_of_the_file_can_be_taken_back_on_the_command_line(void **state)
{
	struct place *p = *state;

	assert_int_equal(load(p, "[server]\ndemo = yes\n", END), FSC_OK);
	assert_true(p->c.demo);
	assert_int_equal(load(p, "[server]\ndemo = yes\n", "--demo=no", END), FSC_OK);
	assert_false(p->c.demo);
	assert_int_equal(load(p, NULL, "--demo", END), FSC_OK);
	assert_true(p->c.demo);
}

static void an_empty_variable_counts_only_where_empty_is_a_value(void **state)
{
	struct place *p = *state;

	setenv("FLEETSCOPE_WORKERS", "", 1);
	setenv("FLEETSCOPE_DATA", "", 1);
	setenv("FLEETSCOPE_PERFETTO_ORIGIN", "", 1);
	assert_int_equal(load(p, NULL, END), FSC_OK);
	assert_int_equal(p->c.workers, 0);
	assert_non_null(strstr(p->c.data, "/.local/share/fleetscope"));
	assert_string_equal(p->c.perfetto_origin, "");
	unsetenv("FLEETSCOPE_WORKERS");
	unsetenv("FLEETSCOPE_DATA");
	unsetenv("FLEETSCOPE_PERFETTO_ORIGIN");
}

static void groups_keep_their_order_and_their_lines(void **state)
{
	struct place *p = *state;

	assert_int_equal(load(p,
			      "# who may what\r\n[groups]\r\nml-infra = *:admin\r\n"
			      "ml team = vision:read,upload\r\n[server]\r\nworkers = 2\r\n",
			      END),
			 FSC_OK);
	assert_int_equal(p->c.n_groups, 2);
	assert_string_equal(p->c.groups[0].name, "ml-infra");
	assert_string_equal(p->c.groups[0].value, "*:admin");
	assert_string_equal(p->c.groups[1].name, "ml team");
	assert_string_equal(p->c.groups[1].value, "vision:read,upload");
	assert_int_equal(p->c.groups[1].line, 4);
	assert_int_equal(p->c.workers, 2);
}

static void expect(struct place *p, const char *ini, unsigned line, const char *what)
{
	char want[400];

	assert_int_equal(load(p, ini, END), FSC_EINVAL);
	snprintf(want, sizeof(want), "%s:%u: %s", p->file, line, what);
	if (!strstr(p->c.mistakes.data, want))
		fail_msg("wanted \"%s\", got \"%s\"", want, p->c.mistakes.data);
	assert_int_equal(p->c.n_mistakes, 1);
}

static void a_mistake_in_the_file_is_told_with_its_line(void **state)
{
	struct place *p = *state;

	expect(p, "[server]\nworkers = 0\n", 2, "workers: \"0\" is not in 1..256");
	expect(p, "[server]\nworkers = 2x\n", 2, "workers: \"2x\" is not in 1..256");
	expect(p, "[server]\n\nworkres = 2\n", 3, "there is no option workres");
	expect(p, "[server]\nname = x\n", 2, "name belongs on the command line");
	expect(p, "[server]\nconfig = x\n", 2, "config belongs on the command line");
	expect(p, "[sever]\nworkers = 2\n", 1, "there is no section [sever]");
	expect(p, "[server] x\n", 1, "there is no section [server] x");
	expect(p, "workers = 2\n", 1, "workers stands before a section");
	expect(p, "[server]\nworkers\n", 2, "workers: not NAME = VALUE");
	expect(p, "[server]\nworkers = 2\nworkers = 3\n", 3, "workers: stands in line 2 already");
	expect(p, "[server]\nmax-upload = 17GiB\n", 2, "max-upload: \"17GiB\" is not bytes in");
	expect(p, "[server]\ndemo = maybe\n", 2, "demo: \"maybe\" is not yes or no");
	expect(p, "[server]\nlog-level = loud\n", 2, "log-level: \"loud\" is not one of debug|");
	expect(p, "[server]\nrole = web\n", 2, "role: \"web\" is not one of all");
	expect(p, "[server]\nlisten = 8080\n", 2, "listen: \"8080\" is not HOST:PORT");
	expect(p, "[server]\nlisten = h:70000\n", 2, "listen: \"h:70000\" is not HOST:PORT");
	expect(p, "[server]\nperfetto-origin = https://x/y\n", 2,
	       "perfetto-origin: \"https://x/y\"");
	expect(p, "[groups]\na:b = c:read\n", 2, "a name has no colon");
	expect(p, "[groups]\na = c:read\na = c:read\n", 3, "group a stands in line 2 already");
	expect(p, "[groups]\n = c:read\n", 2, "a group needs a name");
	expect(p, "[groups]\na,b = c:read\n", 2, "group a,b: the header divides groups by commas");
	expect(p, "[server]\nperfetto-ui-listen = 8081\n", 2,
	       "perfetto-ui-listen: \"8081\" is not");
	expect(p, "  [server]\n \t workers = 0  \n", 2, "workers: \"0\"");
}

static void every_mistake_is_told_not_only_the_first(void **state)
{
	struct place *p = *state;

	setenv("FLEETSCOPE_WORKERS", "many", 1);
	assert_int_equal(load(p, "[server]\nx = 1\ny = 2\n", "--query-timeout=0", END), FSC_EINVAL);
	unsetenv("FLEETSCOPE_WORKERS");
	assert_int_equal(p->c.n_mistakes, 4);
	assert_non_null(strstr(p->c.mistakes.data, ":2: there is no option x\n"));
	assert_non_null(strstr(p->c.mistakes.data, ":3: there is no option y\n"));
	assert_non_null(strstr(p->c.mistakes.data, "FLEETSCOPE_WORKERS: workers: \"many\""));
	assert_non_null(strstr(p->c.mistakes.data, "command line: query-timeout: \"0\""));
}

/* Values of a length at and above the limit, from each source: whole, or refused; never cut. */
static void a_value_that_is_too_long_is_refused_and_never_cut(void **state)
{
	struct place *p = *state;
	char text[2100], ini[2200], arg[2200];

	memset(text, 'x', 2048);
	text[0] = '/';
	text[2048] = '\0';
	snprintf(ini, sizeof(ini), "[server]\ndata = %s\n", text);
	assert_int_equal(load(p, ini, END), FSC_OK);
	assert_string_equal(p->c.data, text);
	snprintf(arg, sizeof(arg), "--data=%s", text);
	assert_int_equal(load(p, NULL, arg, END), FSC_OK);
	assert_string_equal(p->c.data, text);

	memset(text, 'x', 2049);
	text[2049] = '\0';
	snprintf(ini, sizeof(ini), "[server]\ndata = %s\n", text);
	expect(p, ini, 2, "data: 2049 bytes long, allowed are 1..2048");
	snprintf(arg, sizeof(arg), "--data=%s", text);
	assert_int_equal(load(p, NULL, arg, END), FSC_EINVAL);
	setenv("FLEETSCOPE_DATA", text, 1);
	assert_int_equal(load(p, NULL, END), FSC_EINVAL);
	unsetenv("FLEETSCOPE_DATA");
}

static void a_line_that_is_too_long_is_refused_whole(void **state)
{
	struct place *p = *state;
	char *ini = fsc_xalloc(1, 10000);

	snprintf(ini, 10000, "[server]\n# ");
	memset(ini + strlen(ini), 'x', 5000);
	snprintf(ini + strlen(ini), 100, " \nworkers = 2\n");
	expect(p, ini, 2, "longer than");
	assert_int_equal(p->c.workers, 2);
	fsc_free(ini);
}

static void a_file_that_is_not_there_or_is_not_text_is_a_mistake(void **state)
{
	struct place *p = *state;
	char *argv[] = { (char *)"fleetscope-server", (char *)"-c", p->file };

	fsc_config_fini(&p->c);
	assert_int_equal(fsc_config_load(&p->c, 3, argv), FSC_EINVAL);
	write_file(p, "[server]\nworkers = 2\0\nx = 1", 27);
	fsc_config_fini(&p->c);
	assert_int_equal(fsc_config_load(&p->c, 3, argv), FSC_EINVAL);
	assert_non_null(strstr(p->c.mistakes.data, "NUL byte"));
}

static void the_environment_can_name_the_file(void **state)
{
	struct place *p = *state;

	write_file(p, "[server]\nworkers = 5\n", strlen("[server]\nworkers = 5\n"));
	setenv("FLEETSCOPE_CONFIG", p->file, 1);
	assert_int_equal(load(p, NULL, END), FSC_OK);
	unsetenv("FLEETSCOPE_CONFIG");
	assert_int_equal(p->c.workers, 5);
	assert_string_equal(p->c.config, p->file);
}

static void contradictions_are_refused(void **state)
{
	struct place *p = *state;

	assert_int_equal(load(p, NULL, "--no-tokens", "--require-tokens", END), FSC_EINVAL);
}

static void names_that_no_host_header_can_have_are_refused(void **state)
{
	static const char *const bad[] = { "https://perf.example.com", "perf.example.com:8443",
					   "[::1]", "perf.example.com/" };
	struct place *p = *state;

	for (size_t i = 0; i < FSC_ARRAY_LEN(bad); i++) {
		assert_int_equal(load(p, NULL, "--allow-host", bad[i], END), FSC_EINVAL);
		assert_non_null(strstr(p->c.mistakes.data, "allow-host: \""));
	}
	assert_int_equal(load(p, NULL, "--allow-host=perf.example.com", "--allow-host=fd00::1",
			      "--allow-host=10.0.0.1", END),
			 FSC_OK);
}

static void sizes_have_units(void **state)
{
	uint64_t v;

	(void)state;
	assert_true(fsc_option_parse_size(&v, "12", 2) && v == 12);
	assert_true(fsc_option_parse_size(&v, "12KiB", 5) && v == 12288);
	assert_true(fsc_option_parse_size(&v, "1TiB", 4) && v == 1ULL << 40);
	assert_false(fsc_option_parse_size(&v, "KiB", 3));
	assert_false(fsc_option_parse_size(&v, "1 GiB", 5));
	assert_false(fsc_option_parse_size(&v, "1GB", 3));
	assert_false(fsc_option_parse_size(&v, "99999999999TiB", 14));
}

static void the_verb_and_its_arguments_are_read(void **state)
{
	struct place *p = *state;

	assert_int_equal(load(p, NULL, "token", "create", "--name", "x", END), FSC_OK);
	assert_int_equal(p->c.verb, FSC_VERB_TOKEN);
	assert_int_equal(p->c.n_args, 1);
	assert_string_equal(p->c.args[0], "create");
	assert_string_equal(p->c.token_name, "x");
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_option_can_be_given_in_the_file_the_environment_and_the_command_line),
		T(without_anything_the_defaults_of_the_table_hold),
		T(the_table_holds_together),
		T(a_list_of_one_source_replaces_that_of_a_lesser_one),
		T(a_flag_of_the_file_can_be_taken_back_on_the_command_line),
		T(an_empty_variable_counts_only_where_empty_is_a_value),
		T(groups_keep_their_order_and_their_lines),
		T(a_mistake_in_the_file_is_told_with_its_line),
		T(every_mistake_is_told_not_only_the_first),
		T(a_value_that_is_too_long_is_refused_and_never_cut),
		T(a_line_that_is_too_long_is_refused_whole),
		T(a_file_that_is_not_there_or_is_not_text_is_a_mistake),
		T(the_environment_can_name_the_file),
		T(contradictions_are_refused),
		T(names_that_no_host_header_can_have_are_refused),
		T(sizes_have_units),
		T(the_verb_and_its_arguments_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
