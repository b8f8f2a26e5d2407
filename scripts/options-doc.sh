#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table of docs/config.md from the rows of server/options.def. Without an argument it checks that the page has
# exactly this table between its marks; `--write` puts it there.
set -u
def=server/options.def page=docs/config.md
table=$(awk '
	function next_field(   c, out, quoted) { # fields are C literals or words, divided by commas
		out = ""
		quoted = 0
		sub(/^[ \t]+/, "", rest)
		while (rest != "") {
			c = substr(rest, 1, 1)
			rest = substr(rest, 2)
			if (c == "\\") { out = out substr(rest, 1, 1); rest = substr(rest, 2); continue }
			if (c == "\"") { quoted = !quoted; continue }
			if (!quoted && (c == "," || c == ")")) break
			out = out c
		}
		return out
	}
	/^OPTION\(/ {
		rest = substr($0, 8)
		for (i = 1; i <= 10; i++) f[i] = next_field()
		env = toupper(f[1])
		gsub(/-/, "_", env)
		gsub(/\|/, "\\|", f[3])
		gsub(/\|/, ", ", f[5])
		if (f[4] == "TEXT" || f[4] == "LIST" || f[4] == "LISTEN" || f[4] == "ORIGIN") f[5] = f[5] " bytes"
		if (f[4] == "FLAG") f[5] = "yes, no"
		if (f[6] == "NULL") f[6] = ""
		where = f[7] == "VERB" ? "command line only" : "`FLEETSCOPE_" env "`" (f[8] == "NO_FILE" ? ", not in the file" : "")
		printf "| `%s` | %s | %s | %s | %s |\n", f[1], f[5], f[6] == "" ? "–" : "`" f[6] "`", f[10], where
	}' "$def")
page_with() {
	awk -v table="$table" '/^<!-- options -->$/ { print; print "| Option | Values | Default | Meaning | Environment |";
		print "|---|---|---|---|---|"; print table; skip = 1 } /^<!-- end -->$/ { skip = 0 } !skip || 0 { if (!/^<!-- options -->$/) print }' "$page"
}
if [ "${1:-}" = --write ]; then
	new=$(page_with) && printf '%s\n' "$new" >"$page"
elif [ "$(page_with)" != "$(cat "$page")" ]; then
	echo "$page: differs from $def (scripts/options-doc.sh --write mends it)"
	exit 1
fi
