# SPDX-License-Identifier: Apache-2.0
# Banned functions and words. Comments and string literals do not count.
#   awk -f check-banned.awk FILE...
# An exception carries its reason on the line: /* lint: allow NAME, because ... */

BEGIN {
	n = split("strcpy strcat sprintf vsprintf gets strtok strncpy strncat atoi atol atoll atof sscanf rand " \
		"srand tmpnam mktemp system popen localtime gmtime ctime asctime strerror alloca setjmp longjmp", w, " ")
	for (i = 1; i <= n; i++)
		everywhere[w[i]] = 1
	n = split("assert exit abort _exit quick_exit", w, " ")
	for (i = 1; i <= n; i++)
		not_in_modules[w[i]] = 1
	n = split("malloc calloc realloc reallocarray strdup strndup free", w, " ")
	for (i = 1; i <= n; i++)
		only_in_base[w[i]] = 1
	n = split("printf fprintf vprintf vfprintf puts putchar fputs perror", w, " ")
	for (i = 1; i <= n; i++)
		only_in_front_ends[w[i]] = 1
}

function bad(name, why) {
	if (index($0, "lint: allow " name ",") > 0)
		return
	printf "%s:%d: %s: %s\n", FILENAME, FNR, name, why
	failures++
}

# The line without comments and literals; in_comment spans lines.
function code_of(s,   out, c, two, i, len, quote) {
	out = ""
	len = length(s)
	for (i = 1; i <= len; i++) {
		c = substr(s, i, 1)
		two = substr(s, i, 2)
		if (in_comment) {
			if (two == "*/") {
				in_comment = 0
				i++
			}
			continue
		}
		if (two == "//")
			break
		if (two == "/*") {
			in_comment = 1
			i++
			continue
		}
		if (c == "\"" || c == "'") {
			quote = c
			for (i++; i <= len && (c = substr(s, i, 1)) != quote; i++)
				if (c == "\\")
					i++
			out = out quote quote
			continue
		}
		out = out c
	}
	return out
}

function check_call(name) {
	if (name in everywhere)
		bad(name, "banned")
	else if (is_test)
		return
	else if (name == "fstat" && in_sandbox)
		bad(name, "use fsc_fs_fstat (base/fs.h): the sandbox has no newfstatat")
	else if ((name in not_in_modules) && !is_front_end && !is_base)
		bad(name, "only base and a program's front end end the process")
	else if ((name in only_in_base) && !is_base)
		bad(name, "use fsc_alloc and friends (base/alloc.h)")
	else if ((name in only_in_front_ends) && !is_front_end)
		bad(name, "only command-line front ends print; modules return errors or log")
}

FNR == 1 {
	in_comment = 0
	is_base = FILENAME ~ /^lib\/base\//
	in_sandbox = FILENAME ~ /^(indexer|lib\/(base|facts|model|bundle|formats|segment|analysis))\//
	is_test = FILENAME ~ /^(tests|scripts)\//
	is_front_end = FILENAME ~ /^(server|indexer|collector|demo)\/(main|cli[a-z_]*|summary)\.c$/ || FILENAME ~ /^collector\/cli\//
}

{
	code = code_of($0)
	if (code ~ /__attribute__/ && FILENAME != "lib/base/attr.h")
		bad("__attribute__", "use the names of base/attr.h")
	prev = ""
	while (match(code, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
		name = substr(code, RSTART, RLENGTH - 1)
		prev = RSTART > 1 ? substr(code, RSTART - 1, 1) : ""
		sub(/[ \t]*$/, "", name)
		if (prev != ">" && prev != "." && prev != "*")
			check_call(name)
		code = substr(code, RSTART + RLENGTH)
	}
}

END { exit failures > 0 }
