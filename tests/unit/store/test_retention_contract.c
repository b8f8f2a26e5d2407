/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of store/retention.h against the default implementations: SQLite and a folder. */
#define CONTRACT_STORE_URL "sqlite:%s/store.db"
#define CONTRACT_BLOBS_URL "dir:%s/blobs"
#include "tests/store/retention_contract.c"
