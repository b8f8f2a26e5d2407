# SPDX-License-Identifier: Apache-2.0
# SQL text lives only below lib/store/sqlite (and lib/store/pg), in lib/formats/nsys_queries.c (which reads databases
# of others) and in migrations/, is literal, and takes its
# values through bound parameters. Concatenated SQL is caught by no compiler, so it is caught here.
#   awk -f check-sql.awk FILE...

function bad(msg) {
	printf "%s:%d: %s\n", FILENAME, FNR, msg
	failures++
}

FNR == 1 {
	is_store = FILENAME ~ /^lib\/store\/(sqlite|pg)\// || FILENAME ~ /^lib\/formats\/nsys_queries\.c$/ || FILENAME ~ /^tests\/unit\/store\//
	is_test = FILENAME ~ /^tests\//
}

/"[ \t(]*(SELECT|INSERT INTO|INSERT OR|REPLACE INTO|UPDATE [a-z_]+ SET|DELETE FROM|CREATE (TABLE|INDEX|UNIQUE|TRIGGER|VIEW)|DROP (TABLE|INDEX)|ALTER TABLE|PRAGMA|BEGIN IMMEDIATE|ATTACH) / {
	if (!is_store && !is_test)
		bad("SQL text outside lib/store/sqlite")
	if (!is_test && $0 ~ /%[-0-9.]*(s|d|i|u|l|z|j|x|q|Q|w|"PRI|" PRI)/ && $0 !~ /LIKE/)
		bad("SQL is literal: bind the value, do not print it into the text")
}

is_store && /sqlite3_v?(mprintf|snprintf)[ \t]*\(/ { bad("SQL is literal: no sqlite3 printf") }

# sqlite3_exec and sqlite3_prepare with a text that was built on the spot
is_store && !is_test && /(snprintf|fsc_buf_printf|fsc_buf_addf?)[ \t]*\(.*"[^"]*(SELECT|INSERT|UPDATE|DELETE|WHERE|ORDER BY|VALUES)[ (]/ {
	bad("SQL is literal: it may not be put together at run time")
}

END { exit failures > 0 }
