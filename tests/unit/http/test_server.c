/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole server below the API, with handlers made for the test: work that does not end by itself, clients
 * that leave or read nothing, stops in the middle of it all. Run under ASan and TSan too.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/resp.h"
#include "tests/support/test.h"

#define MS INT64_C(1000000)
#define BIG (16u << 20)
#define FOREVER_MS 30000

static atomic_uint running, stopped; /* of spin() */

static void nap(unsigned ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* A query that goes on until it is told to stop (or, so that a failing test ends, for long). */
static void spin(struct fsc_req *req, struct fsc_resp *resp)
{
	int64_t end = fsc_clock_mono_ns() + FOREVER_MS * MS;

	atomic_fetch_add(&running, 1);
	while (!atomic_load(&req->stop) && fsc_clock_mono_ns() < end)
		nap(1);
	if (atomic_load(&req->stop))
		atomic_fetch_add(&stopped, 1);
	atomic_fetch_sub(&running, 1);
	fsc_resp_error(resp, 503, "query_stopped", "spun for long");
}

static void quick(struct fsc_req *req, struct fsc_resp *resp)
{
	(void)req;
	fsc_buf_adds(&resp->body, "quick");
}

static void big(struct fsc_req *req, struct fsc_resp *resp)
{
	(void)req;
	memset(fsc_buf_room(&resp->body, BIG), 'x', BIG);
	resp->body.len = BIG;
}

static enum fsc_status produce(void *ctx, struct fsc_stream *s, struct fsc_err *err)
{
	static const char piece[4096];
	enum fsc_status st = FSC_OK;

	(void)ctx;
	(void)err;
	for (int i = 0; i < 100000 && st == FSC_OK; i++)
		st = fsc_stream_write(s, piece, sizeof(piece));
	return st;
}

/* More than the kernel takes, less than the pipe and the kernel together: the producer ends at once. */
static enum fsc_status produce_little(void *ctx, struct fsc_stream *s, struct fsc_err *err)
{
	static const char piece[128 << 10];
	enum fsc_status st = FSC_OK;

	(void)ctx;
	(void)err;
	for (int i = 0; i < 4 && st == FSC_OK; i++)
		st = fsc_stream_write(s, piece, sizeof(piece));
	return st;
}

static void streamed_little(struct fsc_req *req, struct fsc_resp *resp)
{
	(void)req;
	fsc_resp_stream(resp, "application/octet-stream", produce_little, NULL, NULL);
}

static void streamed(struct fsc_req *req, struct fsc_resp *resp)
{
	(void)req;
	fsc_resp_stream(resp, "application/octet-stream", produce, NULL, NULL);
}

static const struct fsc_route routes[] = {
	{ "GET", "/spin", spin, FSC_PERM_NONE, 0, 0 },
	{ "GET", "/disk", spin, FSC_PERM_NONE, 0, FSC_ROUTE_DISK },
	{ "GET", "/quick", quick, FSC_PERM_NONE, 0, 0 },
	{ "POST", "/quick", quick, FSC_PERM_NONE, 100, 0 },
	{ "GET", "/probe", quick, FSC_PERM_NONE, 0, FSC_ROUTE_INLINE },
	{ "GET", "/big", big, FSC_PERM_NONE, 0, 0 },
	{ "GET", "/streamed", streamed, FSC_PERM_NONE, 0, 0 },
	{ "GET", "/little", streamed_little, FSC_PERM_NONE, 0, 0 },
};

static struct fsc_http_config config(void)
{
	struct fsc_http_config cfg = FSC_HTTP_CONFIG_INIT;

	cfg.routes = routes;
	cfg.n_routes = FSC_ARRAY_LEN(routes);
	cfg.workers = 2;
	return cfg;
}

static struct fsc_http *start(const struct fsc_http_config *cfg)
{
	struct fsc_http *h = NULL;
	struct fsc_err err = FSC_ERR_INIT;

	atomic_store(&running, 0);
	atomic_store(&stopped, 0);
	if (fsc_http_start(&h, cfg, &err))
		fail_msg("%s: %s", err.code, err.msg);
	return h;
}

/* ---- clients ---- */

static int dial(uint16_t port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int ask(uint16_t port, const char *method, const char *path)
{
	char head[200];
	int n = snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n", method,
			 path, method[0] == 'P' ? "Content-Length: 2\r\n" : "");
	int fd = dial(port);

	if (fd >= 0 && send(fd, head, (size_t)n, MSG_NOSIGNAL) != n) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Status of the answer, and its first bytes in text; 0 when the connection ends without one, -1 when nothing
 * comes for ms. */
static int answer(int fd, int ms, char text[1000])
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t n = 0;

	while (n < 999) {
		ssize_t got;

		if (poll(&p, 1, ms) != 1)
			return -1;
		got = recv(fd, text + n, 999 - n, 0);
		if (got <= 0)
			break;
		n += (size_t)got;
		text[n] = '\0';
		if (strstr(text, "\r\n\r\n"))
			break;
	}
	text[n] = '\0';
	return n >= 12 ? (text[9] - '0') * 100 + (text[10] - '0') * 10 + text[11] - '0' : 0;
}

static int get(uint16_t port, const char *path)
{
	char text[1000];
	int fd = ask(port, "GET", path), status = answer(fd, 5000, text);

	close(fd);
	return status;
}

static bool becomes(const atomic_uint *v, unsigned want, unsigned ms)
{
	for (unsigned i = 0; i < ms && atomic_load(v) != want; i += 5)
		nap(5);
	return atomic_load(v) == want;
}

static uint64_t figure(struct fsc_http *h, const char *name)
{
	struct fsc_buf b;
	const char *at;
	uint64_t v = 0;

	fsc_buf_init(&b, 1u << 20);
	fsc_http_metrics(h, &b);
	fsc_buf_addc(&b, '\0');
	at = strstr(b.data, name);
	assert_non_null(at);
	for (at += strlen(name); *at == ' ' || (*at >= '0' && *at <= '9'); at++)
		if (*at != ' ')
			v = v * 10 + (uint64_t)(*at - '0');
	fsc_buf_fini(&b);
	return v;
}

/* ---- tests ---- */

static void a_query_whose_client_is_gone_is_told_to_stop(void **state)
{
	struct fsc_http_config cfg = config();
	struct fsc_http *h = start(&cfg);
	int fd = ask(fsc_http_port(h), "GET", "/spin");

	(void)state;
	assert_true(becomes(&running, 1, 5000));
	close(fd);
	assert_true(becomes(&stopped, 1, 5000));
	fsc_http_stop(h, 1000);
}

static void a_query_past_its_time_is_told_to_stop(void **state)
{
	struct fsc_http_config cfg = config();
	struct fsc_http *h;
	char text[1000];
	int fd;

	(void)state;
	cfg.query_timeout_s = 1;
	h = start(&cfg);
	fd = ask(fsc_http_port(h), "GET", "/spin");
	assert_int_equal(answer(fd, 6000, text), 503);
	assert_int_equal(atomic_load(&stopped), 1);
	close(fd);
	assert_int_equal(get(fsc_http_port(h), "/quick"), 200);
	fsc_http_stop(h, 1000);
}

static void the_flag_of_one_request_does_not_reach_the_next_on_its_connection(void **state)
{
	static const char two[] = "GET /spin HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
				  "GET /quick HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
	struct fsc_http_config cfg = config();
	struct fsc_http *h;
	char text[4000] = "";
	size_t n = 0;
	ssize_t got;
	int fd;

	(void)state;
	cfg.query_timeout_s = 1;
	h = start(&cfg);
	fd = dial(fsc_http_port(h));
	assert_int_equal(send(fd, two, sizeof(two) - 1, MSG_NOSIGNAL), sizeof(two) - 1);
	for (int i = 0; i < 20 && !strstr(text, "quick"); i++) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, 1000) != 1)
			continue;
		got = recv(fd, text + n, sizeof(text) - 1 - n, 0);
		if (got <= 0)
			break;
		n += (size_t)got;
		text[n] = '\0';
	}
	assert_non_null(strstr(text, " 503 "));
	assert_non_null(strstr(text, " 200 "));
	close(fd);
	fsc_http_stop(h, 1000);
}

