#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gcc -fanalyzer: analyze.sh JOBS COMPILER-AND-FLAGS FILE... Findings that were looked at and are none stand in
# scripts/analyze.txt, a line each: FILE: FUNCTION: [-Wanalyzer-NAME] why. Any other, and any line there that no
# finding needs any more, fails.
set -eu
jobs=$1 cc=$2
shift 2
dir=build/analyze
rm -rf "$dir"
mkdir -p "$dir"
printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c \
	"$cc -fanalyzer -fdiagnostics-plain-output -c -o /dev/null {} 2>\"$dir/\$(echo {} | tr / +).txt\" || echo '{}: does not compile' >>$dir/broken"
if [ -f "$dir/broken" ]; then
	cat "$dir/broken"
	exit 1
fi
# FILE: FUNCTION: [-Wname], once each
cat "$dir"/*.txt | awk '
	/: In function / { f = $0; sub(/.*In function [^A-Za-z_]*/, "", f); sub(/[^A-Za-z0-9_].*/, "", f) }
	/ warning: .*\[-Wanalyzer-/ {
		file = $1; sub(/:.*/, "", file)
		w = $0; sub(/.*\[-Wanalyzer/, "[-Wanalyzer", w); sub(/\].*/, "]", w)
		print file ": " f ": " w
	}' | sort -u >"$dir/found"
sed -n 's/^\([^#][^ ]*: [^ ]*: \[[^]]*\]\) .*/\1/p' scripts/analyze.txt | sort -u >"$dir/known"
new=$(comm -23 "$dir/found" "$dir/known")
gone=$(comm -13 "$dir/found" "$dir/known")
[ -z "$new" ] || { echo "$new"; echo "details: $dir/*.txt"; }
[ -z "$gone" ] || echo "$gone" | sed 's/$/  in scripts\/analyze.txt is found no more/'
echo "$(grep -c . "$dir/found" || true) findings, $(grep -c . "$dir/known" || true) of them known"
[ -z "$new$gone" ]
