/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server as a program: CPU per small answer beside an nginx that returns the same bytes, a 1 GiB upload beside `openssl dgst -sha256` of the same bytes,
 * 1,000 uploads at once. All CPU is that of the server process alone, read from /proc.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "tests/bench/bench.h"

#define PIECE (1u << 20)
#define GIB (1024u * PIECE)
#define SMALL_REQUESTS 64000
#define SMALL_CLIENTS 64
#define CROWD 1000
#define CROWD_BYTES (256u << 10)

struct server {
	pid_t pid;
	uint16_t port;
	char dir[64];
};

static void start(struct server *s)
{
	const char *build = getenv("FSC_BUILD");
	char program[512], line[256], *at;
	int out[2];
	FILE *f;

	snprintf(program, sizeof(program), "%s/fleetscope-server", build ? build : "build/release");
	snprintf(s->dir, sizeof(s->dir), "/tmp/fsc-bench-XXXXXX");
	if (!mkdtemp(s->dir) || pipe(out))
		bench_die("start");
	s->pid = fork();
	if (s->pid == 0) {
		dup2(out[1], 1);
		close(out[0]);
		execl(program, program, "--listen", "127.0.0.1:0", "--data", s->dir, "--workers",
		      "1", "--log-level", "error", (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	f = fdopen(out[0], "r");
	if (!f || !fgets(line, sizeof(line), f) || !(at = strrchr(line, ':')))
		bench_die("the server does not start");
	s->port = (uint16_t)strtoul(at + 1, NULL, 10);
}

static void stop(struct server *s)
{
	const char *const rm[] = { "rm", "-rf", s->dir, NULL };
	int status;

	kill(s->pid, SIGTERM);
	waitpid(s->pid, &status, 0);
	bench_spawn(rm, NULL);
}

static double process_cpu(pid_t pid)
{
	char path[64], text[1024] = "", *p;
	unsigned long user = 0, sys = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f) || !(p = strrchr(text, ')')))
		bench_die(path);
	fclose(f);
	for (int i = 0; p && i < 12; i++)
		p = strchr(p + 1, ' ');
	user = strtoul(p, &p, 10);
	sys = strtoul(p, NULL, 10);
	return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

static double server_cpu(const struct server *s)
{
	return process_cpu(s->pid);
}

static double server_peak_mib(const struct server *s)
{
	char path[64], text[256];
	double kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)s->pid);
	f = fopen(path, "r");
	while (f && fgets(text, sizeof(text), f))
		if (!strncmp(text, "VmHWM:", 6))
			kib = strtod(text + 6, NULL);
	if (f)
		fclose(f);
	return kib / 1024;
}

static int dial(const struct server *s)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(s->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		bench_die("connect");
	return fd;
}

static void send_all(int fd, const void *p, size_t n)
{
	for (const char *at = p; n;) {
		ssize_t put = send(fd, at, n, MSG_NOSIGNAL);

		if (put <= 0)
			bench_die("send");
		at += put;
		n -= (size_t)put;
	}
}

/* Reads one answer whose body fits the buffer; true when its status is `want`. */
static int answered(int fd, const char *want)
{
	char buf[8192];
	size_t n = 0;

	for (;;) {
		const char *end, *len;
		ssize_t got = recv(fd, buf + n, sizeof(buf) - 1 - n, 0);

		if (got <= 0)
			return 0;
		n += (size_t)got;
		buf[n] = '\0';
		end = strstr(buf, "\r\n\r\n");
		len = strstr(buf, "Content-Length: ");
		if (end && len && n >= (size_t)(end + 4 - buf) + strtoul(len + 16, NULL, 10))
			return !strncmp(buf + 9, want, 3);
	}
}

/* ---- the peer: one worker of nginx that returns the body of /healthz ---- */
#define NGINX_CONF                                                                          \
	"daemon off; worker_processes 1; pid %s/pid; error_log /dev/null;\n"                \
	"events { worker_connections 128; }\n"                                              \
	"http { access_log off; keepalive_requests 10000000; client_body_temp_path %s/b;\n" \
	" proxy_temp_path %s/p; fastcgi_temp_path %s/f; uwsgi_temp_path %s/u;"              \
	" scgi_temp_path %s/s;\n"                                                           \
	" server { listen 127.0.0.1:%u; default_type application/json;\n"                   \
	"  location / { return 200 '{\"status\":\"ok\"}'; } } }\n"

static uint16_t free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, n) ||
	    getsockname(fd, (struct sockaddr *)&a, &n))
		bench_die("a free port");
	close(fd);
	return ntohs(a.sin_port);
}

/* Its worker, once there is one; 0 when nginx is not installed. */
static pid_t worker_of(pid_t master)
{
	char path[64];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)master, (int)master);
	for (int i = 0; i < 100 && !pid && !waitpid(master, NULL, WNOHANG); i++) {
		usleep(20000);
		f = fopen(path, "r");
		if (f && fscanf(f, "%d", &pid) != 1)
			pid = 0;
		if (f)
			fclose(f);
	}
	return pid;
}

