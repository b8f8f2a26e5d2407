/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `fleetscope-collector push`: sends files to the server, each as one bundle named by its content, so that
 * pushing again is harmless. Standard output has one line a file that a script can read:
 *   queued <bundle id> <path>
 *   ready <bundle id> <path> <url of its page>
 * Errors go to standard error as "fleetscope-collector: <path>: <code>: <message>".
 */
#ifndef FSC_COLLECTOR_CLI_PUSH_H
#define FSC_COLLECTOR_CLI_PUSH_H

/* Exit codes. When files differ, the largest one wins. */
enum fsc_push_exit {
	FSC_PUSH_OK = 0,
	FSC_PUSH_REFUSED =
		1, /* the server refused a file, or could not index it: pushing again will not help */
	FSC_PUSH_USAGE = 2,	/* command line, or a local file that cannot be read */
	FSC_PUSH_NO_SERVER = 3, /* no answer, or only temporary errors, after all retries */
	FSC_PUSH_NOT_YET =
		4, /* --wait: stored, but not known to be indexed: --wait-timeout, or no scope read */
};

int fsc_cli_push(int argc, char **argv);

#endif
