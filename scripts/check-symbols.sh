#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the objects say, beside what the includes say: undefined symbols of a module are defined only in modules
# it may include; exported names start with fsc_; nothing mutable is global in lib/ (scripts/globals.txt lists
# the exceptions, each with its reason).
#   check-symbols.sh BUILD_DIR [LAYERS [GLOBALS]]
set -u
build=$1
layers=${2:-scripts/layers.txt}
globals=${3:-scripts/globals.txt}
for lib in "$build"/lib*.a; do
	[ -f "$lib" ] || continue
	module=${lib##*/lib}
	module=${module%.a}
	nm -f sysv "$lib" 2>/dev/null | awk -v m="$module" -F'|' '
		/^Symbols from/ { obj = $0; sub(/.*\[/, "", obj); sub(/\]:.*/, "", obj) }
		NF == 7 { gsub(/[ \t]/, ""); print m, obj, $1, $3, $7 }'
done | awk '
	FILENAME == ARGV[1] {
		if ($1 == "module") {
			where[$2] = $3
			for (i = 4; i <= NF; i++) may[$2, $i] = 1
		}
		next
	}
	FILENAME == ARGV[2] { if ($1 !~ /^#/ && NF) allowed[$1, $2] = 1; next }
	{
		module = $1; object = $2; name = $3; class = $4; section = $5
		if (class == "U") { undefined[++n] = module SUBSEP object SUBSEP name; next }
		if (class ~ /[A-Z]/ && section !~ /UND/) {
			owner[name] = module
			if (name !~ /^fsc_/ && name != "main" && name != "environ" && name !~ /^argp_program_/) {
				printf "%s (%s): exported name %s does not start with fsc_\n", module, object, name
				bad++
			}
		}
		if (section ~ /^\.(data|bss|tbss|tdata)($|\.[^r])/ && where[module] ~ /^lib\// &&
		    name !~ /^(__func__|\.L|__PRETTY)/) {
			base = name; sub(/\.[0-9]+$/, "", base)
			if (!((module, base) in allowed)) {
				printf "%s (%s): mutable global %s in %s\n", module, object, name, section
				bad++
			}
		}
	}
	END {
		for (i = 1; i <= n; i++) {
			split(undefined[i], u, SUBSEP)
			to = owner[u[3]]
			if (to != "" && to != u[1] && !((u[1], to) in may)) {
				printf "%s (%s): uses %s of %s, which it may not include\n", u[1], u[2], u[3], to
				bad++
			}
		}
		exit bad > 0
	}' "$layers" "$globals" -
