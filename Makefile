# SPDX-License-Identifier: Apache-2.0
# Targets and module lists only; how things are built is in mk/*.mk. `make help` lists the targets.
# Lists are explicit: a .c file that no list names is an error of `make lint`.

VERSION := 0.1.0
MODE ?= debug
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# ---- modules, lowest layer first (scripts/layers.txt says who may include whom) ----

SRC_base := \
	lib/base/status.c \
	lib/base/err.c \
	lib/base/assert.c \
	lib/base/alloc.c \
	lib/base/buf.c \
	lib/base/arena.c \
	lib/base/strtab.c \
	lib/base/num.c \
	lib/base/bytes.c \
	lib/base/pb_read.c \
	lib/base/map.c \
	lib/base/crc.c \
	lib/base/crypto.c \
	lib/base/utf8.c \
	lib/base/json_out.c \
	lib/base/json_copy.c \
	lib/base/json_scan.c \
	lib/base/source.c \
	lib/base/source_auto.c \
	lib/base/source_gzip.c \
	lib/base/source_zlib.c \
	lib/base/source_zstd.c \
	lib/base/fs.c \
	lib/base/clock.c \
	lib/base/log.c

SRC_facts := \
	lib/facts/fact_codec.c \
	lib/facts/indexer_client.c

SRC_model := \
	lib/model/args.c \
	lib/model/build.c \
	lib/model/build_calls.c \
	lib/model/build_finish.c \
	lib/model/build_flows.c \
	lib/model/build_match.c \
	lib/model/build_merge.c \
	lib/model/build_rows.c \
	lib/model/build_time.c \
	lib/model/build_tracks.c \
	lib/model/classify.c \
	lib/model/sort.c \
	lib/model/trace.c \
	lib/model/validate.c

SRC_bundle := \
	lib/bundle/bundle_read.c \
	lib/bundle/manifest.c \
	lib/bundle/perfetto_manifest.c \
	lib/bundle/member_name.c \
	lib/bundle/member_text.c \
	lib/bundle/zip_directory.c

SRC_formats := \
	lib/formats/chrome_async.c \
	lib/formats/chrome_emit.c \
	lib/formats/chrome_event.c \
	lib/formats/chrome_json.c \
	lib/formats/chrome_meta.c \
	lib/formats/chrome_rare.c \
	lib/formats/chrome_resync.c \
	lib/formats/chrome_stack.c \
	lib/formats/chrome_xla.c \
	lib/formats/gpu_args.c \
	lib/formats/json_scan_simd.c \
	lib/formats/json_tok.c \
	lib/formats/launch_args.c \
	lib/formats/launch_pairs.c \
	lib/formats/nsys.c \
	lib/formats/nsys_db.c \
	lib/formats/nsys_gpu.c \
	lib/formats/nsys_host.c \
	lib/formats/nsys_names.c \
	lib/formats/nsys_queries.c \
	lib/formats/nsys_ranges.c \
	lib/formats/nsys_vfs.c \
	lib/formats/perfetto_args.c \
	lib/formats/perfetto_clock.c \
	lib/formats/perfetto_event.c \
	lib/formats/perfetto_gpu.c \
	lib/formats/perfetto_packet.c \
	lib/formats/perfetto_read.c \
	lib/formats/perfetto_samples.c \
	lib/formats/perfetto_seq.c \
	lib/formats/perfetto_tracks.c \
	lib/formats/registry.c \
	lib/formats/xplane.c \
	lib/formats/xplane_event.c \
	lib/formats/xplane_meta.c \
	lib/formats/xplane_plane.c \
	lib/formats/xplane_stat.c

SRC_segment := \
	lib/segment/ivals.c \
	lib/segment/lod.c \
	lib/segment/query_aggregate.c \
	lib/segment/query_busy.c \
	lib/segment/query_counters.c \
	lib/segment/query_flows.c \
	lib/segment/query_minimap.c \
	lib/segment/query_search.c \
	lib/segment/query_slices.c \
	lib/segment/seg_args.c \
	lib/segment/seg_args_lru.c \
	lib/segment/seg_block.c \
	lib/segment/seg_check.c \
	lib/segment/seg_iter.c \
	lib/segment/seg_open.c \
	lib/segment/seg_side.c \
	lib/segment/seg_slices.c \
	lib/segment/seg_verify.c \
	lib/segment/seg_view.c \
	lib/segment/seg_write.c \
	lib/segment/write_cover.c \
	lib/segment/write_index.c \
	lib/segment/write_out.c \
	lib/segment/write_slices.c \
	lib/segment/write_tables.c

