-- SPDX-License-Identifier: Apache-2.0
-- What running an installation needs: retention with keep, notes, what was deleted and why, resumable uploads.
-- Rules: migrations/README.md.

-- First characters of the secret, to tell tokens apart in a list; '' for tokens made before this version.
ALTER TABLE token ADD COLUMN prefix TEXT NOT NULL DEFAULT '';
ALTER TABLE token ADD COLUMN created_by TEXT NOT NULL DEFAULT '';

-- When retention let the uploaded bytes go; 0 = they are kept. Facts and segments stay, but cannot be rebuilt.
ALTER TABLE bundle ADD COLUMN blob_deleted_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX bundle_by_age ON bundle (project, received_at);

-- Byte of the unpacked file where the first one is; NULL = not known.
ALTER TABLE loss ADD COLUMN first_offset INTEGER;

-- ---------------------------------------------------------------- truth
-- Limits of a project; 0 = none. No row: no limit at all.
CREATE TABLE retention (
	project INTEGER PRIMARY KEY REFERENCES project (id),
	max_age_days INTEGER NOT NULL DEFAULT 0 CHECK (max_age_days >= 0), -- then the bundle goes with all it gave
	blob_age_days INTEGER NOT NULL DEFAULT 0 CHECK (blob_age_days >= 0), -- then its bytes go, the traces stay
	max_bytes INTEGER NOT NULL DEFAULT 0 CHECK (max_bytes >= 0), -- blobs and segments; the oldest bundles go first
	updated_at INTEGER NOT NULL
) STRICT;

-- Traces that retention passes over. Apart from trace, whose columns indexing replaces.
CREATE TABLE trace_keep (
	trace INTEGER PRIMARY KEY REFERENCES trace (id) ON DELETE CASCADE,
	project INTEGER NOT NULL REFERENCES project (id),
	actor TEXT NOT NULL,
	at INTEGER NOT NULL
) STRICT;

-- What people wrote on a range of a trace. Absolute times (t_base_ns + time in the trace), so that a note keeps
-- its place when indexing again finds another base.
CREATE TABLE note (
	id INTEGER PRIMARY KEY,
	project INTEGER NOT NULL REFERENCES project (id),
	trace INTEGER NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
	t0_abs_ns INTEGER NOT NULL,
	t1_abs_ns INTEGER NOT NULL CHECK (t1_abs_ns >= t0_abs_ns),
	text TEXT NOT NULL,
	author TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX note_by_trace ON note (trace, t0_abs_ns);

-- What was there, and why it is not any more. A trace that a person deleted out of a bundle that stays is not
-- made again when that bundle is indexed again.
CREATE TABLE tombstone (
	id INTEGER PRIMARY KEY, -- of the bundle or trace
	project INTEGER NOT NULL REFERENCES project (id),
	kind TEXT NOT NULL CHECK (kind IN ('bundle', 'trace')),
	bundle INTEGER NOT NULL,
	member TEXT NOT NULL,
	slot INTEGER NOT NULL,
	name TEXT NOT NULL,
	deleted_at INTEGER NOT NULL,
	reason TEXT NOT NULL CHECK (reason IN ('user', 'age', 'bytes', 'reindex')),
	actor TEXT NOT NULL,
	detail TEXT NOT NULL
) STRICT;
CREATE INDEX tombstone_by_bundle ON tombstone (bundle) WHERE kind = 'trace';

-- A resumable upload: its bytes so far are in a file of its own.
CREATE TABLE upload (
	id INTEGER PRIMARY KEY,
	project INTEGER NOT NULL REFERENCES project (id),
	length INTEGER, -- NULL = not announced yet
	sha256 BLOB CHECK (length(sha256) = 32), -- as announced; NULL = not
	name TEXT NOT NULL,
	job TEXT,
	host TEXT,
	capture TEXT,
	rank INTEGER,
	idempotency_key TEXT,
	actor TEXT NOT NULL,
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	bundle INTEGER, -- what it became: a client that missed the answer can ask again
	duplicate INTEGER NOT NULL DEFAULT 0 CHECK (duplicate IN (0, 1))
) STRICT;
-- Of those that go on, which are few: the others stay for an hour each, and every upload that begins counts here.
CREATE INDEX upload_open ON upload (project, idempotency_key) WHERE bundle IS NULL;
CREATE INDEX upload_by_expiry ON upload (expires_at);

-- ---------------------------------------------------------------- the list page, now with keep and rebuildable
DROP VIEW listing;
CREATE VIEW listing AS
SELECT
	t.project, t.id AS sort_id, t.id AS trace, t.bundle, 'ready' AS state, t.name, t.bundle_name, t.member,
	t.slot, t.format, t.job, t.host, t.capture, t.rank, t.world_size, t.search, t.received_at, t.indexed_at,
	t.has_epoch, t.t_base_ns, t.t_min_ns, t.t_max_ns, t.slices, t.instants, t.flows, t.counters, t.tracks, t.events,
	t.launch_pairs, t.launch_none, t.launch_ambiguous, t.synthetic, t.blob_bytes, t.segment, t.segment_bytes,
	t.segment_version, t.analysis_version, t.gpu_busy_ppm, t.exposed_comm_ppm, t.losses_kinds, t.losses_count,
	'' AS stage, 0 AS done, 0 AS total, 0 AS started_at,
	NULL AS err_code, NULL AS err_message, NULL AS err_file, NULL AS err_offset,
	EXISTS (SELECT 1 FROM trace_keep k WHERE k.trace = t.id) AS keep,
	(SELECT b.blob_deleted_at FROM bundle b WHERE b.id = t.bundle) AS blob_deleted_at
FROM trace t
UNION ALL
SELECT
	b.project, b.id, NULL, b.id, b.state, b.name, b.name, b.member,
	0, '', b.job, b.host, b.capture, b.rank, NULL, b.search, b.received_at, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, b.events,
	0, 0, 0, 0, b.bytes, 0, 0,
	0, 0, -1, -1, 0, 0,
	b.stage, b.done, b.total, b.started_at,
	b.err_code, b.err_message, b.err_file, b.err_offset,
	0, b.blob_deleted_at
FROM bundle b WHERE b.n_traces = 0;

PRAGMA user_version = 2;
