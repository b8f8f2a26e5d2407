/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SQL texts of the named queries, for SQLite. Literal, with numbered parameters; the order of columns is
 * what the typed functions of lib/store read. 0 in an _at column means "not yet".
 */
#include "store/sqlite/sqlite_int.h"

#define TOKEN_COLUMNS                                                                             \
	"t.id, t.project, p.name, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at, " \
	"t.revoked_at, t.prefix, t.created_by "
/* any; exactly; or, when it ends with a dot, all that begin so */
#define AUDIT_ACTION(p)                                                     \
	"(" p " IS NULL OR action = " p " OR (substr(" p ", -1) = '.' AND " \
	"substr(action, 1, length(" p ")) = " p "))"
/* parameters: 1 project, 2 id */
#define BUNDLE_COLUMNS                                                                          \
	"id, project, sha256, bytes, name, job, host, capture, rank, state, received_at, "      \
	"started_at, finished_at, tries, stage, member, done, total, events, err_code, "        \
	"err_message, err_file, err_offset, n_traces, n_failures, losses_kinds, losses_count, " \
	"(SELECT COUNT(*) FROM tombstone d WHERE d.kind = 'trace' AND d.bundle = bundle.id "    \
	"AND d.reason = 'user'), blob_deleted_at "

#define LISTING_COLUMNS                                                                         \
	"sort_id, trace, project, bundle, bundle_name, name, member, slot, format, job, host, " \
	"capture, rank, world_size, has_epoch, t_base_ns, t_min_ns, t_max_ns, slices, "         \
	"instants, flows, counters, tracks, events, launch_pairs, launch_none, "                \
	"launch_ambiguous, synthetic, blob_bytes, segment_bytes, segment_version, "             \
	"analysis_version, gpu_busy_ppm, exposed_comm_ppm, losses_kinds, losses_count, "        \
	"received_at, indexed_at, state, stage, done, total, started_at, err_code, "            \
	"err_message, err_file, err_offset, segment, keep, blob_deleted_at, "                   \
	"CASE WHEN trace IS NULL THEN (SELECT finished_at FROM bundle f WHERE f.id = sort_id) " \
	"ELSE 0 END "

/* One word of a search: in the text of the row, the bundle's id, or in the name of a kernel of the trace. */
#define WORD(p)                                                                                \
	"AND (" p " IS NULL OR search LIKE " p " ESCAPE '\\' OR " p " = '%' || bundle || '%' " \
	"OR trace IN (SELECT k.trace "                                                         \
	"FROM name n JOIN kernel k ON k.name = n.id WHERE k.scope = 0 AND n.text LIKE " p " "  \
	"ESCAPE '\\')) "
/* parameters: 1 project; 2-5 words; 6-9 state; 10-13 job; 14-17 host; 18-21 capture; 22 keep or NULL */
#define IN_STATE "(?6 IS NULL OR state IN (?6, ?7, ?8, ?9)) "
#define IN_JOB "(?10 IS NULL OR COALESCE(job, '') IN (?10, ?11, ?12, ?13)) "
#define IN_HOST "(?14 IS NULL OR COALESCE(host, '') IN (?14, ?15, ?16, ?17)) "
#define LIST_BASE                                                                                \
	"FROM listing WHERE project = ?1 " WORD("?2") WORD("?3") WORD("?4")                      \
		WORD("?5") "AND (?18 IS NULL OR COALESCE(capture, '') IN (?18, ?19, ?20, ?21)) " \
			   "AND (?22 IS NULL OR keep = ?22) "
#define LIST_WHERE LIST_BASE "AND " IN_STATE "AND " IN_JOB "AND " IN_HOST
/* further parameters: 23 key and 24 id of the last row of the page before, or NULL; 25 limit */
#define LIST_PAGE(key, cmp, dir)                                                                  \
	"SELECT " LISTING_COLUMNS ", " key " AS sort_key " LIST_WHERE "AND (?24 IS NULL OR (" key \
	", sort_id) " cmp " (?23, ?24)) "                                                         \
	"ORDER BY sort_key " dir ", sort_id " dir " LIMIT ?25"
