#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the bundled black-box tests one file at a time and prints one line per file.
#   run-node.sh PATTERN        FSC_RESULTS=file that gets the counts
set -u
pattern=${1:-}
results=${FSC_RESULTS:-$(mktemp)}
status=0
[ -d build/tests ] || exit 0
for file in $(find build/tests/ -name '*.test.mjs' | sort | grep -E -e "${pattern:-.}"); do
	suite=${file#build/tests/}
	suite=${suite%.mjs}
	log=$(mktemp)
	start=$(date +%s%N)
	timeout "${FSC_NODE_TIMEOUT:-420}" node --enable-source-maps --test --test-reporter=tap "$file" >"$log" 2>&1 </dev/null
	rc=$?
	ms=$((($(date +%s%N) - start) / 1000000))
	counts=$(awk -v rc="$rc" '
		/^# pass [0-9]+$/ { p = $3 } /^# fail [0-9]+$/ { f = $3 } /^# cancelled [0-9]+$/ { c = $3 }
		/^# skipped [0-9]+$/ { s = $3 } /^# todo [0-9]+$/ { s += $3 }
		END {
			f += c
			if (rc != 0 && f == 0) f = 1
			if (p + f + s == 0) f = 1
			printf "%d %d %d", p, f, s
		}' "$log")
	# shellcheck disable=SC2086 # three numbers
	set -- $counts
	printf '%-44s %4d passed %3d failed %3d skipped  %6d ms\n' "$suite" "$1" "$2" "$3" "$ms"
	if [ "$2" -gt 0 ]; then
		status=1
		echo "---- output of $suite (exit status $rc) ----"
		grep -nE -A 40 '^ *not ok|^# Error|^# .*rror' "$log" | head -n 160
		[ "$rc" = 124 ] && echo 'ran out of time' && tail -n 30 "$log"
		echo '----'
	fi
	echo "$suite $1 $2 $3 $ms" >>"$results"
	rm -f "$log"
done
[ -n "${FSC_RESULTS:-}" ] || {
	awk '{ p += $2; f += $3; s += $4 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' "$results"
	rm -f "$results"
}
exit $status