static void probes_answer_while_all_workers_are_busy(void **state)
{
	struct fsc_http_config cfg = config();
	struct fsc_http *h = start(&cfg);
	int fd[20];

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(fd); i++)
		fd[i] = ask(fsc_http_port(h), "GET", "/spin");
	assert_true(becomes(&running, cfg.workers, 5000));
	for (int i = 0; i < 10; i++)
		assert_int_equal(get(fsc_http_port(h), "/probe"), 200);
	for (size_t i = 0; i < FSC_ARRAY_LEN(fd); i++)
		close(fd[i]);
	fsc_http_stop(h, 100);
}

static void a_stop_ends_what_runs_and_answers_what_waits(void **state)
{
	struct fsc_http_config cfg = config();
	struct fsc_http *h = start(&cfg);
	char text[1000];
	int64_t begin;
	int fd[30];

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(fd); i++)
		fd[i] = ask(fsc_http_port(h), "GET", "/spin");
	assert_true(becomes(&running, cfg.workers, 5000));
	begin = fsc_clock_mono_ns();
	fsc_http_stop(h, 200);
	assert_true(fsc_clock_mono_ns() - begin < 5000 * MS);
	/* What waited was not begun. */
	assert_int_equal(atomic_load(&stopped), cfg.workers);
	assert_int_equal(atomic_load(&running), 0);
	for (size_t i = 0; i < FSC_ARRAY_LEN(fd); i++) {
		int status = answer(fd[i], 1000, text);

		assert_true(status == 503 || status == 0);
		close(fd[i]);
	}
}

