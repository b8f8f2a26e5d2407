// SPDX-License-Identifier: Apache-2.0
// Shapes of the JSON answers (server/api/openapi.json is the contract). Times are ns relative to t_base_ns.

export type Loss = { code: string; count: number; first_offset?: number };
export type ErrorBody = { code: string; message: string; detail?: unknown; request_id?: string };
export type BundleError = { code: string; message: string; file?: string; offset?: number };
export type State = 'queued' | 'indexing' | 'ready' | 'failed';
export type Progress = { done: number; total: number; member?: string; events?: number; elapsed_ms?: number };

export type TraceRow = {
	id: string | null;
	bundle: string;
	name: string;
	state: State;
	format?: string;
	job?: string | null;
	host?: string | null;
	capture?: string | null;
	rank?: number | null;
	world_size?: number | null;
	started?: string | null;
	dur_ns?: number;
	slices?: number;
	bytes?: number;
	gpu_busy_pct?: number | null;
	exposed_comm_pct?: number | null;
	synthetic?: boolean;
	losses_kinds?: number;
	losses_count?: number;
	received_at?: string;
	stage?: string | null;
	progress?: Progress | null;
	error?: BundleError | null;
	keep?: boolean;
	rebuildable?: boolean;
};
export type FacetValue = { value: string | null; count: number };
export type TraceList = {
	items: TraceRow[];
	next?: string | null;
	total: number | null;
	facets?: Record<string, FacetValue[]>;
};

export type Bundle = {
	id: string;
	sha256?: string;
	name: string;
	state: State;
	stage?: string | null;
	progress?: Progress | null;
	bytes?: number;
	received_at?: string;
	job?: string | null;
	host?: string | null;
	error?: BundleError | null;
	failures?: { file: string; outcome: string; code: string; message: string; offset?: number | null }[];
	losses?: Loss[];
	traces?: { id: string; name: string; format?: string; rank?: number | null; state?: string }[];
};
export type UploadReply = { id: string; sha256: string; state: State; duplicate: boolean };

export type Trace = {
	id: string;
	state?: State;
	bundle?: string;
	name: string;
	format?: string;
	rank?: number | null;
	world_size?: number | null;
	job?: string | null;
	host?: string | null;
	capture?: string | null;
	t_base_ns: string | number;
	t_min_ns: number;
	t_max_ns: number;
	slices: number;
	flows?: number;
	counters?: number;
	events?: number;
	instants?: number;
	tracks?: number;
	segment_bytes?: number;
	synthetic?: boolean;
	losses?: Loss[];
	launch?: { pairs: number; none: number; ambiguous: number };
	categories?: { name: string; count: number; sum_ns: number }[];
	meta?: Record<string, unknown> | null;
	received_at?: string;
	started?: string | null;
	keep?: boolean;
	rebuildable?: boolean;
	outdated?: boolean;
	notes?: Note[];
};

export type Note = { id: string; t0: number; t1: number; text: string; author?: string; created_at?: string; updated_at?: string };

export type Process = { index: number; pid: number | string | null; name?: string | null; labels?: string | null };
export type TrackKind = 'thread' | 'stream' | 'annotation' | 'async' | 'counter';
export type Track = {
	id: number;
	kind: TrackKind;
	process: number | null;
	tid?: number | string | null;
	name?: string | null;
	device?: number | null;
	context?: number | null;
	stream?: number | null;
	depths: number;
	slices: number;
	t_min_ns?: number | null;
	t_max_ns?: number | null;
	busy_ns?: number | null;
	main_kind?: string | number | null;
	unit?: string | null;
	samples?: number | null;
};
export type TrackList = { processes: Process[]; tracks: Track[] };

export type SliceRef = {
	id: number;
	name: string;
	track: number;
	depth?: number;
	ts: number;
	dur: number;
	delay_ns?: number;
	kind?: string | number;
};
export type Flow = SliceRef & { dir: 'in' | 'out'; cat?: string };
export type Details = {
	id: number;
	track: number;
	depth: number;
	name: string;
	cat?: string | null;
	kind: string | number;
	ts: number;
	dur: number;
	flags?: { instant?: boolean; overlap?: boolean; open?: boolean };
	args?: Record<string, unknown> | null;
	correlation?: number | null;
	launch?: Record<string, unknown> | null;
	collective?: Record<string, unknown> | null;
	parent?: { id: number; name: string } | null;
	ancestors?: SliceRef[];
	launched_by?: SliceRef | null;
	launches?: SliceRef[];
	flows?: Flow[];
	same_name?: { count: number; prev?: SliceRef | number | null; next?: SliceRef | number | null } | null;
};

