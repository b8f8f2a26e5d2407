/* SPDX-License-Identifier: Apache-2.0 */
/* Every limit on input in one place. Changing one is an interface change: docs/limits.md lists them. */
#ifndef FSC_BASE_LIMITS_H
#define FSC_BASE_LIMITS_H

#define FSC_KIB (1024ULL)
#define FSC_MIB (1024ULL * FSC_KIB)
#define FSC_GIB (1024ULL * FSC_MIB)

/* compression and archives */
#define FSC_MAX_RATIO 200ULL		     /* out/in, real traces are 13..21 */
#define FSC_RATIO_GRACE_BYTES (64 * FSC_MIB) /* not checked before this many bytes out */
#define FSC_MAX_COMPRESSION_NEST 3
#define FSC_MAX_ZSTD_WINDOW_LOG 27	     /* 128 MiB, what the zstd tool takes unasked */
#define FSC_LARGE_ZSTD_WINDOW (32 * FSC_MIB) /* above it the grace is half */
#define FSC_MAX_ARCHIVE_ENTRIES 10000u
#define FSC_MAX_ZIP_DIRECTORY_BYTES (8 * FSC_MIB)
#define FSC_MAX_ARCHIVE_BYTES (64 * FSC_GIB)
#define FSC_MAX_ENTRY_BYTES (16 * FSC_GIB)
#define FSC_MAX_PATH_BYTES 512u
#define FSC_MAX_MANIFEST_BYTES (8 * FSC_MIB)

/* trace JSON */
#define FSC_JSON_WINDOW (8 * FSC_MIB) /* one event must fit */
#define FSC_MAX_JSON_DEPTH 64u
#define FSC_MAX_EVENTS 200000000ULL /* per trace */
#define FSC_MAX_STRINGS 4000000u    /* distinct strings per trace */
#define FSC_MAX_STRING_BYTES (256 * FSC_MIB)
#define FSC_MAX_TRACKS 100000u
#define FSC_MAX_NEST 512u		   /* slice nesting per track, as trace_processor */
#define FSC_MAX_META_BYTES (1 * FSC_MIB)   /* top-level metadata kept as JSON */
#define FSC_MAX_ARGS_BYTES (1 * FSC_MIB)   /* canonical args of one event */
#define FSC_MAX_STACK_FRAMES 1000000u	   /* entries of stackFrames */
#define FSC_MAX_STACK_DEPTH 512u	   /* frames of one stack */
#define FSC_MAX_STACK_REFS 4000000u	   /* events that name a frame */
#define FSC_MAX_STACK_BYTES (64 * FSC_MIB) /* args of those events, until the frames are known */
#define FSC_MAX_STACK_TEXT (256 * FSC_MIB) /* text of different stacks written out */

/* protobuf traces */
#define FSC_MAX_PACKET_BYTES (64 * FSC_MIB) /* one packet, also unpacked */
/* binary traces */
#define FSC_MAX_PLANE_BYTES (1 * FSC_GIB)    /* one plane of an XSpace, which is held in memory */
#define FSC_MAX_DATABASE_BYTES (1 * FSC_GIB) /* a database that has to be copied to be read */

/* control documents (jansson) and HTTP */
#define FSC_MAX_CONTROL_JSON (8 * FSC_MIB)
#define FSC_MAX_FACT_FRAME (1 * FSC_MIB)
#define FSC_MAX_NOTES 1000u /* per trace */
#define FSC_MAX_NOTE_BYTES 2000u
#define FSC_MAX_UPLOAD_BYTES (16 * FSC_GIB)
#define FSC_MAX_UPLOAD_SESSIONS 4096u /* resumable uploads of a project that go on */
#define FSC_MAX_UPLOAD_AGE_S 86400u   /* then what was not completed is given up */

#endif
