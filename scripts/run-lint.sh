#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs `make lint-<check>` for each check, a few at a time, and prints one line per check.
#   run-lint.sh MAKE PATTERN CHECK...        FSC_RESULTS=file that gets the counts
set -u
make=$1 pattern=$2
shift 2
results=${FSC_RESULTS:-$(mktemp)}
before=$(wc -l <"$results")
# shellcheck disable=SC2016 # the inner shell expands these
one='
	log=$(mktemp)
	start=$(date +%s%N)
	if '"$make"' --no-print-directory MODE=debug "lint-$1" >"$log" 2>&1; then p=1 f=0 word=ok; else p=0 f=1 word=FAILED; fi
	ms=$((($(date +%s%N) - start) / 1000000))
	{
		printf "lint/%-39s %-28s %6d ms\n" "$1" "$word" "$ms"
		[ "$f" = 0 ] && [ ! -s "$log" ] || sed "s/^/    /" "$log" | head -60
	} >"$log.out"
	cat "$log.out"
	echo "lint/$1 $p $f 0 $ms" >>"$2"
	rm -f "$log" "$log.out"
	exit $f'
printf "lint/%s\n" "$@" | grep -E -e "${pattern:-.}" | sed s,lint/,, | MAKEFLAGS='' MFLAGS='' xargs -r -P "$(nproc)" -I{} sh -c "$one" sh {} "$results"
status=$?
[ "$(wc -l <"$results")" -gt "$before" ] || [ -n "$pattern" ] || status=1
[ -n "${FSC_RESULTS:-}" ] || rm -f "$results"
exit $status
