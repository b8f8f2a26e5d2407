#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each header compiles alone.
#   check-headers.sh COMPILER FLAGS...
set -u
git ls-files -co --exclude-standard -- 'lib/*.h' 'server/*.h' 'indexer/*.h' 'collector/*.h' 'demo/*.h' |
	while read -r f; do [ -f "$f" ] && echo "$f"; done |
	xargs -r -P "$(nproc)" -I{} "$@" -fsyntax-only -x c -include {} /dev/null
