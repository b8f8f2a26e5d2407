# SPDX-License-Identifier: Apache-2.0
# Function lengths. Over 100 lines is an error; over 60 is listed (up to 10, longest first come first seen).
#   awk -f check-length.awk FILE...
# Relies on the format that clang-format enforces: a function's braces stand alone in column one.

/^[A-Za-z_].*\(/ && !/;[ \t]*$/ { name = $0 }
/^\{$/ { start = FNR }
/^\}$/ && start {
	n = FNR - start + 1
	where = FILENAME ":" start ": " n " lines: " name
	if (n > 100) {
		print where
		failures++
	} else if (n > 60 && ++n_long <= 10) {
		note[n_long] = where
	}
	start = 0
}
FNR == 1 { start = 0 }
END {
	if (n_long)
		printf "%d functions are over 60 lines, for example:\n", n_long
	for (i = 1; i <= n_long && i <= 10; i++)
		print "  " note[i]
	exit failures > 0
}
