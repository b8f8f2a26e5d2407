/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of fleetscope-server. Each returns the exit status of the process. */
#ifndef FSC_SERVER_CLI_H
#define FSC_SERVER_CLI_H

#include "server/app.h"

int fsc_cli_open(const struct fsc_config *cfg);	    /* cli_open.c */
int fsc_cli_token(const struct fsc_config *cfg);    /* cli_token.c */
int fsc_cli_backup(const struct fsc_config *cfg);   /* cli_backup.c */
int fsc_cli_restore(const struct fsc_config *cfg);  /* cli_backup.c */
int fsc_cli_verify(const struct fsc_config *cfg);   /* cli_verify.c */
int fsc_cli_config(const struct fsc_config *cfg);   /* cli_config.c */
int fsc_cli_mistakes(const struct fsc_config *cfg); /* cli_config.c: prints them; 2 */
int fsc_cli_fail(const struct fsc_err *err);	    /* prints it; 1 */
void fsc_cli_listening(const struct fsc_server *s); /* prints the address, and a new first token */

#endif
