-- SPDX-License-Identifier: Apache-2.0
-- First schema. Rules: migrations/README.md. Times ending in _at are ns of the Unix epoch; 0 = not yet, never.
-- Ids are made by the application (64 bit, rising with time). NULL = unknown.

-- ---------------------------------------------------------------- truth: cannot be rebuilt
CREATE TABLE project (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	created_at INTEGER NOT NULL
) STRICT;
INSERT INTO project (id, name, created_at) VALUES (1, 'default', 0);

-- One upload. Identity within a project is the digest of its bytes.
CREATE TABLE bundle (
	id INTEGER PRIMARY KEY,
	project INTEGER NOT NULL REFERENCES project (id),
	sha256 BLOB NOT NULL CHECK (length(sha256) = 32),
	bytes INTEGER NOT NULL CHECK (bytes >= 0),
	name TEXT NOT NULL,
	job TEXT,
	host TEXT,
	capture TEXT,
	rank INTEGER,
	search TEXT NOT NULL, -- lower case text that a search looks at
	received_at INTEGER NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('queued', 'indexing', 'ready', 'failed')),
	started_at INTEGER NOT NULL DEFAULT 0,
	finished_at INTEGER NOT NULL DEFAULT 0,
	-- of the running indexing
	stage TEXT NOT NULL DEFAULT '',
	member TEXT NOT NULL DEFAULT '',
	done INTEGER NOT NULL DEFAULT 0,
	total INTEGER NOT NULL DEFAULT 0,
	events INTEGER NOT NULL DEFAULT 0,
	-- of the last indexing
	tries INTEGER NOT NULL DEFAULT 0,
	n_traces INTEGER NOT NULL DEFAULT 0,
	n_failures INTEGER NOT NULL DEFAULT 0,
	losses_kinds INTEGER NOT NULL DEFAULT 0,
	losses_count INTEGER NOT NULL DEFAULT 0,
	err_code TEXT,
	err_message TEXT,
	err_file TEXT,
	err_offset INTEGER,
	UNIQUE (project, sha256)
) STRICT;
CREATE INDEX bundle_by_sha256 ON bundle (sha256);
CREATE INDEX bundle_without_trace ON bundle (project, id) WHERE n_traces = 0;

-- Apart, so that lists do not read it: manifest.json as the indexer found it, "" when there is none.
CREATE TABLE bundle_meta (
	bundle INTEGER PRIMARY KEY REFERENCES bundle (id) ON DELETE CASCADE,
	manifest_json TEXT NOT NULL
) STRICT;