SRC_analysis := \
	lib/analysis/run_sort.c \
	lib/analysis/idmap.c \
	lib/analysis/intervals.c \
	lib/analysis/scope.c \
	lib/analysis/rows.c \
	lib/analysis/breakdown.c \
	lib/analysis/idle.c \
	lib/analysis/kernels.c \
	lib/analysis/step_marks.c \
	lib/analysis/steps.c \
	lib/analysis/analysis.c \
	lib/analysis/analysis_json.c

SRC_export := \
	lib/export/registry.c \
	lib/export/row_merge.c \
	lib/export/flow_ends.c \
	lib/export/chrome.c \
	lib/export/chrome_flows.c \
	lib/export/chrome_text.c \
	lib/export/csv.c \
	lib/export/perfetto.c \
	lib/export/perfetto_tracks.c \
	lib/export/perfetto_args.c \
	lib/export/perfetto_seq.c

SRC_store := \
	lib/store/store_open.c \
	lib/store/rows.c \
	lib/store/cursor.c \
	lib/store/bundles.c \
	lib/store/bundle_parts.c \
	lib/store/delete_plan.c \
	lib/store/deletes.c \
	lib/store/publish.c \
	lib/store/trace_rows.c \
	lib/store/trace_list.c \
	lib/store/kernels.c \
	lib/store/notes.c \
	lib/store/projects.c \
	lib/store/queue.c \
	lib/store/retention.c \
	lib/store/storage.c \
	lib/store/tokens.c \
	lib/store/uploads.c \
	lib/store/stats.c \
	lib/store/files.c \
	lib/store/blob.c \
	lib/store/blob_copy.c \
	lib/store/blob_dir.c \
	lib/store/sqlite/queries.c \
	lib/store/sqlite/db.c \
	lib/store/sqlite/migrate.c \
	lib/store/sqlite/writer.c \
	lib/store/sqlite/store_sqlite.c

SRC_demo := \
	demo/main.c \
	demo/bundle.c \
	demo/program.c \
	demo/sim.c

SRC_http := \
	server/http/conn.c \
	server/http/exchange.c \
	server/http/finish.c \
	server/http/folder.c \
	server/http/gates.c \
	server/http/head.c \
	server/http/listen.c \
	server/http/mime.c \
	server/http/pool.c \
	server/http/range.c \
	server/http/req.c \
	server/http/resp.c \
	server/http/router.c \
	server/http/stats.c \
	server/http/stream.c

SRC_auth := \
	server/auth/auth.c \
	server/auth/cache.c \
	server/auth/choose.c \
	server/auth/limit.c \
	server/auth/proxy.c \
	server/auth/session.c \
	server/auth/ticket.c \
	server/auth/token.c

SRC_service := \
	server/service/analyses.c \
	server/service/backup.c \
	server/service/backup_files.c \
	server/service/restore.c \
	server/service/verify.c \
	server/service/exporting.c \
	server/service/ingest.c \
	server/service/ingest_sweep.c \
	server/service/query.c \
	server/service/removal.c \
	server/service/clock_guard.c \
	server/service/reindex.c \
	server/service/retention.c \
	server/service/versions.c \
	server/service/slices.c \
	server/service/uploads.c \
	server/service/uploads_piece.c \
	server/service/uploads_sweep.c

SRC_jobs := \
	server/jobs/index_run.c \
	server/jobs/worker.c

SRC_api := \
	server/api/api_analysis.c \
	server/api/api_audit.c \
	server/api/api_bundles.c \
	server/api/api_deletes.c \
	server/api/api_export.c \
	server/api/api_login.c \
	server/api/api_meta.c \
	server/api/api_perfetto.c \
	server/api/api_projects.c \
	server/api/api_ready.c \
	server/api/api_slice.c \
	server/api/api_timeline.c \
	server/api/api_storage.c \
	server/api/api_tokens.c \
	server/api/api_trace_edit.c \
	server/api/api_traces.c \
	server/api/api_uploads.c \
	server/api/errors.c \
	server/api/helpers.c \
	server/api/routes.c

SRC_ui := \
	server/ui/assets.c

# Programs: everything but main.c goes into the module archive, so that tests can link it.
SRC_server := \
	server/app.c \
	server/cli_backup.c \
	server/cli_config.c \
	server/cli_open.c \
	server/cli_token.c \
	server/cli_verify.c \
	server/config.c \
	server/config_args.c \
	server/config_file.c \
	server/main.c \
	server/options.c \
	server/perfetto_ui.c

SRC_indexer := \
	indexer/main.c \
	indexer/sandbox.c \
	indexer/census.c \
	indexer/fact_stream.c \
	indexer/identity.c \
	indexer/identity_name.c \
	indexer/perfetto_files.c \
	indexer/summary.c \
	indexer/trace_facts.c \
	indexer/warm_up.c \
	indexer/work.c

