#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Small rules over all files: SPDX line, no path of one person's machine, no download addresses in lock files,
# no trailing blanks, text ends with a newline, two languages only.
set -u
files=$(git ls-files -co --exclude-standard | while read -r f; do [ -f "$f" ] && echo "$f"; done)
status=0
complain() {
	[ -z "$2" ] || { printf '%s:\n%s\n' "$1" "$2"; status=1; }
}
list() { printf '%s\n' "$files" | grep -E "$1"; }

complain 'no SPDX line in the first three lines' "$(
	list '(\.(c|h|sh|awk|mk|ts|tsx|mjs|sql|def)|^Makefile|^Dockerfile)$' | while read -r f; do
		head -n 3 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$f"
	done)"
texts=$(list '\.(c|h|sh|awk|mk|ts|tsx|mjs|sql|def|md|json|txt|css|html)$|^Makefile$|^Dockerfile$|^\.ci/')
# shellcheck disable=SC2086 # file names of this repository have no blanks
if [ -n "$texts" ]; then
	complain 'a path of one machine' "$(grep -nE '(^|[^A-Za-z0-9_.-])/(work|farm)/|/tmp/fs/|/home/[a-z]+/' \
		$texts /dev/null | grep -v '^scripts/check-house.sh:' | grep -v '^tests/lint/')"
	complain 'a download address in a lock file' "$(grep -nE '"resolved": *"http' $texts /dev/null |
		grep -E '\.json:' | head -5)"
	complain 'the host of a package registry' "$(grep -nE 'https?://(registry|packages|pypi|mirror|proxy)\.' \
		$texts /dev/null | grep -v '^scripts/check-house.sh:' | grep -v '^tests/lint/')"
	complain 'blanks at the end of a line' "$(grep -nE '[ 	]+$' $texts /dev/null |
		grep -vE '^(LICENSE|tests/.*corpus)' | grep -vE '\.md:' | head -20)"
fi
complain 'not C, TypeScript or shell' "$(list '\.(py|pl|rb|go|rs|cc|cpp|java|lua)$' | grep -v '^python/')"
exit $status
