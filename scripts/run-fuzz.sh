#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs libFuzzer programs for SECS seconds each. New inputs go to build/fuzz-corpus/<name>; a crash is
# kept in build/fuzz-crashes and makes the run fail: minimise it and add it to tests/fuzz/corpus/<name>.
set -u
status=0
for prog in "$@"; do
	name=${prog##*/fuzz_}
	mkdir -p "build/fuzz-corpus/$name" build/fuzz-crashes "tests/fuzz/corpus/$name"
	echo "fuzz $name (${SECS:-20} s)"
	"$prog" -max_total_time="${SECS:-20}" -max_len="${MAX_LEN:-65536}" -rss_limit_mb=2048 -timeout=10 \
		-artifact_prefix="build/fuzz-crashes/$name-" -print_final_stats=1 \
		"build/fuzz-corpus/$name" "tests/fuzz/corpus/$name" >"build/fuzz-crashes/$name.log" 2>&1 ||
		{ status=1; tail -n 40 "build/fuzz-crashes/$name.log"; }
	grep -E '^stat::number_of_executed_units|DONE' "build/fuzz-crashes/$name.log"
done
exit $status
