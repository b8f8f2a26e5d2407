/* SPDX-License-Identifier: Apache-2.0 */
/* The sweep over connections: who is cut off, and whose handler is told to stop. */
#include "http/conn.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include "tests/support/test.h"

struct fixture {
	struct fsc_http_config cfg;
	struct fsc_conns *conns;
	struct fsc_conn *c;
	int ours, peer;
};

static void nap(unsigned ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static void set_up(struct fixture *f)
{
	const struct fsc_http_config cfg = FSC_HTTP_CONFIG_INIT;
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	f->cfg = cfg;
	f->cfg.header_timeout_s = 1;
	f->cfg.body_grace_s = 1;
	f->ours = fd[0];
	f->peer = fd[1];
	f->conns = fsc_conns_new(&f->cfg);
	f->c = fsc_conns_add(f->conns, f->ours);
}

static void tear_down(struct fixture *f)
{
	fsc_conns_remove(f->conns, f->c);
	fsc_conns_free(f->conns);
	close(f->ours);
	if (f->peer >= 0)
		close(f->peer);
}

/* What the peer gets until the end of the stream, for at most 3 s. */
static size_t read_to_end(struct fixture *f, char *buf, size_t cap, bool *ended)
{
	struct pollfd p = { .fd = f->peer, .events = POLLIN };
	size_t n = 0;

	*ended = false;
	while (poll(&p, 1, 3000) == 1) {
		ssize_t got = recv(f->peer, buf + n, cap - 1 - n, 0);

		if (got <= 0) {
			*ended = true;
			break;
		}
		n += (size_t)got;
	}
	buf[n] = '\0';
	return n;
}

static void a_client_that_left_stops_its_handler(void **state)
{
	atomic_bool stop = false;
	struct fixture f;

	(void)state;
	set_up(&f);
	fsc_conn_enter(f.c, FSC_CONN_RUNNING);
	fsc_conns_set_stop(f.conns, f.c, &stop);
	nap(700);
	assert_false(atomic_load(&stop));
	close(f.peer);
	f.peer = -1;
	for (int i = 0; i < 100 && !atomic_load(&stop); i++)
		nap(20);
	assert_true(atomic_load(&stop));
	fsc_conns_set_stop(f.conns, f.c, NULL);
	tear_down(&f);
}

static void a_hard_drain_stops_every_handler(void **state)
{
	atomic_bool stop = false;
	struct fixture f;

	(void)state;
	set_up(&f);
	fsc_conn_enter(f.c, FSC_CONN_RUNNING);
	fsc_conns_set_stop(f.conns, f.c, &stop);
	fsc_conns_drain(f.conns, false);
	nap(600);
	assert_false(atomic_load(&stop));
	fsc_conns_drain(f.conns, true);
	for (int i = 0; i < 100 && !atomic_load(&stop); i++)
		nap(20);
	assert_true(atomic_load(&stop));
	fsc_conns_set_stop(f.conns, f.c, NULL);
	tear_down(&f);
}

static void a_body_whose_client_left_ends_when_all_that_came_is_read(void **state)
{
	struct pollfd p = { .events = POLLIN };
	struct fixture f;
	char buf[64];
	bool ended;

	(void)state;
	set_up(&f);
	p.fd = f.peer;
	fsc_conn_enter(f.c, FSC_CONN_BODY);
	assert_int_equal(send(f.peer, "abc", 3, 0), 3);
	assert_int_equal(shutdown(f.peer, SHUT_WR), 0);
	assert_int_equal(poll(&p, 1, 600), 0); /* not before: the bytes that came count */
	assert_int_equal(recv(f.ours, buf, sizeof(buf), 0), 3);
	assert_int_equal(read_to_end(&f, buf, sizeof(buf), &ended), 0);
	assert_true(ended);
	tear_down(&f);
}

static void a_body_whose_client_waits_goes_on(void **state)
{
	struct pollfd p = { .events = POLLIN };
	struct fixture f;

	(void)state;
	set_up(&f);
	p.fd = f.peer;
	fsc_conn_enter(f.c, FSC_CONN_BODY);
	assert_int_equal(poll(&p, 1, 700), 0);
	tear_down(&f);
}

static void a_head_out_of_time_is_told_and_cut(void **state)
{
	struct fixture f;
	char buf[256];
	unsigned open;
	uint64_t cut;
	bool ended;

	(void)state;
	set_up(&f);
	read_to_end(&f, buf, sizeof(buf), &ended);
	assert_true(ended);
	assert_memory_equal(buf, "HTTP/1.1 408 ", 13);
	fsc_conns_count(f.conns, &open, &cut);
	assert_int_equal(open, 1);
	assert_int_equal(cut, 1);
	tear_down(&f);
}

static void a_body_above_the_least_rate_goes_on_and_one_below_is_cut(void **state)
{
	struct fixture f;
	char buf[256];
	bool ended;

	(void)state;
	set_up(&f);
	fsc_conn_enter(f.c, FSC_CONN_BODY);
	atomic_store(&f.c->bytes, 100u << 20);
	nap(1600);
	assert_int_equal(recv(f.peer, buf, sizeof(buf), MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	atomic_store(&f.c->bytes, 10);
	read_to_end(&f, buf, sizeof(buf), &ended);
	assert_true(ended);
	tear_down(&f);
}

static void an_idle_connection_is_closed_by_a_drain_without_a_word(void **state)
{
	struct fixture f;
	char buf[256];
	bool ended;

	(void)state;
	set_up(&f);
	fsc_conn_enter(f.c, FSC_CONN_IDLE);
	fsc_conns_drain(f.conns, false);
	assert_int_equal(read_to_end(&f, buf, sizeof(buf), &ended), 0);
	assert_true(ended);
	tear_down(&f);
}

/* Nine connections where six are a crowd: the oldest heads that do not come go, no body and no running request. */
static void in_a_crowd_those_go_that_wait_longest_for_their_head(void **state)
{
	struct fsc_conn *more[8];
	int fd[8][2];
	struct fixture f;
	char buf[256];
	bool ended;

	(void)state;
	set_up(&f);
	f.cfg.header_timeout_s = f.cfg.body_grace_s = 60;
	f.cfg.max_connections = 8; /* more than 6 are a crowd */
	fsc_conn_enter(f.c, FSC_CONN_RUNNING);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd[i]), 0);
		more[i] = fsc_conns_add(f.conns, fd[i][0]);
	}
	fsc_conn_enter(more[1], FSC_CONN_BODY);
	nap(1600);
	for (int i = 0; i < 8; i++) {
		/* nine are open, three too many: the oldest three heads, and no body */
		ssize_t n = recv(fd[i][1], buf, sizeof(buf), MSG_DONTWAIT);
		if ((i == 0 || i == 2 || i == 3) != (n > 0))
			fail_msg("connection %d: %zd", i, n);
	}
	unsigned open;
	uint64_t n_cut;
	fsc_conns_count(f.conns, &open, &n_cut);
	assert_int_equal(n_cut, 3);
	for (int i = 0; i < 8; i++) {
		fsc_conns_remove(f.conns, more[i]);
		close(fd[i][0]);
		close(fd[i][1]);
	}
	shutdown(f.ours, SHUT_RDWR);
	read_to_end(&f, buf, sizeof(buf), &ended);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_that_left_stops_its_handler),
		cmocka_unit_test(a_hard_drain_stops_every_handler),
		cmocka_unit_test(a_body_whose_client_left_ends_when_all_that_came_is_read),
		cmocka_unit_test(a_body_whose_client_waits_goes_on),
		cmocka_unit_test(a_head_out_of_time_is_told_and_cut),
		cmocka_unit_test(a_body_above_the_least_rate_goes_on_and_one_below_is_cut),
		cmocka_unit_test(an_idle_connection_is_closed_by_a_drain_without_a_word),
		cmocka_unit_test(in_a_crowd_those_go_that_wait_longest_for_their_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
