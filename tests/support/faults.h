/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the n-th allocation, or the n-th call that changes files, of this process fail. A program that links
 * faults.c has its definitions of malloc and of the system calls in front of everybody's: ours, SQLite's,
 * libarchive's. Any thread may call what is counted; arming is for one thread while no other runs.
 */
#ifndef FSC_TESTS_SUPPORT_FAULTS_H
#define FSC_TESTS_SUPPORT_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
	FAULT_NONE,
	FAULT_ALLOC, /* malloc, calloc, realloc: NULL */
	FAULT_IO, /* on files and folders: write, pwrite, ftruncate, fallocate ENOSPC; fsync, fdatasync, rename,
		      * unlink, open for writing, mkdir EIO */
};

/* From now on counts, and fails the n-th once (0: none). */
void faults_arm(enum fault_kind kind, uint64_t n);
/* No more counting; the figures stay. */
void faults_disarm(void);
uint64_t faults_count(void);
bool faults_fired(void);
/* The call that failed and on what: "fdatasync store.db-wal"; for memory who called: "malloc libarchive.so.13". */
const char *faults_where(void);
/* The calls of this thread are not counted until it says so again: what polls makes no fixed number of them. */
void faults_spare(bool yes);
/* While counting: a digest of the call stack of the n-th goes to stacks[n - 1]. Before arming. */
void faults_record(uint32_t *stacks, uint64_t cap);
/* Where faults_where() keeps its text (FAULTS_WHERE bytes): memory that outlives the process. Before arming. */
#define FAULTS_WHERE 160
void faults_tell(char *where);
/* Leaks of this process so far, seen by the sanitizer in it; false where there is none. Prints them. */
bool faults_leaked(void);

#endif
