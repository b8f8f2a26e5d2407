#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One test program that writes TAP: counts its results, prints one line, appends "suite passed failed skipped
# seconds" to the results file. A crash, a missing result or a run without any test counts as a failure.
#   run-one.sh PROGRAM RESULTS
set -u
prog=$1 results=$2
suite=${prog#*/tests/}
log=$(mktemp)
start=$(date +%s%N)
# shellcheck disable=SC2086 # FSC_WRAP is a command with arguments
timeout "${FSC_TEST_TIMEOUT:-300}" ${FSC_WRAP:-} "$prog" >"$log" 2>&1 </dev/null
rc=$?
ms=$((($(date +%s%N) - start) / 1000000))
counts=$(awk -v rc="$rc" '
	/^1\.\.[0-9]+/ { planned += substr($1, 4) }
	/^(not )?ok [0-9]+/ { if (/# SKIP/) s++; else if (/^ok/) p++; else f++ }
	END {
		if (p + f + s < planned) f += planned - p - f - s
		if (rc != 0 && f == 0) f = 1
		if (p + f + s == 0) f = 1
		printf "%d %d %d", p, f, s
	}' "$log")
# shellcheck disable=SC2086 # three numbers
set -- $counts
printf '%-44s %4d passed %3d failed %3d skipped  %6d ms\n' "$suite" "$1" "$2" "$3" "$ms"
if [ "$2" -gt 0 ]; then
	echo "---- output of $suite (exit status $rc) ----"
	grep -A3 "^not ok" "$log" | head -n 40
	echo "---- its last lines ----"
	tail -n 60 "$log"
	echo '----'
fi
echo "$suite $1 $2 $3 $ms" >>"$results"
rm -f "$log"
[ "$2" = 0 ]