-- What an Idempotency-Key was used for.
CREATE TABLE idempotency_key (
	project INTEGER NOT NULL REFERENCES project (id),
	key TEXT NOT NULL,
	bundle INTEGER NOT NULL REFERENCES bundle (id) ON DELETE CASCADE,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_by_bundle ON idempotency_key (bundle);

-- One recording of one process or rank. The id stays when its bundle is indexed again; the other columns are
-- derived and replaced then.
CREATE TABLE trace (
	id INTEGER PRIMARY KEY,
	project INTEGER NOT NULL REFERENCES project (id),
	bundle INTEGER NOT NULL REFERENCES bundle (id) ON DELETE CASCADE,
	bundle_name TEXT NOT NULL,
	member TEXT NOT NULL,
	slot INTEGER NOT NULL,
	name TEXT NOT NULL,
	format TEXT NOT NULL,
	job TEXT,
	host TEXT,
	capture TEXT,
	rank INTEGER,
	world_size INTEGER,
	search TEXT NOT NULL,
	received_at INTEGER NOT NULL,
	indexed_at INTEGER NOT NULL,
	has_epoch INTEGER NOT NULL CHECK (has_epoch IN (0, 1)),
	t_base_ns INTEGER NOT NULL,
	t_min_ns INTEGER NOT NULL,
	t_max_ns INTEGER NOT NULL,
	slices INTEGER NOT NULL,
	instants INTEGER NOT NULL,
	flows INTEGER NOT NULL,
	counters INTEGER NOT NULL,
	tracks INTEGER NOT NULL,
	events INTEGER NOT NULL,
	launch_pairs INTEGER NOT NULL,
	launch_none INTEGER NOT NULL,
	launch_ambiguous INTEGER NOT NULL,
	synthetic INTEGER NOT NULL CHECK (synthetic IN (0, 1)),
	blob_bytes INTEGER NOT NULL,
	segment INTEGER NOT NULL, -- name of its file, another each time it is indexed
	segment_bytes INTEGER NOT NULL,
	segment_version INTEGER NOT NULL,
	analysis_version INTEGER NOT NULL,
	-- parts per million of the GPU window over all devices; -1 without GPU work
	gpu_busy_ppm INTEGER NOT NULL DEFAULT -1,
	exposed_comm_ppm INTEGER NOT NULL DEFAULT -1,
	losses_kinds INTEGER NOT NULL DEFAULT 0,
	losses_count INTEGER NOT NULL DEFAULT 0,
	UNIQUE (bundle, member, slot)
) STRICT;
CREATE INDEX trace_by_project ON trace (project, id);
CREATE INDEX trace_by_segment ON trace (segment);

-- Apart, so that lists do not read it.
CREATE TABLE trace_meta (
	trace INTEGER PRIMARY KEY REFERENCES trace (id) ON DELETE CASCADE,
	meta_json TEXT NOT NULL,
	source_disagreements TEXT NOT NULL
) STRICT;

-- The queue. A job that is done is deleted: its outcome is in its subject.
CREATE TABLE job (
	id INTEGER PRIMARY KEY,
	project INTEGER NOT NULL REFERENCES project (id),
	kind INTEGER NOT NULL, -- 1 = index a bundle
	subject INTEGER NOT NULL,
	created_at INTEGER NOT NULL,
	due_at INTEGER NOT NULL,
	tries INTEGER NOT NULL DEFAULT 0,
	interrupts INTEGER NOT NULL DEFAULT 0,
	-- NULL when nobody works on it
	lease_owner TEXT,
	lease_token BLOB,
	lease_until INTEGER,
	UNIQUE (kind, subject)
) STRICT;
CREATE INDEX job_waiting ON job (due_at, id) WHERE lease_token IS NULL;
CREATE INDEX job_leased ON job (lease_until) WHERE lease_token IS NOT NULL;

CREATE TABLE token (
	id INTEGER PRIMARY KEY,
	project INTEGER NOT NULL REFERENCES project (id),
	name TEXT NOT NULL,
	scopes INTEGER NOT NULL, -- bits: 1 read, 2 upload, 4 capture, 8 admin
	secret_sha256 BLOB NOT NULL UNIQUE CHECK (length(secret_sha256) = 32),
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	last_used_at INTEGER NOT NULL DEFAULT 0,
	revoked_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX token_by_project ON token (project, id);

CREATE TABLE audit (
	id INTEGER PRIMARY KEY,
	project INTEGER NOT NULL REFERENCES project (id),
	at INTEGER NOT NULL,
	actor TEXT NOT NULL,
	action TEXT NOT NULL,
	subject TEXT NOT NULL,
	detail TEXT NOT NULL,
	remote TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_project ON audit (project, id);

-- Of the installation, not of a project: keys and the like.
CREATE TABLE setting (
	key TEXT PRIMARY KEY,
	value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- facts: rebuilt from the blob
-- Kernel and category names repeat over traces without end, so each is kept once.
CREATE TABLE name (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE failure (
	bundle INTEGER NOT NULL REFERENCES bundle (id) ON DELETE CASCADE,
	n INTEGER NOT NULL, -- order in the bundle
	member TEXT NOT NULL,
	outcome TEXT NOT NULL CHECK (outcome IN ('failed', 'skipped')),
	code TEXT NOT NULL,
	message TEXT NOT NULL,
	byte_offset INTEGER,
	PRIMARY KEY (bundle, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE loss (
	trace INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
	code TEXT NOT NULL,
	count INTEGER NOT NULL,
	PRIMARY KEY (trace, code)
) STRICT, WITHOUT ROWID;

CREATE TABLE category (
	trace INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
	name INTEGER NOT NULL REFERENCES name (id),
	count INTEGER NOT NULL,
	sum_ns INTEGER NOT NULL,
	PRIMARY KEY (trace, name)
) STRICT, WITHOUT ROWID;

-- scope: 0 = all steps, 1 = without the last
CREATE TABLE device (
	trace INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
	scope INTEGER NOT NULL,
	device INTEGER NOT NULL,
	window_ns INTEGER NOT NULL,
	busy_ns INTEGER NOT NULL,
	idle_ns INTEGER NOT NULL,
	compute_ns INTEGER NOT NULL,
	comm_ns INTEGER NOT NULL,
	memcpy_ns INTEGER NOT NULL,
	exposed_comm_ns INTEGER NOT NULL,
	exposed_memcpy_ns INTEGER NOT NULL,
	comm_overlap_ns INTEGER NOT NULL,
	unclassified_ns INTEGER NOT NULL,
	PRIMARY KEY (trace, scope, device)
) STRICT, WITHOUT ROWID;

CREATE TABLE idle (
	trace INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
	scope INTEGER NOT NULL,
	device INTEGER NOT NULL,
	stream INTEGER NOT NULL,
	host_wait_ns INTEGER NOT NULL,
	kernel_wait_ns INTEGER NOT NULL,
	other_ns INTEGER NOT NULL,
	PRIMARY KEY (trace, scope, device, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernel (
	trace INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
	scope INTEGER NOT NULL,
	name INTEGER NOT NULL REFERENCES name (id),
	kind TEXT NOT NULL,
	count INTEGER NOT NULL,
	sum_ns INTEGER NOT NULL,
	min_ns INTEGER NOT NULL,
	max_ns INTEGER NOT NULL,
	PRIMARY KEY (trace, scope, name, kind)
) STRICT, WITHOUT ROWID;
-- "which traces ran this kernel"
CREATE INDEX kernel_by_name ON kernel (name, trace) WHERE scope = 0;

CREATE TABLE step (
	trace INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
	idx INTEGER NOT NULL,
	name TEXT NOT NULL,
	t0_ns INTEGER NOT NULL,
	dur_ns INTEGER NOT NULL,
	busy_ns INTEGER NOT NULL,
	idle_ns INTEGER NOT NULL,
	PRIMARY KEY (trace, idx)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- the list page
-- Ready traces, and bundles that have none (queued, indexing, failed).
CREATE VIEW listing AS
SELECT
	t.project, t.id AS sort_id, t.id AS trace, t.bundle, 'ready' AS state, t.name, t.bundle_name, t.member,
	t.slot, t.format, t.job, t.host, t.capture, t.rank, t.world_size, t.search, t.received_at, t.indexed_at,
	t.has_epoch, t.t_base_ns, t.t_min_ns, t.t_max_ns, t.slices, t.instants, t.flows, t.counters, t.tracks, t.events,
	t.launch_pairs, t.launch_none, t.launch_ambiguous, t.synthetic, t.blob_bytes, t.segment, t.segment_bytes,
	t.segment_version, t.analysis_version, t.gpu_busy_ppm, t.exposed_comm_ppm, t.losses_kinds, t.losses_count,
	'' AS stage, 0 AS done, 0 AS total, 0 AS started_at,
	NULL AS err_code, NULL AS err_message, NULL AS err_file, NULL AS err_offset
FROM trace t
UNION ALL
SELECT
	b.project, b.id, NULL, b.id, b.state, b.name, b.name, b.member,
	0, '', b.job, b.host, b.capture, b.rank, NULL, b.search, b.received_at, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, b.events,
	0, 0, 0, 0, b.bytes, 0, 0,
	0, 0, -1, -1, 0, 0,
	b.stage, b.done, b.total, b.started_at,
	b.err_code, b.err_message, b.err_file, b.err_offset
FROM bundle b WHERE b.n_traces = 0;

PRAGMA user_version = 1;
