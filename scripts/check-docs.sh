#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Documentation follows the tree: every limit of base/limits.h is in docs/limits.md and the reverse, every relative
# link of a Markdown file leads somewhere, every file:function of docs/ARCHITECTURE.md exists.
# shellcheck disable=SC2013,SC2016 # names have no blanks, patterns have backticks
set -u
status=0
say() { echo "$1"; status=1; }

if [ -f lib/base/limits.h ] && [ -f docs/limits.md ]; then
	for name in $(sed -n 's/^#define \(FSC_[A-Z_]*\) .*/\1/p' lib/base/limits.h | grep -vE '^FSC_([KMG]IB|BASE_LIMITS_H)$'); do
		grep -q "\`$name\`" docs/limits.md || say "docs/limits.md: $name is missing"
	done
	for name in $(sed -n 's/^| `\(FSC_[A-Z_]*\)`.*/\1/p' docs/limits.md); do
		grep -q "^#define $name " lib/base/limits.h || say "docs/limits.md: $name is not in base/limits.h"
	done
fi

for f in $(git ls-files -co --exclude-standard -- '*.md'); do
	[ -f "$f" ] || continue
	dir=$(dirname "$f")
	for link in $(grep -oE '\]\([^)#: ]+[^):]*\)|src="[^":]+"' "$f" | sed 's/^](//; s/)$//; s/^src="//; s/"$//; s/#.*//'); do
		[ -e "$dir/$link" ] || say "$f: $link is not there"
	done
done

# lines like: `server/http/listen.c: fsc_listen_start`
if [ -f docs/ARCHITECTURE.md ]; then
	sed -n 's/.*`\([a-z_/]*\.[a-z]*\): \([a-z_0-9]*\)`.*/\1 \2/p' docs/ARCHITECTURE.md | grep -v '^file' | while read -r file function; do
		if [ ! -f "$file" ]; then echo "docs/ARCHITECTURE.md: $file is not there"; elif
			! grep -q "\b$function\b" "$file"; then
			echo "docs/ARCHITECTURE.md: $function is not in $file"
		fi
	done | grep . && status=1
fi
[ ! -f server/options.def ] || scripts/options-doc.sh || status=1
exit $status
