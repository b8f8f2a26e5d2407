/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of keep and notes against the default implementations: SQLite and a folder. */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/notes_contract.c"
