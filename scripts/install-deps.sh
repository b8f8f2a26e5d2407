#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that building and testing need, and says what it does. Idempotent; under a
# second when nothing is missing. Root, or sudo. Extra packages may be named: install-deps.sh valgrind
#   FSC_DEPS=build  only what a build needs (no browser, no linters): what the Dockerfile asks for
#   FSC_DEPS=run    only the shared libraries of the programs
set -eu

RUN='libmicrohttpd12 libsqlite3-0 libjansson4 libarchive13 libcurl4 libisal2 zlib1g libzstd1 libssl3
	libxxhash0 libinih1 libseccomp2 ca-certificates'
BUILD='gcc libc6-dev make pkg-config libmicrohttpd-dev libsqlite3-dev libjansson-dev libarchive-dev
	libcurl4-openssl-dev libisal-dev zlib1g-dev libzstd-dev libssl-dev libxxhash-dev uthash-dev
	libinih-dev libseccomp-dev linux-libc-dev ca-certificates git'
TEST='libcmocka-dev clang clang-format-14 cppcheck shellcheck libclang-rt-14-dev chromium
	fonts-dejavu-core sqlite3 curl jq zstd procps iproute2 binutils'

case ${FSC_DEPS:-all} in
run) want=$RUN ;;
build) want=$BUILD ;;
all) want="$BUILD $TEST" ;;
*) echo 'install-deps: FSC_DEPS is run, build or all' >&2; exit 2 ;;
esac
want="$want $*"

# Node 18 or later that is on the machine already stays, wherever it came from.
need_node() {
	major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
	[ "${major:-0}" -lt 18 ] || ! command -v npm >/dev/null 2>&1
}
if [ "${FSC_DEPS:-all}" != run ] && need_node; then
	want="$want nodejs npm"
fi

missing=
# shellcheck disable=SC2086 # a list of names
have=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' $want 2>/dev/null || true)
for p in $want; do
	case "
$have
" in
	*"
$p installed
"*) ;;
	*) missing="$missing $p" ;;
	esac
done
[ -n "$missing" ] || exit 0

echo "install-deps: installing:$missing"
if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null 2>&1; then
	as_root='sudo'
else
	echo 'install-deps: not root and no sudo; as root run:' >&2
	echo "  apt-get install --no-install-recommends$missing" >&2
	exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # words on purpose
{
	$as_root apt-get -qq update
	$as_root apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install $missing >/dev/null
}
echo 'install-deps: done'