struct pusher {
	pthread_t thread;
	uint16_t port;
	atomic_bool *end;
};

/* Sends requests without waiting for their answers, so that the queues are never empty. */
static void *push(void *arg)
{
	static const char *const paths[] = { "/quick", "/streamed", "/big", "/quick", "/probe" };
	struct pusher *p = arg;
	int fd[64];
	size_t n = 0;

	for (size_t i = 0; i < 5000 && !atomic_load(p->end); i++) {
		int c = ask(p->port, i % 7 ? "GET" : "POST", i % 7 ? paths[i % 5] : "/quick");

		if (c < 0) {
			nap(1);
			continue;
		}
		if (i % 7 == 0 && send(c, "{}", 2, MSG_NOSIGNAL) != 2)
			nap(1);
		if (n == FSC_ARRAY_LEN(fd))
			close(fd[--n]);
		fd[n++] = c;
	}
	while (n)
		close(fd[--n]);
	return NULL;
}

/* The threads of the daemon submit to the pools until the very end. */
static void a_stop_under_load_frees_nothing_that_is_in_use(void **state)
{
	struct fsc_http_config cfg = config();

	(void)state;
	cfg.io_threads = 4;
	for (int round = 0; round < 8; round++) {
		struct fsc_http *h = start(&cfg);
		atomic_bool end = false;
		struct pusher p[3];

		for (size_t i = 0; i < FSC_ARRAY_LEN(p); i++) {
			p[i] = (struct pusher){ .port = fsc_http_port(h), .end = &end };
			assert_int_equal(pthread_create(&p[i].thread, NULL, push, &p[i]), 0);
		}
		nap(60 + (unsigned)round * 20);
		fsc_http_stop(h, (unsigned)round % 3);
		atomic_store(&end, true);
		for (size_t i = 0; i < FSC_ARRAY_LEN(p); i++)
			pthread_join(p[i].thread, NULL);
	}
}

static void clients_that_read_nothing_hold_a_bounded_part_of_the_memory(void **state)
{
	struct fsc_http_config cfg = config();
	struct fsc_http *h = start(&cfg);
	char text[1000];
	int fd[40];
	unsigned n[2] = { 0 };

	(void)state;
	for (size_t i = 0; i < FSC_ARRAY_LEN(fd); i++) {
		int status;

		fd[i] = ask(fsc_http_port(h), "GET", "/big");
		status = answer(fd[i], 5000, text); /* the head, and no more */
		assert_true(status == 200 || status == 503);
		n[status == 503]++;
	}
	/* 256 MiB of answers, those of 16 MiB each. */
	assert_in_range(n[0], 12, 17);
	assert_int_equal(get(fsc_http_port(h), "/quick"), 200);
	for (size_t i = 0; i < FSC_ARRAY_LEN(fd); i++)
		close(fd[i]);
	/* The room comes back with the connections. */
	for (int i = 0; i < 100 && get(fsc_http_port(h), "/big") != 200; i++)
		nap(20);
	assert_int_equal(get(fsc_http_port(h), "/big"), 200);
	fsc_http_stop(h, 100);
}

