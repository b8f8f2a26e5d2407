/* SPDX-License-Identifier: Apache-2.0 */
/* Databases as Nsight Systems exports them, made by SQL in the test. There is no public sample. */
#ifndef FSC_TESTS_SUPPORT_NSYS_DB_H
#define FSC_TESTS_SUPPORT_NSYS_DB_H

#include <sqlite3.h>

#include "tests/support/read_trace.h"

/* Process 4321, thread 4322, on the first machine (hardware 1, machine 0). */
#define NSYS_PID "((1 << 56) | (4321 << 24))"
#define NSYS_TID "((1 << 56) | (4321 << 24) | 4322)"
#define NSYS_EPOCH 1700000000000000000LL

#define NSYS_STRINGS                                                                        \
	"CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"    \
	"INSERT INTO StringIds VALUES (0,''),(1,'void gemm<float>(int)'),(2,'gemm'),"       \
	"(3,'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'),(4,'cudaLaunchKernel_v7000'),"      \
	"(5,'cudaMemcpyAsync_v3020'),(6,'cudaStreamSynchronize_v3020'),(7,'train worker')," \
	"(8,'iteration'),(9,'pthread_mutex_lock'),(10,'cuMemAlloc_v2'),(11,'forward');"

#define NSYS_KERNELS                                                                              \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, " \
	"deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER, "         \
	"streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, "                   \
	"demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, "       \
	"launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, "          \
	"gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, "                \
	"blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "             \
	"staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, "             \
	"graphNodeId INTEGER);"                                                                   \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "                                          \
	"(5000,7000,2,1,NULL,7,77," NSYS_PID ",1,2,NULL,1,0,32,8,2,1,128,1,1,1024,16,NULL),"      \
	"(7000,9000,2,1,NULL,13,78," NSYS_PID ",3,3,NULL,1,0,96,4,1,1,512,1,1,0,0,5001);"

#define NSYS_COPIES                                                                               \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, " \
	"contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "         \
	"bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"                     \
	"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES "                                          \
	"(9500,10500,2,1,7,79," NSYS_PID ",4000,1,0,2);"                                          \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, " \
	"contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "         \
	"value INTEGER, bytes INTEGER, memKind INTEGER);"                                         \
	"INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES "                                          \
	"(10600,10700,2,1,7,0," NSYS_PID ",0,64,2);"                                              \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId "     \
	"INTEGER, "                                                                               \
	"contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, "         \
	"graphId INTEGER, graphExecId INTEGER);"                                                  \
	"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES "                                     \
	"(11000,12000,2,1,13,82," NSYS_PID ",6,7);"                                               \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, "          \
	"deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, "          \
	"globalPid INTEGER, syncType INTEGER, eventId INTEGER);"                                  \
	"INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES "                                 \
	"(4500,9100,2,1,7,80," NSYS_PID ",3,0);"

#define NSYS_CALLS                                                                                 \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, " \
	"eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "                  \
	"nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);"             \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "                                          \
	"(1000,1500,0," NSYS_TID ",77,4,0,NULL),(2000,2500,0," NSYS_TID ",78,4,0,NULL),"           \
	"(3000,3500,0," NSYS_TID ",79,5,0,NULL),(4400,9200,0," NSYS_TID ",80,6,0,NULL),"           \
	"(9300,9400,1," NSYS_TID ",81,10,0,NULL);"

#define NSYS_NVTX                                                                               \
	"CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT " \
	"NULL, "                                                                                \
	"rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, "      \
	"endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, "         \
	"jsonTextId INTEGER, jsonText TEXT);"                                                   \
	"INSERT INTO NVTX_EVENTS (start,end,eventType,text,globalTid,textId,domainId) VALUES "  \
	"(500,20000,59,'step 1'," NSYS_TID ",NULL,0),(600,9250,59,NULL," NSYS_TID ",11,3),"     \
	"(700,NULL,34,'a mark'," NSYS_TID ",NULL,0),(0,NULL,75,'NCCL'," NSYS_TID ",NULL,3);"    \
	"INSERT INTO NVTX_EVENTS "                                                              \
	"(start,end,eventType,rangeId,text,globalTid,endGlobalTid,domainId) "                   \
	"VALUES (100,3000,60,1,'r1'," NSYS_TID "," NSYS_TID "+1,0),"                            \
	"(2000,5000,60,2,'r2'," NSYS_TID "," NSYS_TID ",0),"                                    \
	"(3000,4000,60,3,'r3'," NSYS_TID "," NSYS_TID ",0);"

#define NSYS_REST                                                                                  \
	"CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER, "   \
	"returnValue INTEGER);"                                                                    \
	"INSERT INTO OSRT_API VALUES (9450,9460," NSYS_TID ",9,0);"                                \
	"CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);" \
	"INSERT INTO ThreadNames VALUES (7,20," NSYS_TID ");"                                      \
	"CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"                      \
	"INSERT INTO PROCESSES VALUES (" NSYS_PID ",4321,'python3');"                              \
	"CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER);" \
	"INSERT INTO TARGET_INFO_GPU VALUES (0,2,'NVIDIA H100 80GB HBM3',85899345920);"            \
	"CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT);"          \
	"INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000,'x');"             \
	"CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, "   \
	"nameEnum INTEGER, value TEXT);"                                                           \
	"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0,'d','Hostname',1,'node-9'),"                 \
	"(0,'d','Environment',2,'SECRET=1');"                                                      \
	"CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER, globalTid "     \
	"INTEGER);"                                                                                \
	"INSERT INTO SCHED_EVENTS VALUES (1,0,1," NSYS_TID "),(2,0,0," NSYS_TID ");"               \
	"CREATE TABLE SOME_FUTURE_EVENTS (start INTEGER);"                                         \
	"CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER, name TEXT, label TEXT);"

#define NSYS_WHOLE                                                                           \
	"PRAGMA page_size = 512;" NSYS_STRINGS NSYS_KERNELS NSYS_COPIES NSYS_CALLS NSYS_NVTX \
		NSYS_REST

/* Writes the database of these statements. */
static inline void nsys_make(const char *path, const char *sql)
{
	sqlite3 *db = NULL;
	char *msg = NULL;

	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &msg) != SQLITE_OK)
		fail_msg("%s", msg);
	sqlite3_close(db);
}

/* The trace of a database of these statements, read in place. */
static inline struct fsc_trace *nsys_read(const char *sql, struct fsc_err *err)
{
	char path[300], dir[200];
	struct fsc_trace *t;

	snprintf(path, sizeof(path), "%s/x.sqlite", test_tmpdir(dir, sizeof(dir)));
	nsys_make(path, sql);
	t = read_trace_file(path, err);
	unlink(path);
	rmdir(dir);
	return t;
}

static inline struct fsc_trace *nsys_must_read(const char *sql)
{
	struct fsc_err err = FSC_ERR_INIT;
	struct fsc_trace *t = nsys_read(sql, &err);

	if (!t)
		fail_msg("%s: %s at %lld", err.code, err.msg, (long long)err.offset);
	assert_string_equal(str_of(t, t->meta.format), "nsys");
	return t;
}

#endif
