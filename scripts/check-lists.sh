#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The module lists of the Makefile and the files on disk agree: no stray .c file, no entry without a file.
#   check-lists.sh LISTED...      (all entries of SRC_*, TESTS_*, FUZZ_*, BENCH)
set -u
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
printf '%s\n' "$@" | sort >"$tmp/listed"
git ls-files -co --exclude-standard -- 'lib/*.c' 'server/*.c' 'indexer/*.c' 'collector/*.c' 'demo/*.c' 'tests/unit/*.c' \
	'tests/fuzz/fuzz_*.c' 'tests/bench/bench_*.c' |
	while read -r f; do [ -f "$f" ] && echo "$f"; done | sort >"$tmp/disk"
stray=$(comm -13 "$tmp/listed" "$tmp/disk" | grep -vE '^tests/unit/[a-z]+/(support|fake|help)_')
gone=$(comm -23 "$tmp/listed" "$tmp/disk")
twice=$(uniq -d "$tmp/listed")
[ -z "$stray" ] || printf 'in no list of the Makefile:\n%s\n' "$stray"
[ -z "$gone" ] || printf 'listed but not there:\n%s\n' "$gone"
[ -z "$twice" ] || printf 'listed twice:\n%s\n' "$twice"
[ -z "$stray$gone$twice" ]