static pid_t start_nginx(struct server *s)
{
	const char *d = s->dir;
	char conf[128];
	FILE *f;

	snprintf(s->dir, sizeof(s->dir), "/tmp/fsc-bench-XXXXXX");
	if (!mkdtemp(s->dir))
		bench_die("start nginx");
	s->port = free_port();
	snprintf(conf, sizeof(conf), "%s/nginx.conf", d);
	f = fopen(conf, "w");
	if (!f)
		bench_die(conf);
	fprintf(f, NGINX_CONF, d, d, d, d, d, d, (unsigned)s->port);
	fclose(f);
	s->pid = fork();
	if (s->pid == 0) {
		execlp("nginx", "nginx", "-e", "/dev/null", "-c", conf, (char *)NULL);
		_exit(127);
	}
	return worker_of(s->pid);
}

/* CPU us a request of process pid: 64 connections that each wait for their answer, as wrk -c64 has them. */
static double small_answers_of(const struct server *s, pid_t pid)
{
	static const char ask[] = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
	double v[BENCH_RUNS];
	int fds[SMALL_CLIENTS];

	for (size_t c = 0; c < SMALL_CLIENTS; c++)
		fds[c] = dial(s);
	for (size_t run = 0; run < BENCH_RUNS; run++) {
		double before = process_cpu(pid);

		for (int i = 0; i < SMALL_REQUESTS / SMALL_CLIENTS; i++) {
			for (size_t c = 0; c < SMALL_CLIENTS; c++)
				send_all(fds[c], ask, sizeof(ask) - 1);
			for (size_t c = 0; c < SMALL_CLIENTS; c++)
				if (!answered(fds[c], "200"))
					bench_die("healthz");
		}
		v[run] = (process_cpu(pid) - before) / SMALL_REQUESTS * 1e6;
	}
	for (size_t c = 0; c < SMALL_CLIENTS; c++)
		close(fds[c]);
	return bench_median(v, BENCH_RUNS);
}

static void small_answers(const struct server *s)
{
	struct server nginx;
	pid_t worker = start_nginx(&nginx);
	double peer = worker ? small_answers_of(&nginx, worker) : 0;

	stop(&nginx);
	bench_report("nginx_small_json_cpu", peer, "us", 0, "");
	bench_report("http_small_json_cpu", small_answers_of(s, s->pid), "us", peer,
		     worker ? "nginx_return_200" : "nginx_not_installed");
}

static void head_of_upload(int fd, const char *name, size_t n)
{
	char head[256];
	int len = snprintf(head, sizeof(head),
			   "POST /api/v1/bundles?name=%s HTTP/1.1\r\nHost: "
			   "127.0.0.1\r\nContent-Length: %zu\r\n\r\n",
			   name, n);

	send_all(fd, head, (size_t)len);
}

/* The bytes differ in every run, so that each is stored anew. */
static void fill(char *piece, uint64_t seed)
{
	for (size_t i = 0; i < PIECE; i += 8) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		memcpy(piece + i, &seed, 8);
	}
}

static void big_upload(const struct server *s)
{
	const char *const digest[] = { "openssl", "dgst", "-sha256", "/tmp/fsc-bench-1g", NULL };
	char *piece = malloc(PIECE);
	double v[3], peer;
	int file = open(digest[3], O_CREAT | O_TRUNC | O_WRONLY, 0600);

	for (size_t run = 0; run < 3; run++) {
		int fd = dial(s);
		double before = server_cpu(s);

		head_of_upload(fd, "big", GIB);
		for (size_t i = 0; i < GIB / PIECE; i++) {
			fill(piece, run * 100000 + i + 1);
			send_all(fd, piece, PIECE);
			if (!run && write(file, piece, PIECE) != PIECE)
				bench_die("write");
		}
		if (!answered(fd, "202"))
			bench_die("upload");
		v[run] = server_cpu(s) - before;
		close(fd);
	}
	close(file);
	peer = bench_spawn_median(digest, NULL);
	unlink(digest[3]);
	free(piece);
	bench_report("http_upload_1gib_cpu", bench_median(v, 3), "s", peer, "openssl_dgst_sha256");
	bench_report("http_upload_1gib_peak", server_peak_mib(s), "MiB", 32, "limit_mib");
}

static void crowd(const struct server *s)
{
	static int fds[CROWD];
	char *body = malloc(PIECE);
	int stored = 0;

	for (int i = 0; i < CROWD; i++) {
		fds[i] = dial(s);
		head_of_upload(fds[i], "crowd", CROWD_BYTES);
	}
	/* Half of each first, so that all are open at the same time. */
	for (int half = 0; half < 2; half++)
		for (int i = 0; i < CROWD; i++) {
			fill(body, (uint64_t)(2 * i + half + 1) << 20);
			send_all(fds[i], body, CROWD_BYTES / 2);
		}
	for (int i = 0; i < CROWD; i++) {
		stored += answered(fds[i], "202");
		close(fds[i]);
	}
	free(body);
	bench_report("http_crowd_stored", stored, "uploads", CROWD, "sent");
	bench_report("http_crowd_peak", server_peak_mib(s), "MiB", 256, "limit_mib");
}

int main(void)
{
	struct server s;

	start(&s);
	small_answers(&s);
	big_upload(&s);
	crowd(&s);
	stop(&s);
	return 0;
}
