#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything `make test` runs: lint and its own tests, a plain and a sanitizer build, C unit tests, corpus replay,
# black-box tests. One line per suite, the totals last. A stage that fails does not stop the next ones.
#   test-all.sh PATTERN        (empty: everything; else an extended regular expression over suite names)
set -u
pattern=${1:-}
make=${MAKE:-make}
mode=${TEST_MODE:-asan}
jobs=$(nproc)
mkdir -p build
FSC_RESULTS=$(pwd)/build/test-results.txt
export FSC_RESULTS
: >"$FSC_RESULTS"
unset MAKEFLAGS MFLAGS MAKELEVEL
started=$(date +%s)

stage() {
	echo "== $1"
	shift
	"$@" || echo "   (failed: $*)"
}
# A build that fails is a failed test: its last lines say why.
build() {
	suite=$1
	shift
	log=build/$suite.log
	if "$@" >"$log" 2>&1; then
		printf '%-44s %s\n' "build/$suite" ok
		echo "build/$suite 1 0 0 0" >>"$FSC_RESULTS"
	else
		printf '%-44s %s\n' "build/$suite" FAILED
		grep -nE 'error|Error|warning' "$log" | head -n 40
		echo "build/$suite 0 1 0 0" >>"$FSC_RESULTS"
	fi
}

echo '== build'
build plain "$make" --no-print-directory -k MODE=debug -j"$jobs" all plain-bins
build "$mode" "$make" --no-print-directory -k MODE="$mode" -j"$jobs" all unit-bins T="$pattern"
stage lint "$make" --no-print-directory MODE=debug lint-all T="$pattern"
stage 'lint tests' scripts/run-lint-tests.sh "$pattern"
stage 'unit tests' "$make" --no-print-directory -k MODE="$mode" unit-run T="$pattern"
stage 'corpus replay' "$make" --no-print-directory -k MODE="$mode" replay-run T="$pattern"
if [ -f web/package.json ]; then
	stage 'black-box tests' "$make" --no-print-directory MODE="$mode" node-tests T="$pattern"
fi

echo
echo "took $(($(date +%s) - started)) s"
awk '
	$3 > 0 { print "failed: " $1 }
	{ p += $2; f += $3; s += $4 }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }' "$FSC_RESULTS"
