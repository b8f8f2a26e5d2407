#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plants one violation at a time in a small tree and expects the check to name it; the clean tree must pass.
# TAP on standard output.
# shellcheck disable=SC2016,SC2046 # texts with backticks, lists of files
set -u
src=${FSC_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
n=0

result() { # status name
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else
		echo "not ok $n - $2"
		sed 's/^/# /' "$tree.log"
	fi
}
# passes NAME COMMAND...: the check accepts the tree as it stands
passes() {
	local name=$1
	shift
	(cd "$tree" && "$@") >"$tree.log" 2>&1
	result $? "$name"
}
# refuses NAME TEXT COMMAND...: the check fails and its output holds TEXT
refuses() {
	local name=$1 text=$2
	shift 2
	if (cd "$tree" && "$@") >"$tree.log" 2>&1; then result 1 "$name"; else
		grep -qF -e "$text" "$tree.log"
		result $? "$name"
	fi
}
write() { # path, text from standard input
	mkdir -p "$(dirname "$tree/$1")"
	cat >"$tree/$1"
}
fresh() {
	rm -rf "$tree"
	mkdir -p "$tree"
	git -C "$tree" init -q
	mkdir -p "$tree/scripts"
	cp "$src"/scripts/*.awk "$src"/scripts/*.sh "$src"/scripts/layers.txt "$tree/scripts/"
	echo '# none' >"$tree/scripts/globals.txt"
	write lib/base/a.h <<-'END'
		/* SPDX-License-Identifier: Apache-2.0 */
		#ifndef FSC_BASE_A_H
		#define FSC_BASE_A_H
		int fsc_a_get(void);
		#endif
	END
	write lib/base/a.c <<-'END'
		/* SPDX-License-Identifier: Apache-2.0 */
		/* strcpy( in a comment and "strcpy(" in a string do not count */
		#include "base/a.h"

		int fsc_a_get(void)
		{
			const char *s = "strcpy(x) SELECTED";

			return s[0];
		}
	END
	write lib/model/b.c <<-'END'
		/* SPDX-License-Identifier: Apache-2.0 */
		#include "base/a.h"

		int fsc_b_get(void);
		int fsc_b_get(void)
		{
			return fsc_a_get();
		}
	END
}
sources() { (cd "$tree" && git ls-files -co --exclude-standard -- '*.c' '*.h'); }
layers() { awk -f scripts/check-layers.awk scripts/layers.txt $(sources); }
banned() { awk -f scripts/check-banned.awk $(sources); }
sql() { awk -f scripts/check-sql.awk $(sources); }
lengths() { awk -f scripts/check-length.awk $(sources); }
headers() { scripts/check-headers.sh gcc -std=c17 -Wall -Wextra -Werror -iquote lib -iquote server -iquote .; }
symbols() {
	local m f
	rm -rf objects && mkdir objects
	for f in $(sources | grep '\.c$'); do
		m=${f#*/}
		m=${m%%/*}
		gcc -fPIE -iquote lib -c "$f" -o "objects/$(basename "$f").o" && ar rcs "objects/lib$m.a" "objects/$(basename "$f").o"
	done
	scripts/check-symbols.sh objects
}
api() { node "$src/scripts/check-api.mjs" .; }
plant() { # path, text: one more file
	printf '/* SPDX-License-Identifier: Apache-2.0 */\n%s\n' "$2" | write "$1"
}

fresh
passes 'a clean tree passes the layer check' layers
passes 'a clean tree passes the banned-function check' banned
passes 'a clean tree passes the SQL check' sql
passes 'a clean tree passes the length check' lengths
passes 'a clean tree passes the header check' headers
passes 'a clean tree passes the symbol check' symbols
passes 'a clean tree passes the house rules' scripts/check-house.sh
passes 'a tree whose lists are complete passes' scripts/check-lists.sh lib/base/a.c lib/model/b.c

refuses 'a .c file in no list is named' 'lib/model/b.c' scripts/check-lists.sh lib/base/a.c
refuses 'a listed file that is not there is named' 'lib/base/gone.c' \
	scripts/check-lists.sh lib/base/a.c lib/model/b.c lib/base/gone.c

plant lib/base/c.c '#include "model/trace.h"'
refuses 'base may not include model' 'base may not include model' layers
fresh
plant lib/store/c.c '#include "model/trace.h"'
refuses 'the store never sees the model' 'store may not include model' layers
fresh
plant server/http/c.c '#include "store/store.h"'
refuses 'http knows nothing of ours but base' 'http may not include store' layers
fresh
plant server/api/c.c '#include "formats/reader.h"'
refuses 'the server never includes formats' 'api may not include formats' layers
fresh
plant lib/base/c.c '#include <sqlite3.h>'
refuses 'a gated library header is refused elsewhere' '<sqlite3.h>' layers
fresh
plant lib/base/c.c '#include "a.h"'
refuses 'an include that is not written from the root is refused' 'module/file.h' layers
fresh
plant misc/c.c 'int x;'
refuses 'a file outside every module is refused' 'in no module' layers

for call in 'strcpy(a, b)' 'sprintf(a, "%d", 1)' 'system("ls")' 'strtok(a, b)' 'atoi(a)' 'localtime(a)'; do
	fresh
	plant lib/base/c.c "void fsc_c(char *a, char *b) { $call; }"
	refuses "${call%%(*} is banned" "${call%%(*}: banned" banned
done
fresh
plant lib/model/c.c 'void fsc_c(void) { void *p = malloc(3); }'
refuses 'malloc is refused outside base' 'malloc:' banned
fresh
plant lib/model/c.c 'void fsc_c(void) { exit(1); }'
refuses 'a library never exits' 'exit:' banned
fresh
plant lib/model/c.c 'void fsc_c(struct stat *b) { fstat(0, b); }'
refuses 'fstat is refused in what runs in the sandbox' 'fstat:' banned
fresh
plant server/api/c.c 'void fsc_c(void) { printf("x"); }'
refuses 'printf is refused outside front ends' 'printf:' banned
fresh
plant lib/model/c.c 'int fsc_c(void) __attribute__((pure));'
refuses 'attributes are spelled only in attr.h' '__attribute__' banned
fresh
plant lib/model/c.c 'void fsc_c(void) { exit(1); } /* lint: allow exit, because this is a test */'
passes 'an exception with its reason on the line is accepted' banned
fresh
plant lib/model/c.c 'void fsc_c(struct x *s) { s->free(s); s->ops.exit(s); }'
passes 'a member with the name of a banned function is no call of it' banned

fresh
plant server/service/c.c 'const char *q = "SELECT id FROM bundle";'
refuses 'SQL text outside the store is refused' 'SQL text outside' sql
fresh
plant lib/store/sqlite/c.c 'void f(void) { fsc_buf_printf(b, "SELECT id FROM bundle WHERE name = %s", x); }'
refuses 'a value printed into SQL is refused' 'bind the value' sql
fresh
plant lib/store/sqlite/c.c 'void f(void) { x = sqlite3_mprintf("%Q", y); }'
refuses 'sqlite3_mprintf is refused' 'no sqlite3 printf' sql
fresh
plant lib/store/sqlite/c.c 'const char *q = "SELECT id FROM bundle WHERE name = ?1";'
passes 'literal SQL with a bound value is accepted' sql

fresh
{ printf '/* SPDX-License-Identifier: Apache-2.0 */\nvoid fsc_long(void)\n{\n'; yes '	fsc_a_get();' | head -99; echo '}'; } |
	write lib/model/c.c
refuses 'a function of 101 lines is refused' '101 lines' lengths
fresh
{ printf '/* SPDX-License-Identifier: Apache-2.0 */\nvoid fsc_long(void)\n{\n'; yes '	fsc_a_get();' | head -98; echo '}'; } |
	write lib/model/c.c
passes 'a function of 100 lines is accepted' lengths

fresh
plant lib/model/c.h 'struct fsc_c { uint32_t n; };'
refuses 'a header that does not compile alone is named' 'uint32_t' headers

fresh
plant lib/model/c.c 'int get_it(void) { return 1; }'
refuses 'an exported name without the prefix is refused' 'get_it' symbols
fresh
plant lib/model/c.c 'int fsc_c_count;'
refuses 'a mutable global of lib/ is refused' 'fsc_c_count' symbols
fresh
plant lib/model/c.c 'int fsc_c_next(void) { static int n; return ++n; }'
refuses 'a mutable function-static of lib/ is refused' 'mutable global n' symbols
fresh
plant lib/model/c.c 'static int n; int fsc_c_next(void) { return ++n; }'
echo 'model n a counter that a test allows' >>"$tree/scripts/globals.txt"
passes 'a mutable global in globals.txt is accepted' symbols
fresh
plant lib/base/c.c 'extern int fsc_b_get(void); int fsc_c(void) { return fsc_b_get(); }'
refuses 'an extern that goes around the layers is refused' 'uses fsc_b_get of model' symbols

fresh
echo 'int x;' | write lib/model/c.c
refuses 'a file without SPDX line is named' 'lib/model/c.c' scripts/check-house.sh
fresh
echo "see /wo""rk/x" | write README.md
refuses 'a path of one machine is refused' 'a path of one machine' scripts/check-house.sh
fresh
echo '{ "resolved": "https://host/x.tgz" }' | write web/package-lock.json
refuses 'a download address in a lock file is refused' 'download address' scripts/check-house.sh
fresh
echo 'print(1)' | write tools/x.py
refuses 'a third language is refused' 'not C, TypeScript or shell' scripts/check-house.sh

fresh
passes 'without routes and contract the API check has nothing to say' api
plant server/api/routes.def 'FSC_ROUTE(GET, "/api/v1/bundles/{id}", fsc_api_bundle_get, FSC_SCOPE_READ, 0, 0)'
refuses 'routes without a contract are refused' 'openapi.json is missing' api
plant server/api/x.c 'void fsc_api_bundle_get(void) { fsc_req_query(r, "full"); }'
gates='"400":{},"401":{},"403":{},"429":{}'
contract() { # path, scope, query parameter
	write server/api/openapi.json <<-END
		{"openapi":"3.1.0","paths":{"$1":{"get":{"operationId":"get","x-permission":"$2","responses":{"200":{},$gates},
		"parameters":[{"in":"path","name":"id"},{"in":"query","name":"$3"}]}}}}
	END
}
contract '/api/v1/bundles/{id}' read full
passes 'routes and contract that agree pass' api
contract '/api/v1/bundle/{id}' read full
refuses 'a route that is not documented is named' 'routed but not in openapi.json' api
contract '/api/v1/bundles/{id}' admin full
refuses 'a scope that differs is named' 'scope is read' api
contract '/api/v1/bundles/{id}' read other
refuses 'a query parameter that is not documented is named' '"full"' api
gates='"400":{},"401":{},"403":{}'
contract '/api/v1/bundles/{id}' read full
refuses 'an answer that any call may give and is not documented is named' 'answer 429 is not documented' api
gates=$gates',"429":{}'
rm "$tree/server/api/x.c"
contract '/api/v1/bundles/{id}' read full
refuses 'a handler that is not defined is named' 'fsc_api_bundle_get is not defined' api

fresh
mkdir -p "$tree/docs"
echo "#define FSC_MAX_X 3" | write lib/base/limits.h
printf "| \140FSC_MAX_X\140 | 3 |\n" | write docs/limits.md
printf "see \140lib/base/a.c: fsc_a_get\140 and [limits](limits.md)\n" | write docs/ARCHITECTURE.md
passes 'documents that agree with the tree pass' scripts/check-docs.sh
echo "[gone](gone.md)" | write docs/x.md
refuses 'a link that leads nowhere is named' 'gone.md is not there' scripts/check-docs.sh
rm "$tree/docs/x.md"
echo "#define FSC_MAX_Y 3" >>"$tree/lib/base/limits.h"
refuses 'a limit that is not documented is named' 'FSC_MAX_Y is missing' scripts/check-docs.sh
sed -i /FSC_MAX_Y/d "$tree/lib/base/limits.h"
printf "\140lib/base/a.c: fsc_a_set\140\n" >>"$tree/docs/ARCHITECTURE.md"
refuses 'a function that the architecture page names and the code lacks is named' 'fsc_a_set' scripts/check-docs.sh

fresh
mkdir -p "$tree/docs"
echo 'OPTION("speed", 0, "N", NUMBER, "1..9", "3", SERVER, 0, speed, "How fast, (quick), \"so\"")' | write server/options.def
printf "%s\n" "<!-- options -->" "<!-- end -->" | write docs/config.md
refuses 'an option that is not documented is named' 'docs/config.md: differs from server/options.def' scripts/check-docs.sh
(cd "$tree" && scripts/options-doc.sh --write)
passes 'the page of options that was made from the table passes' scripts/check-docs.sh
sed -i s/1..9/1..8/ "$tree/server/options.def"
refuses 'an option whose range changed is refused' 'docs/config.md: differs' scripts/check-docs.sh

fresh
printf "#!/bin/sh\necho a_figure 1 s 2 other\n" >"$tree/good"
printf "#!/bin/sh\necho b_figure 1 s 2 other\nexit 3\n" >"$tree/bad"
chmod +x "$tree/good" "$tree/bad"
passes 'benchmarks that end well pass' scripts/run-bench.sh ./good
refuses 'a benchmark that fails is named' 'bad failed' scripts/run-bench.sh ./bad ./good

fresh
printf '%s\n' '<!-- places: example=csv match=fsc_csv -->' '| 1 | `lib/export/csv.c` | x |' '| 2 | `lib/export/registry.c` | x |' 'Places: 2.' |
	write docs/adding-a-exporter.md
echo 'int fsc_csv;' | write lib/export/csv.c
echo 'extern int fsc_csv;' | write lib/export/registry.c
passes 'a page that names every place passes' scripts/check-places.sh
echo 'extern int fsc_csv;' | write server/more.c
refuses 'a place that the page does not name is named' 'server/more.c matches and is not listed' scripts/check-places.sh
rm "$tree/server/more.c"
sed -i 's/Places: 2/Places: 3/' "$tree/docs/adding-a-exporter.md"
refuses 'a number of places that is wrong is refused' 'has 2 places' scripts/check-places.sh
sed -i 's/Places: 3/Places: 2/' "$tree/docs/adding-a-exporter.md"
rm "$tree/lib/export/registry.c"
refuses 'a place that is gone is named' 'lib/export/registry.c is not there' scripts/check-places.sh

fresh
mkdir -p "$tree/deploy" "$tree/server/api"
cp "$src"/Dockerfile "$src"/Makefile "$tree/"
cp "$src"/deploy/* "$tree/deploy/"
cp "$src"/scripts/*.service "$tree/scripts/"
cp "$src"/server/options.def "$tree/server/"
cp "$src"/server/api/routes.def "$tree/server/api/"
passes 'the deployment files as they are pass' scripts/check-deploy.sh
for change in "s/--config=/--konfig=/|--konfig is no option" "s/^    data =/    date =/|date is no option" "s/containerPort: .*/containerPort: 81/|containerPort: 8080" \
	"s/runAsUser: .*/runAsUser: 0/|runAsUser: 10001" "s,path: /readyz,path: /ready,|/ready is no route" "s/replicas: 1/replicas: 2/|replicas: 1"; do
	cp "$src/deploy/kubernetes.yaml" "$tree/deploy/"
	sed -i "${change%%|*}" "$tree/deploy/kubernetes.yaml"
	refuses "a manifest is refused after ${change%%|*}" "${change##*|}" scripts/check-deploy.sh
done

fresh
write lib/base/twice.c <<-'END'
	#include <stdlib.h>
	void fsc_twice(char *p);
	void fsc_twice(char *p)
	{
		free(p);
		free(p);
	}
END
echo '# none' | write scripts/analyze.txt
refuses 'a double free is found' 'lib/base/twice.c: fsc_twice: [-Wanalyzer-double-free]' scripts/analyze.sh 1 gcc lib/base/twice.c
echo 'lib/base/twice.c: fsc_twice: [-Wanalyzer-double-free] planted' | write scripts/analyze.txt
passes 'a finding that is known passes' scripts/analyze.sh 1 gcc lib/base/twice.c
refuses 'a known finding that is gone is named' 'is found no more' scripts/analyze.sh 1 'gcc -iquote lib' lib/base/a.c
(cd "$tree" && scripts/compile-commands.sh 'gcc -DX="a"' lib/base lib/base/a.c lib/base/twice.c) >"$tree/db.json"
passes 'a compilation database is JSON with an entry a file' node -e 'const d = JSON.parse(require("fs").readFileSync("db.json", "utf8")); process.exit(d.length === 2 && d[0].command.includes("-DX=\"a\" -Wconversion") ? 0 : 1)'

rm -f "$tree.log"
echo "1..$n"
