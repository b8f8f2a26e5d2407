#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A compilation database: compile-commands.sh COMMAND CONVERSION_DIRS FILE... prints one entry a file, as mk/build.mk
# would compile it from the root.
set -eu
command=$1 conversion=$2
shift 2
export FSC_COMMAND="$command" FSC_CONVERSION="$conversion" FSC_ROOT="$PWD"
printf '%s\n' "$@" | sort -u | awk '
	function quoted(s) {
		gsub(/\\/, "\\\\", s)
		gsub(/"/, "\\\"", s)
		return "\"" s "\""
	}
	BEGIN { n = split(ENVIRON["FSC_CONVERSION"], dirs, " "); print "[" }
	{
		extra = ""
		for (i = 1; i <= n; i++) if (index($0, dirs[i] "/") == 1) extra = " -Wconversion"
		printf "%s{\"directory\": %s, \"file\": %s, \"command\": %s}", sep, quoted(ENVIRON["FSC_ROOT"]), quoted($0),
			quoted(ENVIRON["FSC_COMMAND"] extra " -c -o /dev/null " $0)
		sep = ",\n"
	}
	END { print "\n]" }'
