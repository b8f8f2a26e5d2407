#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs cmocka programs (TAP) and prints one line per program; failures print the program's output.
#   run-unit.sh PROGRAM...        FSC_WRAP=command prefix (valgrind), FSC_RESULTS=file that gets the counts
# Exit status 1 when anything failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS="allow_user_segv_handler=0:handle_segv=2:detect_leaks=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
export TSAN_OPTIONS="allocator_may_return_null=1:second_deadlock_stack=1:${TSAN_OPTIONS:-}"
results=${FSC_RESULTS:-$(mktemp)}
[ $# -gt 0 ] || { echo 'no unit test picked'; exit 0; }
printf '%s\n' "$@" | xargs -P "${FSC_TEST_JOBS:-$(nproc)}" -I{} "$here/run-one.sh" {} "$results"
status=$?
if [ -z "${FSC_RESULTS:-}" ]; then
	awk '{ p += $2; f += $3; s += $4 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$results"
	status=$?
	rm -f "$results"
fi
[ "$status" = 0 ]
