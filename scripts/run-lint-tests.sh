#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of the lint scripts (tests/lint/*.sh, each writes TAP), one line per file.
#   run-lint-tests.sh PATTERN
set -u
pattern=${1:-}
files=$(find tests/lint -name 'test_*.sh' | sort | grep -E -e "${pattern:-.}")
[ -n "$files" ] || exit 0
# shellcheck disable=SC2086 # a list of files
exec scripts/run-unit.sh $files