export type AggRow = {
	key: string | number;
	kind?: string | number;
	count: number;
	total_ns: number;
	self_ns?: number;
	mean_ns: number;
	min_ns: number;
	max_ns: number;
};
export type Aggregate = {
	t0: number;
	t1: number;
	count: number;
	total_ns: number;
	busy_ns: number;
	overlap_ns?: number;
	rows: AggRow[];
	other?: { keys: number; count: number; total_ns: number } | null;
	truncated?: boolean;
};
export type Hit = { id: number; track: number; depth: number; name: string; kind?: string | number; ts: number; dur: number };
export type SearchReply = { total: number; hits: Hit[]; strip?: number[]; truncated?: boolean };
export type Minimap = { t0: number; t1: number; n: number; compute: number[]; comm: number[]; copy: number[]; other: number[] };
export type CounterReply = { tracks: { track: number; t: number[]; min: (number | null)[]; max: (number | null)[] }[] };

export type Device = {
	device: number | null;
	window_ns: number;
	busy_ns: number;
	idle_ns: number;
	compute_ns: number;
	comm_ns: number;
	memcpy_ns: number;
	exposed_comm_ns: number;
	exposed_memcpy_ns: number;
	comm_overlap_ns: number;
	comm_overlap_pct?: number | null;
	unclassified_ns: number;
	main_stream?: number | null;
};
export type Idle = {
	device: number | null;
	stream: number | null;
	host_wait_ns: number;
	kernel_wait_ns: number;
	other_ns: number;
};
export type Kernel = {
	name: string;
	kind: string | number;
	count: number;
	sum_ns: number;
	min_ns: number;
	max_ns: number;
	mean_ns: number;
	first?: { track: number; ts: number; slice: number | string } | null;
};
export type Step = { name: string; number?: number; t0: number; dur_ns: number; busy_ns?: number; idle_ns?: number };
export type Analysis = {
	devices: Device[];
	idle?: Idle[];
	kernels: Kernel[];
	steps: Step[];
	losses?: Loss[];
};

export type ServerInfo = {
	version?: string;
	perfetto_origin?: string | null;
	perfetto_ui?: boolean;
	limits?: { upload_bytes?: number };
	demo?: boolean;
};
export type WhoAmI = {
	project?: string;
	projects?: string[];
	scopes?: string[];
	operator?: boolean;
	user?: string | null;
	via?: 'loopback' | 'token' | 'session' | 'proxy';
};

/** What a delete took, or would take. */
export type Deletion = {
	dry_run: boolean;
	bundles: number;
	traces: number;
	kept_skipped: number;
	blobs?: number;
	blob_bytes: number;
	segment_bytes: number;
	items: { bundle: string; trace?: string | null; name: string; bytes: number; keep?: boolean }[];
	truncated?: boolean;
};
/** Detail of error "deleted" (410). */
export type Tombstone = { kind: 'bundle' | 'trace'; name: string; deleted_at: string; reason: 'user' | 'age' | 'bytes' | 'reindex'; actor: string };

/** Limits of a project; 0 = none. */
export type Policy = { max_age_days: number; blob_age_days: number; max_bytes: number; updated_at?: string | null };
export type Taken = { bundles: number; traces: number; bytes: number; blobs: number; blob_bytes: number };
export type Storage = {
	project: string;
	bundles: number;
	traces: number;
	kept_traces: number;
	blob_bytes: number;
	segment_bytes: number;
	database_bytes: number;
	oldest_received_at?: string | null;
	by_job: { job: string | null; bundles: number; traces: number; bytes: number }[];
	by_age: { days: string; bundles: number; bytes: number }[];
	policy: Policy;
	next: Taken;
	last_run?: (Taken & { at: string }) | null;
	held?: { since: string; why: string } | null;
	disk: { total_bytes: number; free_bytes: number; min_free_bytes: number };
	reindex: {
		outdated: number;
		running: number;
		waiting: number;
		done_since_start: number;
		not_rebuildable: number;
		segment_version?: number;
		analysis_version?: number;
	};
};

export type Token = {
	id: string;
	name: string;
	scopes: string[];
	prefix?: string;
	created_by?: string;
	created_at?: string | null;
	last_used_at?: string | null;
	expires_at?: string | null;
	revoked_at?: string | null;
};
export type NewToken = Token & { secret: string };
export type List<T> = { items: T[]; next: string | null; total: number | null };
export type AuditRow = { id: string; at: string; actor: string; action: string; subject: string; detail?: string | null; remote?: string | null };