static bool is_cut(int fd, unsigned ms)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	return poll(&p, 1, (int)ms) == 1;
}

static void whoever_reads_a_large_answer_too_slowly_is_cut_off(void **state)
{
	static const char *const paths[] = { "/big", "/streamed" };
	struct fsc_http_config cfg = config();

	(void)state;
	cfg.send_window_s = 1;
	cfg.body_min_bytes_s = 256 << 10;
	for (size_t i = 0; i < FSC_ARRAY_LEN(paths); i++) {
		struct fsc_http *h = start(&cfg);
		int none = ask(fsc_http_port(h), "GET", paths[i]);
		int drip = ask(fsc_http_port(h), "GET", paths[i]);
		int good = ask(fsc_http_port(h), "GET", paths[i]);
		int64_t end = fsc_clock_mono_ns() + 8000 * MS;
		char piece[32 << 10];

		/* One reads nothing, one 40 KiB/s, one a megabyte a second. */
		for (unsigned k = 0; !is_cut(drip, 25) && fsc_clock_mono_ns() < end; k++) {
			if (k % 30 == 0)
				(void)!recv(drip, piece, sizeof(piece), MSG_DONTWAIT);
			if (recv(good, piece, sizeof(piece), MSG_DONTWAIT) == 0)
				fail_msg("%s: a client of a good pace was cut off", paths[i]);
		}
		assert_true(is_cut(none, 3000));
		assert_true(is_cut(drip, 3000));
		assert_false(is_cut(good, 0));
		assert_int_equal(figure(h, "\nfleetscope_http_connections_cut_total"), 2);
		close(none);
		close(drip);
		close(good);
		fsc_http_stop(h, 100);
	}
}

static void whoever_does_not_take_the_rest_of_an_ended_stream_is_cut_off(void **state)
{
	struct fsc_http_config cfg = config();
	struct fsc_http *h;
	char piece[4096];
	size_t n = 0;
	ssize_t got = 1;
	int none, all;

	(void)state;
	cfg.send_window_s = 1;
	h = start(&cfg);
	none = ask(fsc_http_port(h), "GET", "/little");
	all = ask(fsc_http_port(h), "GET", "/little");
	while (n < 4 * (128 << 10) && got > 0) {
		got = recv(all, piece, sizeof(piece), 0);
		n += got > 0 ? (size_t)got : 0;
	}
	assert_true(n >= 4 * (128 << 10));
	assert_true(is_cut(none, 5000));
	assert_false(is_cut(all, 0));
	close(none);
	close(all);
	fsc_http_stop(h, 100);
}

static void readers_are_answered_while_others_wait_for_the_disk(void **state)
{
	struct fsc_http_config cfg = config();
	struct fsc_http *h = start(&cfg);
	int waiting[2], reader;
	char text[1000];

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		waiting[i] = ask(fsc_http_port(h), "GET", "/disk");
	for (unsigned i = 0; i < 5000 && atomic_load(&running) < 2; i++)
		nap(1);
	assert_int_equal(atomic_load(&running), 2);
	reader = ask(fsc_http_port(h), "GET", "/quick");
	assert_int_equal(answer(reader, 5000, text), 200);
	close(reader);
	for (unsigned i = 0; i < 2; i++)
		close(waiting[i]);
	fsc_http_stop(h, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_whose_client_is_gone_is_told_to_stop),
		cmocka_unit_test(a_query_past_its_time_is_told_to_stop),
		cmocka_unit_test(the_flag_of_one_request_does_not_reach_the_next_on_its_connection),
		cmocka_unit_test(probes_answer_while_all_workers_are_busy),
		cmocka_unit_test(a_stop_ends_what_runs_and_answers_what_waits),
		cmocka_unit_test(a_stop_under_load_frees_nothing_that_is_in_use),
		cmocka_unit_test(clients_that_read_nothing_hold_a_bounded_part_of_the_memory),
		cmocka_unit_test(whoever_reads_a_large_answer_too_slowly_is_cut_off),
		cmocka_unit_test(whoever_does_not_take_the_rest_of_an_ended_stream_is_cut_off),
		cmocka_unit_test(readers_are_answered_while_others_wait_for_the_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
