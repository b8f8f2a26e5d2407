# SPDX-License-Identifier: Apache-2.0
# Checks every #include against scripts/layers.txt:
#   awk -f check-layers.awk layers.txt FILE.c FILE.h ...
# One line per violation; exit status 1 when there is one.

function bad(msg) {
	printf "%s:%d: %s\n", FILENAME, FNR, msg
	failures++
}

# The module whose folder is the longest prefix of path.
function module_of(path,   m, best, len) {
	best = ""
	len = 0
	for (m in folder)
		if (index(path, folder[m] "/") == 1 && length(folder[m]) > len) {
			best = m
			len = length(folder[m])
		}
	return best
}

function glob_match(pattern, name) {
	if (substr(pattern, length(pattern)) == "*")
		return index(name, substr(pattern, 1, length(pattern) - 1)) == 1
	return pattern == name
}

function check_gate(name,   g, i, n, paths, ok) {
	for (g = 1; g <= n_gates; g++) {
		if (!glob_match(gate_pattern[g], name))
			continue
		n = split(gate_paths[g], paths, " ")
		ok = 0
		for (i = 1; i <= n; i++)
			if (index(FILENAME, paths[i]) == 1)
				ok = 1
		if (!ok)
			bad("<" name "> may be included only below: " gate_paths[g])
	}
}

function check_own(name,   target) {
	if (name !~ /\//) {
		bad("write \"module/file.h\" from the root, not \"" name "\"")
		return
	}
	target = name
	sub(/\/.*/, "", target)
	if (target == "server" || target == "collector" || target == "indexer")
		target = module_of(name)
	if (!(target in folder)) {
		bad("\"" name "\" names no module of layers.txt")
		return
	}
	if (target != here && !((here, target) in may))
		bad(here " may not include " target " (\"" name "\")")
}

FNR == NR {
	if ($1 == "module") {
		folder[$2] = $3
		for (i = 4; i <= NF; i++)
			may[$2, $i] = 1
	} else if ($1 == "gate") {
		gate_pattern[++n_gates] = $2
		$1 = $2 = ""
		sub(/^ +/, "")
		gate_paths[n_gates] = $0
	}
	next
}

FNR == 1 {
	here = module_of(FILENAME)
	if (here == "")
		bad("file is in no module of layers.txt")
}

/^[ \t]*#[ \t]*include/ {
	name = $0
	if (name ~ /</) {
		sub(/^[^<]*</, "", name)
		sub(/>.*/, "", name)
		check_gate(name)
	} else {
		sub(/^[^"]*"/, "", name)
		sub(/".*/, "", name)
		check_own(name)
	}
}

END { exit failures > 0 }