SRC_collector := \
	collector/main.c \
	collector/cli/backoff.c \
	collector/cli/files.c \
	collector/cli/pieces.c \
	collector/cli/progress.c \
	collector/cli/push.c \
	collector/cli/transport.c

# ---- unit tests: each file is one cmocka program (tests/unit/<module>/test_<file>.c) ----

TESTS_base := \
	tests/unit/base/test_err.c \
	tests/unit/base/test_alloc.c \
	tests/unit/base/test_assert.c \
	tests/unit/base/test_buf.c \
	tests/unit/base/test_arena.c \
	tests/unit/base/test_strtab.c \
	tests/unit/base/test_num.c \
	tests/unit/base/test_bytes.c \
	tests/unit/base/test_pb_read.c \
	tests/unit/base/test_map.c \
	tests/unit/base/test_crc.c \
	tests/unit/base/test_crypto.c \
	tests/unit/base/test_utf8.c \
	tests/unit/base/test_json_out.c \
	tests/unit/base/test_source.c \
	tests/unit/base/test_source_gzip.c \
	tests/unit/base/test_source_gzip_zlib.c \
	tests/unit/base/test_json_copy.c \
	tests/unit/base/test_source_zlib.c \
	tests/unit/base/test_source_zstd.c \
	tests/unit/base/test_fs.c \
	tests/unit/base/test_clock.c \
	tests/unit/base/test_log.c \
	tests/unit/base/test_json_scan.c

TESTS_facts := \
	tests/unit/facts/test_fact_codec.c \
	tests/unit/facts/test_indexer_client.c

TESTS_model := \
	tests/unit/model/test_args_sort.c \
	tests/unit/model/test_build.c \
	tests/unit/model/test_classify.c \
	tests/unit/model/test_merge_args.c

TESTS_bundle := \
	tests/unit/bundle/test_bundle_read.c \
	tests/unit/bundle/test_damage.c \
	tests/unit/bundle/test_manifest.c \
	tests/unit/bundle/test_perfetto_manifest.c \
	tests/unit/bundle/test_tar_kinds.c \
	tests/unit/bundle/test_zip.c

TESTS_formats := \
	tests/unit/formats/test_broken_input.c \
	tests/unit/formats/test_chrome_json.c \
	tests/unit/formats/test_chrome_phases.c \
	tests/unit/formats/test_chrome_xla.c \
	tests/unit/formats/test_expected.c \
	tests/unit/formats/test_flips.c \
	tests/unit/formats/test_identity_kinds.c \
	tests/unit/formats/test_perfetto.c \
	tests/unit/formats/test_perfetto_expected.c \
	tests/unit/formats/test_json_tok.c \
	tests/unit/formats/test_kineto.c \
	tests/unit/formats/test_nsys.c \
	tests/unit/formats/test_nsys_hostile.c \
	tests/unit/formats/test_reader_hostile.c \
	tests/unit/formats/test_reader_tolerance.c \
	tests/unit/formats/test_xplane.c

TESTS_segment := \
	tests/unit/segment/test_hostile.c \
	tests/unit/segment/test_ivals.c \
	tests/unit/segment/test_lod.c \
	tests/unit/segment/test_query.c \
	tests/unit/segment/test_query_slices.c \
	tests/unit/segment/test_seg_read.c \
	tests/unit/segment/test_view.c
# What the tests of a module share; linked into each of its unit tests.
TESTHELP_segment := tests/unit/segment/help_gen_trace.c

TESTS_analysis := \
	tests/unit/analysis/test_analysis.c \
	tests/unit/analysis/test_intervals.c \
	tests/unit/analysis/test_oracle.c \
	tests/unit/analysis/test_recount.c \
	tests/unit/analysis/test_step_marks.c

TESTS_export := \
	tests/unit/export/test_chrome_again.c \
	tests/unit/export/test_chrome_expected.c \
	tests/unit/export/test_golden.c \
	tests/unit/export/test_perfetto_import.c \
	tests/unit/export/test_pb.c

TESTS_store := \
	tests/unit/store/test_store_contract.c \
	tests/unit/store/test_delete_contract.c \
	tests/unit/store/test_notes_contract.c \
	tests/unit/store/test_queue_contract.c \
	tests/unit/store/test_retention_contract.c \
	tests/unit/store/test_blob_contract.c \
	tests/unit/store/test_uploads_contract.c \
	tests/unit/store/test_migrate.c \
	tests/unit/store/test_store_faults.c

TESTS_demo := \
	tests/unit/demo/test_demo.c

TESTS_http := \
	tests/unit/http/test_conn.c \
	tests/unit/http/test_head.c \
	tests/unit/http/test_range.c \
	tests/unit/http/test_req.c \
	tests/unit/http/test_server.c \
	tests/unit/http/test_stream.c

