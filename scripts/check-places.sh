#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/adding-a-*.md say which places a change of their kind touches. Each names something that exists and an
# expression for what the tree calls it; this counts: every place on the page is there and speaks of it, every source file in which
# the expression occurs is on the page, and the number on the page is that of its rows.
#   <!-- places: example=csv match=REGEX -->      (a blank in REGEX is written "\ ")
# shellcheck disable=SC2016 # patterns have backticks
set -u
status=0
say() { echo "$1"; status=1; }

for page in docs/adding-a-*.md; do
	[ -f "$page" ] || continue
	match=$(sed -n 's/^<!-- places: example=[^ ]* match=\(.*\) -->$/\1/p' "$page" | sed 's/\\ / /g')
	example=$(sed -n 's/^<!-- places: example=\([^ ]*\) .*/\1/p' "$page")
	if [ -z "$match" ]; then
		say "$page: no line <!-- places: example=NAME match=REGEX -->"
		continue
	fi
	places=$(sed -n 's/^| [0-9][0-9]* | `\([^`]*\)`.*/\1/p' "$page")
	rows=$(echo "$places" | grep -c .)
	grep -q "^Places: $rows\." "$page" || say "$page: has $rows places and does not say \"Places: $rows.\""
	for place in $places; do
		if [ ! -f "$place" ]; then say "$page: $place is not there"; elif
			! grep -qi -e "$example" "$place"; then
			say "$page: $place says nothing of $example"
		fi
	done
	# Tests, pages of the browser and documents use what exists; they are no places that a change must touch.
	for file in $(git grep -lE --untracked -e "$match" -- lib server indexer collector migrations Makefile mk scripts/*.def); do
		echo "$places" | grep -qxF "$file" || say "$page: $file matches and is not listed"
	done
	[ -n "$(git grep -lE --untracked -e "$match" -- lib server indexer collector migrations)" ] || say "$page: nothing matches $match"
done
exit $status