#define LIST_BOTH(name, key)                              \
	[FSC_Q_##name##_D] = LIST_PAGE(key, "<", "DESC"), \
	[FSC_Q_##name##_A] = LIST_PAGE(key, ">", "ASC")
/* clang-format off */
/* Number of the facet, value, count: each counted with every filter but its own. One pass over the rows. */
#define FACET(no, column, where) \
	"SELECT " no " AS facet, " column " AS value, COUNT(*) AS c FROM m WHERE " where
#define LIST_FACETS \
	"WITH m AS MATERIALIZED (SELECT state, COALESCE(job, '') AS job, COALESCE(host, '') AS host, " \
	IN_STATE "AS in_state, " IN_JOB "AS in_job, " IN_HOST "AS in_host " LIST_BASE ") " \
	FACET("0", "''", "in_state AND in_job AND in_host ") "UNION ALL " \
	FACET("1", "state", "in_job AND in_host GROUP BY state ") "UNION ALL " \
	FACET("2", "job", "in_state AND in_host GROUP BY job ") "UNION ALL " \
	FACET("3", "host", "in_state AND in_job GROUP BY host ") "ORDER BY facet, c DESC, value"
/* clang-format on */

/* parameters: 1 trace, 2 scope, 3-6 words */
#define KERNEL_WHERE                                                                      \
	"FROM kernel k JOIN name n ON n.id = k.name WHERE k.trace = ?1 AND k.scope = ?2 " \
	"AND (?3 IS NULL OR n.text LIKE ?3 ESCAPE '\\') "                                 \
	"AND (?4 IS NULL OR n.text LIKE ?4 ESCAPE '\\') "                                 \
	"AND (?5 IS NULL OR n.text LIKE ?5 ESCAPE '\\') "                                 \
	"AND (?6 IS NULL OR n.text LIKE ?6 ESCAPE '\\') "
/* further parameters: 7 limit (negative: none), 8 offset */
#define KERNEL_PAGE(key, dir)                                                        \
	"SELECT n.text, k.kind, k.count, k.sum_ns, k.min_ns, k.max_ns " KERNEL_WHERE \
	"ORDER BY " key " " dir ", n.text, k.kind LIMIT ?7 OFFSET ?8"
#define KERNEL_BOTH(name, key)                                                                    \
	[FSC_Q_##name##_D] = KERNEL_PAGE(key, "DESC"), [FSC_Q_##name##_A] = KERNEL_PAGE(key, "AS" \
											     "C")

#define UPLOAD_COLUMNS                                                  \
	"id, project, length, sha256, name, job, host, capture, rank, " \
	"idempotency_key, actor, created_at, expires_at, bundle, duplicate "

/* parameters: 1 id of the bundle or trace, 2 now, 3 reason, 4 actor, 5 detail */
#define TOMBSTONE_INSERT                                                                    \
	"INSERT OR REPLACE INTO tombstone (id, project, kind, bundle, member, slot, name, " \
	"deleted_at, reason, actor, detail) "
#define TOMBSTONE_OF_TRACE \
	TOMBSTONE_INSERT   \
	"SELECT id, project, 'trace', bundle, member, slot, name, ?2, ?3, ?4, ?5 FROM trace "
/* The rows of the list that a delete means; with the size of the blob when no other bundle has it. */
#define DELETE_PLAN(where)                                                                    \
	"SELECT l.bundle, l.trace, l.name, l.segment_bytes, l.keep, b.n_traces, "             \
	"CASE WHEN b.blob_deleted_at <> 0 THEN 0 ELSE b.bytes END, b.name "                   \
	"FROM listing l JOIN bundle b ON b.id = l.bundle WHERE l.project = ?1 AND " where " " \
	"ORDER BY l.bundle, l.trace"

/* Bytes of an upload that are kept. */
#define LIVE_BYTES "CASE WHEN b.blob_deleted_at = 0 THEN b.bytes ELSE 0 END"
/* parameter 1: project. What the traces of each bundle take. */
#define BUNDLE_SEGMENTS                                                                        \
	"LEFT JOIN (SELECT t.bundle, COUNT(*) AS n, SUM(t.segment_bytes) AS bytes, "           \
	"MIN(t.job) AS job, MAX(EXISTS (SELECT 1 FROM trace_keep k WHERE k.trace = t.id)) AS " \
	"kept FROM trace t WHERE t.project = ?1 GROUP BY t.bundle) s ON s.bundle = b.id "
#define STORAGE_PART                                                                      \
	"COUNT(*), COALESCE(SUM(s.n), 0), SUM(" LIVE_BYTES " + COALESCE(s.bytes, 0)) AS " \
	"part_bytes FROM bundle b " BUNDLE_SEGMENTS "WHERE b.project = ?1 "

const char *const fsc_sqlite_queries[FSC_Q_COUNT] = {
	[FSC_Q_LAST_ID] = "SELECT MAX(id) FROM (SELECT MAX(id) AS id FROM bundle UNION ALL "
			  "SELECT MAX(id) "
			  "FROM trace UNION ALL SELECT MAX(id) FROM token UNION ALL SELECT "
			  "MAX(id) FROM "
			  "audit UNION ALL SELECT MAX(id) FROM upload UNION ALL SELECT MAX(id) "
			  "FROM tombstone UNION ALL SELECT MAX(id) FROM note UNION ALL SELECT "
			  "MAX(segment) FROM trace)",
	[FSC_Q_HEALTH] = "SELECT COUNT(*) FROM project WHERE id = 1",

	/* projects */
	[FSC_Q_PROJECT_FIND] = "SELECT id FROM project WHERE name = ?1",
	[FSC_Q_PROJECT_INSERT] = "INSERT INTO project (id, name, created_at) VALUES (?1, ?2, ?3) "
				 "ON CONFLICT (name) DO NOTHING",
	[FSC_Q_PROJECT_LIST] = "SELECT id, name, created_at FROM project ORDER BY name",
	[FSC_Q_PROJECT_NAME] = "SELECT name FROM project WHERE id = ?1",

	/* bundles */
	[FSC_Q_BUNDLE_BY_DIGEST] =
		"SELECT id, state, name, job, host, capture, rank, blob_deleted_at FROM bundle "
		"WHERE project = ?1 AND sha256 = ?2",
	[FSC_Q_BUNDLE_INSERT] =
		"INSERT INTO bundle (id, project, sha256, bytes, name, job, host, capture, "
		"rank, "
		"search, received_at, state) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'queued')",
	[FSC_Q_BUNDLE_GET] = "SELECT " BUNDLE_COLUMNS "FROM bundle WHERE project = ?1 AND id = ?2",
	[FSC_Q_BUNDLE_PROJECT] = "SELECT project FROM bundle WHERE id = ?1",
	/* 1 project, 2 state or NULL, 3 id before which or NULL, 4 limit */
	[FSC_Q_BUNDLE_LIST] = "SELECT " BUNDLE_COLUMNS
			      "FROM bundle WHERE project = ?1 AND (?2 IS NULL OR state = ?2) "
			      "AND (?3 IS NULL OR id < ?3) ORDER BY id DESC LIMIT ?4",
	[FSC_Q_BUNDLE_COUNT] = "SELECT COUNT(*) FROM bundle WHERE project = ?1 "
			       "AND (?2 IS NULL OR state = ?2)",
	[FSC_Q_BUNDLE_FAILURES] = "SELECT member, outcome, code, message, byte_offset FROM failure "
				  "WHERE bundle = ?1 ORDER BY n",
	[FSC_Q_BUNDLE_LOSSES] = "SELECT l.code, SUM(l.count) AS c, NULL FROM trace t "
				"JOIN loss l ON l.trace = t.id WHERE t.bundle = ?1 "
				"GROUP BY l.code ORDER BY c DESC, l.code",
	[FSC_Q_BUNDLE_TRACES] =
		"SELECT id, name, member, slot, rank, segment, format FROM trace WHERE bundle = ?1 "
		"ORDER BY member, slot",
	[FSC_Q_BUNDLE_DELETE] = "DELETE FROM bundle WHERE project = ?1 AND id = ?2",
	[FSC_Q_BUNDLE_REFS] = "SELECT COUNT(*) FROM bundle WHERE sha256 = ?1 "
			      "AND blob_deleted_at = 0",
	/* 1 bundle */
	[FSC_Q_BUNDLE_QUEUE] = "UPDATE bundle SET state = 'queued', stage = '', member = "
			       "'', done = 0, total = 0, "
			       "events = 0 WHERE id = ?1",
	/* 1 bundle, 2 now, 3 tries (1 for the first) */
	[FSC_Q_BUNDLE_START] = "UPDATE bundle SET state = 'indexing', stage = '', member = "
			       "'', done = 0, total = "
			       "0, "
			       "events = 0, finished_at = 0, tries = ?3, "
			       "started_at = CASE WHEN ?3 > 1 AND started_at > 0 THEN "
			       "started_at ELSE ?2 END "
			       "WHERE id = ?1",
	[FSC_Q_BUNDLE_PROGRESS] =
		"UPDATE bundle SET stage = ?2, member = ?3, done = ?4, total = ?5, "
		"events = ?6 WHERE id = ?1 AND state = 'indexing'",
	/* 1 bundle, 2 now, 3-6 code, message, file, offset */
	[FSC_Q_BUNDLE_FAIL] = "UPDATE bundle SET state = 'failed', finished_at = ?2, stage "
			      "= '', member = '', "
			      "err_code = ?3, err_message = ?4, err_file = ?5, err_offset "
			      "= ?6 WHERE id = ?1",
	/* 1 bundle, 2 now, 3 state, 4-7 code, message, file, offset, 8 traces, 9 failures */
	[FSC_Q_BUNDLE_FINISH] =
		"UPDATE bundle SET state = ?3, finished_at = ?2, stage = '', member = '', "
		"done = "
		"0, "
		"total = 0, err_code = ?4, err_message = ?5, err_file = ?6, err_offset = "
		"?7, "
		"n_traces = ?8, n_failures = ?9, "
		"events = (SELECT COALESCE(SUM(events), 0) FROM trace WHERE bundle = ?1), "
		"losses_kinds = (SELECT COUNT(DISTINCT l.code) FROM trace t JOIN loss l "
		"ON l.trace = t.id WHERE t.bundle = ?1), "
		"losses_count = (SELECT COALESCE(SUM(losses_count), 0) FROM trace WHERE "
		"bundle = "
		"?1) "
		"WHERE id = ?1",
	/* after leases were released */
	[FSC_Q_BUNDLE_REQUEUE_IDLE] =
		"UPDATE bundle SET state = 'queued' WHERE state = 'indexing' AND id IN "
		"(SELECT subject FROM job WHERE kind = 1 AND lease_token IS NULL)",
	[FSC_Q_BUNDLE_META_UPSERT] =
		"INSERT INTO bundle_meta (bundle, manifest_json) VALUES (?1, ?2) "
		"ON CONFLICT (bundle) DO UPDATE SET manifest_json = excluded.manifest_json",
	[FSC_Q_BUNDLE_META] = "SELECT manifest_json FROM bundle_meta WHERE bundle = ?1",
	[FSC_Q_IDEMPOTENCY_FIND] = "SELECT b.id, b.sha256 FROM idempotency_key i JOIN bundle b "
				   "ON b.id = i.bundle WHERE i.project = ?1 AND i.key = ?2",
	[FSC_Q_IDEMPOTENCY_INSERT] =
		"INSERT INTO idempotency_key (project, key, bundle, created_at) "
		"VALUES (?1, ?2, ?3, ?4) ON CONFLICT (project, key) DO NOTHING",

	/* the queue */
	[FSC_Q_JOB_INSERT] =
		"INSERT INTO job (id, project, kind, subject, created_at, due_at) "
		"VALUES (?1, ?2, ?3, ?4, ?5, 0) ON CONFLICT (kind, subject) DO NOTHING",
	[FSC_Q_JOB_DELETE_SUBJECT] = "DELETE FROM job WHERE kind = ?1 AND subject = ?2",
	[FSC_Q_JOB_LEASED] = "SELECT COUNT(*) FROM job WHERE kind = ?1 AND subject = ?2 "
			     "AND lease_token IS NOT NULL",
	/* 1 now, 2 farthest time that makes sense: past it the clock has jumped back */
	[FSC_Q_JOB_NEXT] = "SELECT id, kind, project, subject, tries, interrupts FROM job "
			   "WHERE lease_token IS NULL AND (due_at <= ?1 OR due_at > ?2) "
			   "ORDER BY due_at, id LIMIT 1",
	[FSC_Q_JOB_EXPIRED] =
		"SELECT id, kind, project, subject, tries, interrupts FROM job "
		"WHERE lease_token IS NOT NULL AND (lease_until <= ?1 OR lease_until > ?2) "
		"ORDER BY lease_until, id LIMIT 1",
	[FSC_Q_JOB_TAKE] = "UPDATE job SET tries = tries + 1, lease_owner = ?2, lease_token = ?3, "
			   "lease_until = ?4 WHERE id = ?1",
	[FSC_Q_JOB_DELETE] = "DELETE FROM job WHERE id = ?1",
	[FSC_Q_JOB_BEAT] = "UPDATE job SET lease_until = ?3 WHERE id = ?1 AND lease_token = ?2",
	[FSC_Q_JOB_DONE] = "DELETE FROM job WHERE id = ?1 AND lease_token = ?2",
	[FSC_Q_JOB_RETRY] = "UPDATE job SET due_at = ?3, lease_owner = NULL, lease_token = NULL, "
			    "lease_until = NULL WHERE id = ?1 AND lease_token = ?2",
	[FSC_Q_JOB_RETURN] = "UPDATE job SET due_at = ?3, tries = MAX(tries - 1, 0), "
			     "lease_owner = NULL, lease_token = NULL, lease_until = NULL "
			     "WHERE id = ?1 AND lease_token = ?2",
	/* 1 owner that keeps its leases, 2 interrupts that are forgiven */
	[FSC_Q_JOB_RELEASE_OTHERS] =
		"UPDATE job SET due_at = 0, interrupts = interrupts + 1, "
		"tries = CASE WHEN interrupts < ?2 THEN MAX(tries - 1, 0) ELSE tries END, "
		"lease_owner = NULL, lease_token = NULL, lease_until = NULL "
		"WHERE lease_token IS NOT NULL AND lease_owner <> ?1",
	[FSC_Q_JOB_DUE_NOW] = "UPDATE job SET due_at = 0 WHERE lease_token IS NULL AND due_at > 0",
	[FSC_Q_JOB_DEPTH] = "SELECT COALESCE(SUM(lease_token IS NULL), 0), "
			    "COALESCE(SUM(lease_token IS NOT NULL), 0), "
			    "COALESCE(MIN(CASE WHEN lease_token IS NULL THEN created_at "
			    "END), 0) FROM job",

	/* traces */
	[FSC_Q_TRACE_ID] =
		"SELECT id FROM trace WHERE bundle = ?1 AND member = ?2 AND slot = ?3 "
		"UNION ALL SELECT id FROM tombstone WHERE kind = 'trace' AND bundle = ?1 "
		"AND member = ?2 AND slot = ?3 AND reason = 'reindex'",
	/* 28 is the metadata object of the trace: "synthetic": true in it marks made-up data */
	[FSC_Q_TRACE_UPSERT] =
		"INSERT INTO trace (id, project, bundle, bundle_name, member, slot, name, "
		"format, "
		"job, "
		"host, capture, rank, world_size, search, received_at, indexed_at, "
		"has_epoch, "
		"t_base_ns, t_min_ns, t_max_ns, slices, instants, flows, counters, tracks, "
		"events, "
		"launch_pairs, launch_none, launch_ambiguous, synthetic, blob_bytes, "
		"segment_bytes, "
		"segment_version, analysis_version, segment) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, "
		"?16, "
		"?17, "
		"?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?29, ?30, "
		"CASE WHEN json_valid(?28) THEN COALESCE(json_type(?28, '$.synthetic') = "
		"'true', "
		"0) "
		"ELSE 0 END, ?31, ?32, 0, 0, ?33) "
		"ON CONFLICT (id) DO UPDATE SET bundle_name = excluded.bundle_name, "
		"name = excluded.name, format = excluded.format, job = excluded.job, "
		"host = excluded.host, capture = excluded.capture, rank = excluded.rank, "
		"world_size = excluded.world_size, search = excluded.search, "
		"indexed_at = excluded.indexed_at, has_epoch = excluded.has_epoch, "
		"t_base_ns = excluded.t_base_ns, t_min_ns = excluded.t_min_ns, "
		"t_max_ns = excluded.t_max_ns, slices = excluded.slices, "
		"instants = excluded.instants, flows = excluded.flows, "
		"counters = excluded.counters, tracks = excluded.tracks, events = "
		"excluded.events, "
		"launch_pairs = excluded.launch_pairs, launch_none = excluded.launch_none, "
		"launch_ambiguous = excluded.launch_ambiguous, synthetic = "
		"excluded.synthetic, "
		"blob_bytes = excluded.blob_bytes, segment_bytes = excluded.segment_bytes, "
		"segment_version = 0, analysis_version = 0, gpu_busy_ppm = -1, "
		"exposed_comm_ppm = "
		"-1, "
		"losses_kinds = 0, losses_count = 0, segment = excluded.segment",
	[FSC_Q_TRACE_META_UPSERT] =
		"INSERT INTO trace_meta (trace, meta_json, source_disagreements) VALUES "
		"(?1, ?2, "
		"?3) "
		"ON CONFLICT (trace) DO UPDATE SET meta_json = excluded.meta_json, "
		"source_disagreements = excluded.source_disagreements",
	/* 1 trace, 2 busy ppm, 3 exposed ppm, 4 segment version, 5 analysis version */
	[FSC_Q_TRACE_SUMS] = "UPDATE trace SET gpu_busy_ppm = ?2, exposed_comm_ppm = ?3, "
			     "segment_version = ?4, "
			     "analysis_version = ?5, "
			     "losses_kinds = (SELECT COUNT(*) FROM loss WHERE trace = ?1), "
			     "losses_count = (SELECT COALESCE(SUM(count), 0) FROM loss "
			     "WHERE trace = ?1) "
			     "WHERE id = ?1",
	[FSC_Q_TRACE_DELETE] = "DELETE FROM trace WHERE id = ?1",
	[FSC_Q_TRACE_GET] = "SELECT " LISTING_COLUMNS
			    "FROM listing WHERE project = ?1 AND sort_id = ?2 AND trace = ?2",
	[FSC_Q_TRACE_META] =
		"SELECT meta_json, source_disagreements FROM trace_meta WHERE trace = ?1",
	[FSC_Q_SEGMENT_REFS] = "SELECT COUNT(*) FROM trace WHERE segment = ?1",

	/* facts */
	[FSC_Q_FAILURE_INSERT] = "INSERT INTO failure (bundle, n, member, outcome, code, message, "
				 "byte_offset) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[FSC_Q_FAILURE_CLEAR] = "DELETE FROM failure WHERE bundle = ?1",
	[FSC_Q_LOSS_INSERT] =
		"INSERT INTO loss (trace, code, count, first_offset) VALUES (?1, ?2, ?3, ?4) "
		"ON CONFLICT (trace, code) DO UPDATE SET count = count + excluded.count",
	[FSC_Q_CATEGORY_INSERT] =
		"INSERT INTO category (trace, name, count, sum_ns) VALUES (?1, ?2, ?3, ?4) "
		"ON CONFLICT (trace, name) DO UPDATE SET count = count + excluded.count, "
		"sum_ns = sum_ns + excluded.sum_ns",
	[FSC_Q_DEVICE_INSERT] =
		"INSERT INTO device (trace, scope, device, window_ns, busy_ns, idle_ns, "
		"compute_ns, "
		"comm_ns, memcpy_ns, exposed_comm_ns, exposed_memcpy_ns, comm_overlap_ns, "
		"unclassified_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
		"?12, ?13)",
	[FSC_Q_IDLE_INSERT] = "INSERT INTO idle (trace, scope, device, stream, host_wait_ns, "
			      "kernel_wait_ns, other_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[FSC_Q_KERNEL_INSERT] =
		"INSERT INTO kernel (trace, scope, name, kind, count, sum_ns, min_ns, "
		"max_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[FSC_Q_STEP_INSERT] =
		"INSERT INTO step (trace, idx, name, t0_ns, dur_ns, busy_ns, idle_ns) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[FSC_Q_LOSS_CLEAR] = "DELETE FROM loss WHERE trace = ?1",
	[FSC_Q_CATEGORY_CLEAR] = "DELETE FROM category WHERE trace = ?1",
	[FSC_Q_DEVICE_CLEAR] = "DELETE FROM device WHERE trace = ?1",
	[FSC_Q_IDLE_CLEAR] = "DELETE FROM idle WHERE trace = ?1",
	[FSC_Q_KERNEL_CLEAR] = "DELETE FROM kernel WHERE trace = ?1",
	[FSC_Q_STEP_CLEAR] = "DELETE FROM step WHERE trace = ?1",
	[FSC_Q_NAME_FIND] = "SELECT id FROM name WHERE text = ?1",
	[FSC_Q_NAME_INSERT] =
		"INSERT INTO name (id, text) "
		"VALUES ((SELECT COALESCE(MAX(id), 0) + 1 FROM name), ?1) RETURNING id",
	[FSC_Q_LOSSES] = "SELECT code, count, first_offset FROM loss WHERE trace = ?1 "
			 "ORDER BY count DESC, code",
	[FSC_Q_CATEGORIES] = "SELECT n.text, c.count, c.sum_ns FROM category c JOIN name n "
			     "ON n.id = c.name WHERE c.trace = ?1 ORDER BY c.sum_ns DESC, n.text",
	[FSC_Q_DEVICES] = "SELECT scope, device, window_ns, busy_ns, idle_ns, compute_ns, comm_ns, "
			  "memcpy_ns, exposed_comm_ns, exposed_memcpy_ns, comm_overlap_ns, "
			  "unclassified_ns FROM device WHERE trace = ?1 AND scope = ?2 ORDER BY "
			  "device",
	[FSC_Q_IDLES] = "SELECT scope, device, stream, host_wait_ns, kernel_wait_ns, "
			"other_ns FROM idle "
			"WHERE trace = ?1 AND scope = ?2 ORDER BY device, stream",
	[FSC_Q_STEPS] = "SELECT idx, name, t0_ns, dur_ns, busy_ns, idle_ns FROM step "
			"WHERE trace = ?1 ORDER BY idx",

	/* the list page */
	[FSC_Q_LIST_FACETS] = LIST_FACETS,
	LIST_BOTH(LIST_RECEIVED, "received_at"),
	/* what is not indexed yet is new, so it sorts by when it came */
	LIST_BOTH(LIST_STARTED, "CASE WHEN has_epoch = 1 THEN t_base_ns "
				"WHEN trace IS NULL THEN received_at ELSE 0 END"),
	LIST_BOTH(LIST_DURATION, "(t_max_ns - t_min_ns)"),
	LIST_BOTH(LIST_SLICES, "slices"),
	LIST_BOTH(LIST_BYTES, "blob_bytes"),
	LIST_BOTH(LIST_GPU_BUSY, "gpu_busy_ppm"),
	LIST_BOTH(LIST_EXPOSED_COMM, "exposed_comm_ppm"),
	LIST_BOTH(LIST_LOSSES, "losses_count"),
	LIST_BOTH(LIST_RANK, "COALESCE(rank, -1)"),
	LIST_BOTH(LIST_NAME, "name"),
	LIST_BOTH(LIST_JOB, "COALESCE(job, '')"),
	LIST_BOTH(LIST_HOST, "COALESCE(host, '')"),
	LIST_BOTH(LIST_STATE, "state"),

	/* kernels of a trace */
	[FSC_Q_KERNEL_TOTALS] = "SELECT COUNT(*), COALESCE(SUM(k.count), 0), "
				"COALESCE(SUM(k.sum_ns), 0) " KERNEL_WHERE,
	KERNEL_BOTH(KERNELS_SUM, "k.sum_ns"),
	KERNEL_BOTH(KERNELS_COUNT, "k.count"),
	KERNEL_BOTH(KERNELS_MEAN, "(k.sum_ns / MAX(k.count, 1))"),
	KERNEL_BOTH(KERNELS_MIN, "k.min_ns"),
	KERNEL_BOTH(KERNELS_MAX, "k.max_ns"),
	KERNEL_BOTH(KERNELS_NAME, "n.text"),

	/* tokens */
	[FSC_Q_TOKEN_INSERT] = "INSERT INTO token (id, project, name, scopes, secret_sha256, "
			       "created_at, expires_at, prefix, created_by) "
			       "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	/* 1 digest, 2 now */
	[FSC_Q_TOKEN_FIND] =
		"SELECT " TOKEN_COLUMNS "FROM token t JOIN project p ON p.id = t.project "
		"WHERE t.secret_sha256 = ?1 AND t.revoked_at = 0 "
		"AND (t.expires_at = 0 OR t.expires_at > ?2)",
	/* 1 project, 2 with revoked ones */
	[FSC_Q_TOKEN_LIST] =
		"SELECT " TOKEN_COLUMNS "FROM token t JOIN project p ON p.id = t.project "
		"WHERE t.project = ?1 AND (?2 OR t.revoked_at = 0) ORDER BY t.id DESC",
	[FSC_Q_TOKEN_REVOKE] = "UPDATE token SET revoked_at = ?3 "
			       "WHERE project = ?1 AND id = ?2 AND revoked_at = 0",
	[FSC_Q_TOKEN_USED] = "UPDATE token SET last_used_at = ?2 WHERE id = ?1",
	[FSC_Q_TOKEN_COUNT] = "SELECT COUNT(*) FROM token WHERE revoked_at = 0 "
			      "AND (expires_at = 0 OR expires_at > ?1)",

	/* resumable uploads */
	/* 1 project, 2 how many are counted at most */
	[FSC_Q_UPLOAD_OPEN] = "SELECT COUNT(*) FROM (SELECT 1 FROM upload WHERE project = ?1 "
			      "AND bundle IS NULL LIMIT ?2)",
	[FSC_Q_UPLOAD_INSERT] =
		"INSERT INTO upload (id, project, length, sha256, name, job, host, capture, rank, "
		"idempotency_key, actor, created_at, expires_at) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
	[FSC_Q_UPLOAD_GET] = "SELECT " UPLOAD_COLUMNS "FROM upload WHERE project = ?1 AND id = ?2",
	/* 1 project, 2 key, 3 now */
	[FSC_Q_UPLOAD_BY_KEY] =
		"SELECT " UPLOAD_COLUMNS "FROM upload WHERE project = ?1 AND idempotency_key = ?2 "
		"AND bundle IS NULL AND expires_at > ?3 ORDER BY id DESC LIMIT 1",
	/* 1 id, 2 length or NULL, 3 expiry */
	[FSC_Q_UPLOAD_UPDATE] = "UPDATE upload SET length = COALESCE(?2, length), expires_at = ?3 "
				"WHERE id = ?1 AND bundle IS NULL",
	/* 1 project, 2 id, 3 bundle, 4 duplicate, 5 bytes, 6 expiry */
	[FSC_Q_UPLOAD_DONE] = "UPDATE upload SET bundle = ?3, duplicate = ?4, length = ?5, "
			      "expires_at = ?6 WHERE project = ?1 AND id = ?2",
	[FSC_Q_UPLOAD_DELETE] = "DELETE FROM upload WHERE id = ?1",
	[FSC_Q_UPLOAD_EXISTS] = "SELECT COUNT(*) FROM upload WHERE id = ?1",
	/* 1 those that go on, else those that expire until 2; 3 after this id, 4 limit */
	[FSC_Q_UPLOAD_LIST] = "SELECT " UPLOAD_COLUMNS
			      "FROM upload WHERE id > ?3 AND CASE WHEN ?1 THEN bundle IS NULL "
			      "ELSE expires_at <= ?2 END ORDER BY id LIMIT ?4",

	/* audit, settings */
	[FSC_Q_AUDIT_INSERT] =
		"INSERT INTO audit (id, project, at, actor, action, subject, detail, "
		"remote) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	/* 1 project, 2 id before which or NULL, 3 limit, 4 action or NULL */
	[FSC_Q_AUDIT_LIST] = "SELECT id, project, at, actor, action, subject, detail, remote "
			     "FROM audit WHERE project = ?1 AND (?2 IS NULL OR id < ?2) "
			     "AND " AUDIT_ACTION("?4") " ORDER BY id DESC LIMIT ?3",
	[FSC_Q_AUDIT_COUNT] =
		"SELECT COUNT(*) FROM audit WHERE project = ?1 AND " AUDIT_ACTION("?2"),
	[FSC_Q_SETTING_GET] = "SELECT value FROM setting WHERE key = ?1",
	[FSC_Q_SETTING_PUT] = "INSERT INTO setting (key, value) VALUES (?1, ?2) "
			      "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
	[FSC_Q_SETTING_PUT_NEW] = "INSERT INTO setting (key, value) VALUES (?1, ?2) "
				  "ON CONFLICT (key) DO NOTHING",

	/* figures */
	[FSC_Q_STATS_BUNDLES] = "SELECT state, COUNT(*) FROM bundle GROUP BY state",
	[FSC_Q_STATS_TRACES] = "SELECT COUNT(*), COALESCE(SUM(slices), 0), "
			       "COALESCE(SUM(segment_bytes), 0) FROM trace",
	[FSC_Q_STATS_BLOBS] = "SELECT COALESCE(SUM(bytes), 0) FROM "
			      "(SELECT MAX(bytes) AS bytes FROM bundle WHERE blob_deleted_at = 0 "
			      "GROUP BY sha256)",

	/* ---- files that rows name ---- */
	/* 1 digest before, 2 rows at most */
	[FSC_Q_FILES_BLOBS] = "SELECT sha256, MAX(bytes) FROM bundle "
			      "WHERE sha256 > ?1 AND blob_deleted_at = 0 "
			      "GROUP BY sha256 ORDER BY sha256 LIMIT ?2",
	/* 1 segment before, 2 rows at most */
	[FSC_Q_FILES_SEGMENTS] = "SELECT segment, segment_bytes, id, bundle FROM trace "
				 "WHERE segment > ?1 ORDER BY segment LIMIT ?2",

	/* deletes */
	/* 1 project, 2 bundle */
	[FSC_Q_DELETE_BUNDLE_FIND] =
		"SELECT b.sha256, b.bytes, b.blob_deleted_at, (SELECT COUNT(*) FROM trace t JOIN "
		"trace_keep k ON k.trace = t.id WHERE t.bundle = b.id), (SELECT COUNT(*) FROM "
		"trace t WHERE t.bundle = b.id), (SELECT COALESCE(SUM(segment_bytes), 0) FROM "
		"trace t WHERE t.bundle = b.id) FROM bundle b WHERE b.project = ?1 AND b.id = ?2",
	/* 1 project, 2 trace */
	[FSC_Q_DELETE_TRACE_FIND] =
		"SELECT t.bundle, t.segment, t.segment_bytes, EXISTS (SELECT 1 FROM trace_keep k "
		"WHERE k.trace = t.id), (SELECT COUNT(*) FROM trace o WHERE o.bundle = t.bundle) "
		"FROM trace t WHERE t.project = ?1 AND t.id = ?2",
	/* 1 bundle; while it is indexed, `events` is of the run */
	[FSC_Q_BUNDLE_RECOUNT] =
		"UPDATE bundle SET n_traces = (SELECT COUNT(*) FROM trace WHERE bundle = ?1), "
		"events = CASE WHEN state = 'indexing' THEN events ELSE (SELECT "
		"COALESCE(SUM(events), 0) FROM trace WHERE bundle = ?1) END, "
		"losses_kinds = (SELECT COUNT(DISTINCT l.code) FROM trace t JOIN loss l "
		"ON l.trace = t.id WHERE t.bundle = ?1), "
		"losses_count = (SELECT COALESCE(SUM(losses_count), 0) FROM trace WHERE bundle = "
		"?1) WHERE id = ?1",
	[FSC_Q_DELETE_PLAN_BUNDLE] = DELETE_PLAN("l.bundle = ?2"),
	[FSC_Q_DELETE_PLAN_TRACE] = DELETE_PLAN("l.trace = ?2"),
	/* 2 job or NULL, 3 capture or NULL; '' = unknown */
	[FSC_Q_DELETE_PLAN_LABEL] =
		DELETE_PLAN("(?2 IS NULL OR COALESCE(l.job, '') = ?2) AND (?3 IS NULL OR "
			    "COALESCE(l.capture, '') = ?3)"),
	[FSC_Q_TOMBSTONE_BUNDLE] = TOMBSTONE_INSERT
	"SELECT id, project, 'bundle', id, '', 0, name, ?2, ?3, ?4, ?5 FROM bundle WHERE id = ?1",
	[FSC_Q_TOMBSTONE_TRACES] = TOMBSTONE_OF_TRACE "WHERE bundle = ?1",
	[FSC_Q_TOMBSTONE_TRACE] = TOMBSTONE_OF_TRACE "WHERE id = ?1",
	/* 1 project, 2 kind, 3 id */
	[FSC_Q_TOMBSTONE_GET] =
		"SELECT id, bundle, member, slot, name, deleted_at, reason, actor, detail "
		"FROM tombstone WHERE project = ?1 AND kind = ?2 AND id = ?3",
	/* 1 bundle, 2 member, 3 slot */
	[FSC_Q_TOMBSTONE_OF_USER] = "SELECT id FROM tombstone WHERE kind = 'trace' AND bundle = ?1 "
				    "AND member = ?2 AND slot = ?3 AND reason = 'user'",
	[FSC_Q_TOMBSTONE_REVIVE] = "DELETE FROM tombstone WHERE id = ?1 AND reason = 'reindex'",

	/* retention */
	[FSC_Q_RETENTION_GET] =
		"SELECT project, max_age_days, blob_age_days, max_bytes, updated_at "
		"FROM retention WHERE project = ?1",
	[FSC_Q_RETENTION_PUT] =
		"INSERT INTO retention (project, max_age_days, blob_age_days, max_bytes, "
		"updated_at) "
		"VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (project) DO UPDATE SET "
		"max_age_days = excluded.max_age_days, blob_age_days = excluded.blob_age_days, "
		"max_bytes = excluded.max_bytes, updated_at = excluded.updated_at",
	[FSC_Q_RETENTION_LIST] =
		"SELECT project, max_age_days, blob_age_days, max_bytes, updated_at FROM retention "
		"WHERE max_age_days > 0 OR blob_age_days > 0 OR max_bytes > 0 ORDER BY project",
	/* 1 project; every bundle with what hangs on it, in the order they came */
	[FSC_Q_RETENTION_SCAN] =
		"SELECT b.id, b.name, b.received_at, " LIVE_BYTES ", b.blob_deleted_at = 0, "
		"b.state IN ('queued', 'indexing'), COALESCE(s.n, 0), COALESCE(s.bytes, 0), "
		"COALESCE(s.kept, 0) FROM bundle b " BUNDLE_SEGMENTS
		"WHERE b.project = ?1 ORDER BY b.id",
	/* 1 project, 2 bundle */
	[FSC_Q_BLOB_STATE] =
		"SELECT sha256, bytes, blob_deleted_at, state IN ('queued', 'indexing'), "
		"EXISTS (SELECT 1 FROM trace t JOIN trace_keep k ON k.trace = t.id "
		"WHERE t.bundle = bundle.id) FROM bundle WHERE project = ?1 AND id = ?2",
	[FSC_Q_BLOB_RELEASE] = "UPDATE bundle SET blob_deleted_at = ?2 WHERE id = ?1",
	[FSC_Q_BLOB_RESTORE] = "UPDATE bundle SET blob_deleted_at = 0 WHERE id = ?1",
	[FSC_Q_STORAGE_BUNDLES] =
		"SELECT COUNT(*), COALESCE(SUM(" LIVE_BYTES "), 0), COALESCE(MIN(received_at), 0) "
		"FROM bundle b WHERE project = ?1",
	[FSC_Q_STORAGE_TRACES] = "SELECT COUNT(*), COALESCE(SUM(segment_bytes), 0), "
				 "(SELECT COUNT(*) FROM trace_keep WHERE project = ?1) FROM trace "
				 "WHERE project = ?1",
	[FSC_Q_STORAGE_JOBS] = "SELECT COALESCE(b.job, s.job) AS of_job, " STORAGE_PART
			       "GROUP BY of_job ORDER BY part_bytes DESC, of_job",
	/* 2-5: received before these is older than 1, 7, 30, 90 days */
	[FSC_Q_STORAGE_AGES] =
		"SELECT (b.received_at <= ?2) + (b.received_at <= ?3) + (b.received_at <= ?4) + "
		"(b.received_at <= ?5) AS age, " STORAGE_PART "GROUP BY age",
	/* 1 project or NULL, 2 segment version, 3 analysis version */
	[FSC_Q_OUTDATED_SUMS] = "SELECT COUNT(*), COALESCE(SUM(b.state = 'indexing'), 0), "
				"COALESCE(SUM(b.state = 'queued'), 0), "
				"COALESCE(SUM(b.state = 'failed' AND b.blob_deleted_at = 0), 0), "
				"COALESCE(SUM(b.blob_deleted_at <> 0), 0) "
				"FROM trace t JOIN bundle b ON b.id = t.bundle WHERE (?1 IS NULL "
				"OR t.project = ?1) "
				"AND (t.segment_version < ?2 OR t.analysis_version < ?3)",
	/* 1 segment version, 2 analysis version, 3 id before which, 4 limit */
	[FSC_Q_OUTDATED_PICK] =
		"SELECT b.project, b.id, (SELECT COUNT(*) FROM trace t WHERE t.bundle = b.id) "
		"FROM bundle b WHERE b.id < ?3 AND b.state = 'ready' AND b.blob_deleted_at = 0 "
		"AND EXISTS (SELECT 1 FROM trace t WHERE t.bundle = b.id "
		"AND (t.segment_version < ?1 OR t.analysis_version < ?2)) ORDER BY b.id DESC LIMIT "
		"?4",

	/* keep, notes */
	[FSC_Q_NOTES] = "SELECT n.id, n.t0_abs_ns, n.t1_abs_ns, n.text, n.author, n.created_at, "
			"n.updated_at, t.t_base_ns FROM note n JOIN trace t ON t.id = n.trace "
			"WHERE n.trace = ?1 ORDER BY n.t0_abs_ns, n.id",
	[FSC_Q_NOTE_GET] =
		"SELECT t0_abs_ns, t1_abs_ns, text FROM note WHERE trace = ?1 AND id = ?2",
	[FSC_Q_NOTE_COUNT] = "SELECT COUNT(*) FROM note WHERE trace = ?1",
	[FSC_Q_NOTE_BASE] = "SELECT t_base_ns FROM trace WHERE project = ?1 AND id = ?2",
	/* 1 id, 2 project, 3 trace, 4 t0, 5 t1, 6 text, 7 author, 8 now */
	[FSC_Q_NOTE_INSERT] = "INSERT INTO note (id, project, trace, t0_abs_ns, t1_abs_ns, text, "
			      "author, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
			      "?7, ?8, ?8)",
	/* 1 id, 2 t0, 3 t1, 4 text or NULL, 5 now */
	[FSC_Q_NOTE_UPDATE] = "UPDATE note SET t0_abs_ns = ?2, t1_abs_ns = ?3, text = "
			      "COALESCE(?4, text), updated_at = ?5 WHERE id = ?1",
	[FSC_Q_NOTE_DELETE] = "DELETE FROM note WHERE trace = ?1 AND id = ?2",
	[FSC_Q_KEEP_PUT] = "INSERT INTO trace_keep (trace, project, actor, at) VALUES (?1, ?2, ?3, "
			   "?4) ON CONFLICT (trace) DO NOTHING",
	[FSC_Q_KEEP_DROP] = "DELETE FROM trace_keep WHERE trace = ?1",
};