TESTS_auth := \
	tests/unit/auth/test_cache.c \
	tests/unit/auth/test_limit.c \
	tests/unit/auth/test_proxy.c \
	tests/unit/auth/test_session.c \
	tests/unit/auth/test_ticket.c

TESTS_service := \
	tests/unit/service/test_backup.c \
	tests/unit/service/test_durability.c \
	tests/unit/service/test_retention.c \
	tests/unit/service/test_ingest.c \
	tests/unit/service/test_removal.c \
	tests/unit/service/test_uploads.c

TESTS_jobs := \
	tests/unit/jobs/test_kill9.c \
	tests/unit/jobs/test_torture.c \
	tests/unit/jobs/test_worker.c

TESTS_api :=

TESTS_ui :=

TESTS_server := \
	tests/unit/server/test_config.c

TESTS_indexer := \
	tests/unit/indexer/test_bombs.c \
	tests/unit/indexer/test_by_hand.c \
	tests/unit/indexer/test_expected.c \
	tests/unit/indexer/test_fact_stream.c \
	tests/unit/indexer/test_hostile_json.c \
	tests/unit/indexer/test_identity.c \
	tests/unit/indexer/test_indexer.c \
	tests/unit/indexer/test_ranks.c \
	tests/unit/indexer/test_sandbox.c \
	tests/unit/indexer/test_torture.c

TESTS_collector :=

# Tests that run a program, or themselves, without sanitizers: built in the plain build too.
TESTS_PLAIN := \
	tests/unit/indexer/test_sandbox.c

# ---- fuzz targets: tests/fuzz/fuzz_<name>.c, one block per module ----

FUZZ_base := \
	tests/fuzz/fuzz_source.c \
	tests/fuzz/fuzz_num.c

FUZZ_facts := tests/fuzz/fuzz_facts.c

FUZZ_bundle := \
	tests/fuzz/fuzz_bundle.c \
	tests/fuzz/fuzz_manifest.c

FUZZ_formats := \
	tests/fuzz/fuzz_json.c \
	tests/fuzz/fuzz_nsys.c \
	tests/fuzz/fuzz_perfetto.c \
	tests/fuzz/fuzz_xplane.c

FUZZ_segment := tests/fuzz/fuzz_segment.c

FUZZ_http := \
	tests/fuzz/fuzz_http.c

FUZZ_api :=

FUZZ_auth := tests/fuzz/fuzz_auth.c

FUZZ_server := tests/fuzz/fuzz_config.c

# ---- benchmarks: tests/bench/bench_<name>.c ----

BENCH := \
	tests/bench/bench_parse.c \
	tests/bench/bench_instructions.c \
	tests/bench/bench_export.c \
	tests/bench/bench_segment.c \
	tests/bench/bench_index.c \
	tests/bench/bench_retention.c \
	tests/bench/bench_http.c \
	tests/bench/bench_delete.c

# ---- what each module is linked with (itself and everything below it), and the libraries it calls ----

ORDER := collector server ui api jobs service auth http indexer formats bundle export analysis demo segment model store facts base

MAY_base := base
MAY_facts := facts base
MAY_model := model base
MAY_bundle := bundle base
MAY_formats := formats model base
MAY_segment := segment model base
MAY_analysis := analysis segment model facts base
MAY_export := export segment model base
MAY_store := store facts base
MAY_demo := demo base
MAY_http := http base
MAY_auth := auth http store facts base
MAY_service := service export analysis segment model store facts base
MAY_jobs := jobs service export analysis segment model store facts base
MAY_api := api auth http $(MAY_jobs)
MAY_ui := ui auth http store facts base
MAY_server := server ui api demo auth http $(MAY_jobs)
MAY_indexer := indexer formats bundle analysis segment model facts base
MAY_collector := collector bundle base

PKG_base := libisal zlib libzstd libxxhash libcrypto
PKG_bundle := libarchive jansson
PKG_formats := sqlite3
PKG_demo := libarchive
PKG_store := sqlite3
PKG_http := libmicrohttpd
PKG_service := jansson
PKG_api := jansson
PKG_indexer := libseccomp
PKG_server := inih jansson
PKG_collector := libcurl jansson inih

# Tests of a module may link more than the module itself may (`TESTMAY_segment := formats`).
TESTMAY_model := formats
TESTMAY_formats := bundle
TESTMAY_bundle := formats
TESTMAY_segment :=
TESTMAY_analysis := formats demo
TESTMAY_export := formats demo
TESTMAY_indexer := demo

include mk/flags.mk
include mk/deps.mk
include mk/build.mk
include mk/web.mk
include mk/test.mk
include mk/lint.mk
include mk/install.mk
