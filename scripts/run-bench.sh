#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the benchmark programs one after the other. Each prints lines `name value unit ratio baseline`; all lines are
# also written to build/bench.json.
set -u
mkdir -p build
out=build/bench.txt
: >"$out"
status=0
for prog in "$@"; do
	# a pipe has the status of tee: that of the program goes beside it
	{
		case $prog in
		*.mjs) timeout 900 node --enable-source-maps "$prog" ;;
		*) "$prog" ;;
		esac
		echo $? >"$out.status"
	} | tee -a "$out"
	[ "$(cat "$out.status")" = 0 ] || {
		echo "$prog failed" >&2
		status=1
	}
done
rm -f "$out.status"
awk 'BEGIN { print "[" }
	NF >= 5 { printf "%s  {\"name\":\"%s\",\"value\":%s,\"unit\":\"%s\",\"ratio\":%s,\"baseline\":\"%s\"}", sep, $1, $2, $3,
		$4 ~ /^[-0-9.e+]+$/ ? $4 : "null", $5; sep = ",\n" }
	END { print "\n]" }' "$out" >build/bench.json
exit $status
