/* SPDX-License-Identifier: Apache-2.0 */
/* fleetscope-demo: writes the synthetic capture to a file, for trying uploads and for benchmarks. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "demo/demo.h"

struct cli {
	struct fsc_demo_opts demo;
	const char *out;
};

static const struct argp_option options[] = {
	{ "ranks", 'r', "N", 0, "Ranks of the job, 1 to 64 (default 8)", 0 },
	{ "steps", 's', "N", 0, "Steps recorded, 1 to 1000 (default 10)", 0 },
	{ "layers", 'l', "N", 0, "Transformer blocks, 1 to 200 (default 12)", 0 },
	{ "seed", 'S', "N", 0, "Seed: the same seed gives the same bytes (default 7)", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct cli *c = state->input;
	uint64_t v = 0;

	switch (key) {
	case 'r':
	case 's':
	case 'l':
	case 'S':
		if (!fsc_parse_u64(&v, arg, strlen(arg)))
			argp_error(state, "not a number: %s", arg);
		if (key == 'S')
			c->demo.seed = v;
		else
			*(key == 'r'   ? &c->demo.ranks
			  : key == 's' ? &c->demo.steps
				       : &c->demo.layers) =
				v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
		return 0;
	case ARGP_KEY_ARG:
		if (c->out)
			argp_usage(state);
		c->out = arg;
		return 0;
	case ARGP_KEY_END:
		if (!c->out)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options,       parse,
		"OUT.tar.zst", "Writes a synthetic multi-rank training capture as one bundle.",
		NULL,	       NULL,
		NULL
	};
	struct cli c = { .demo = FSC_DEMO_OPTS_INIT };
	struct fsc_err err = FSC_ERR_INIT;
	enum fsc_status st;
	int fd;

	argp_parse(&argp, argc, argv, 0, NULL, &c);
	fd = open(c.out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	st = fd < 0 ? fsc_err_sys(&err, errno, "%s", c.out) : fsc_demo_bundle(fd, &c.demo, &err);
	if (fd >= 0 && close(fd) && !st)
		st = fsc_err_sys(&err, errno, "%s", c.out);
	if (st)
		fprintf(stderr, "fleetscope-demo: %s\n", err.msg);
	return st ? 1 : 0;
}
