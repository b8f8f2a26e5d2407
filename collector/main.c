/* SPDX-License-Identifier: Apache-2.0 */
/* fleetscope-collector: runs on hosts; one verb a job. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "collector/cli/push.h"

static const struct verb {
	const char *name, *what;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{ "push", "send files to the server", fsc_cli_push },
};

static int usage(FILE *to, int rc)
{
	fprintf(to, "Usage: fleetscope-collector VERB [OPTION...]\n\n");
	for (size_t i = 0; i < FSC_ARRAY_LEN(verbs); i++)
		fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].what);
	fprintf(to, "\nfleetscope-collector VERB --help tells its options.\n");
	return rc;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return usage(stderr, 2);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return usage(stdout, 0);
	for (size_t i = 0; i < FSC_ARRAY_LEN(verbs); i++) {
		if (!strcmp(argv[1], verbs[i].name)) {
			char *name = argv[0];

			argv[1] = name;
			return verbs[i].run(argc - 1, argv + 1);
		}
	}
	fprintf(stderr, "fleetscope-collector: no verb \"%s\"\n", argv[1]);
	return usage(stderr, 2);
}
