#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Dockerfile as it stands and starts what comes out, without a Docker engine: buildah with chroot isolation,
# on a base made by debootstrap from the mirror that apt uses. Needs root and a few GiB under TMPDIR; takes minutes.
#   DOCKER_CHECK_SETUP=program   is run with the folder of the base image before it is used: for networks that want
#                                certificates, proxies or registries of their own set up in it
#   DOCKER_CHECK_BASE=folder     a debootstrap folder to use, and to make when it is not there
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo 'docker-check: needs root (debootstrap and chroot)' >&2; exit 1; }
scripts/install-deps.sh buildah debootstrap curl
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
work=$(mktemp -d)
buildah() { command buildah --root "$work/storage" --runroot "$work/run" "$@"; }
server=
cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	buildah umount --all >/dev/null 2>&1 || true
	buildah rm --all >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap cleanup EXIT
step() { printf 'docker-check: %-58s %4d s\n' "$1" "$SECONDS"; }

base=${DOCKER_CHECK_BASE:-$work/base}
if [ ! -d "$base/etc" ]; then
	# shellcheck disable=SC2016 # apt fills these in
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 2>/dev/null |
		awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
	debootstrap --variant=minbase bookworm "$base" "${mirror:-http://deb.debian.org/debian}" >"$work/log" 2>&1 ||
		{ tail -20 "$work/log" >&2; exit 1; }
	rm -rf "$base"/var/cache/apt/archives/*.deb "$base"/var/lib/apt/lists/*
fi
[ -z "${DOCKER_CHECK_SETUP:-}" ] || "$DOCKER_CHECK_SETUP" "$base"
step 'base image (bookworm, minbase)'

c=$(buildah from scratch)
buildah add -q "$c" "$base" / >/dev/null
buildah commit -q "$c" docker.io/library/debian:bookworm-slim >/dev/null
buildah rm "$c" >/dev/null
step 'base image committed'

# What a clone would have, so that nothing built here gets in.
mkdir "$work/context"
git ls-files -co --exclude-standard | while read -r f; do [ ! -e "$f" ] || echo "$f"; done | tar -c -T - | tar -x -C "$work/context"
buildah bud -q --pull-never --format docker -t localhost/fleetscope:check "$work/context" >"$work/log" 2>&1 ||
	{ tail -60 "$work/log" >&2; echo 'docker-check: the Dockerfile does not build' >&2; exit 1; }
step 'Dockerfile built'

c=$(buildah from --pull-never localhost/fleetscope:check)
inspect() { buildah inspect --format "$1" "$c"; }
# shellcheck disable=SC2016 # buildah fills these in
user=$(inspect '{{.OCIv1.Config.User}}')
# shellcheck disable=SC2016
ports=$(inspect '{{range $p, $_ := .OCIv1.Config.ExposedPorts}}{{$p}} {{end}}')
entry=$(inspect '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}')
size=$(du -sm "$(buildah mount "$c")" | cut -f1)
echo "docker-check: user $user, ports $ports, entry point: $entry, $size MiB"
[ "$user" = fleetscope ] || { echo 'docker-check: it would not run as fleetscope' >&2; exit 1; }

# The entry point as it is, but on a free loopback port: the network is this machine's.
# shellcheck disable=SC2086 # words on purpose
buildah run "$c" -- $entry --listen 127.0.0.1:0 --require-tokens >"$work/server" 2>&1 &
server=$!
url=
for _ in $(seq 200); do
	url=$(sed -n 's|.*listening on \(http://[^/]*\)/.*|\1|p' "$work/server")
	[ -z "$url" ] || break
	sleep 0.1
done
[ -n "$url" ] || { cat "$work/server" >&2; echo 'docker-check: it does not start' >&2; exit 1; }
curl -fsS "$url/readyz" && echo
token=$(sed -n 's/.*first admin token, shown once: //p' "$work/server")
printf '{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":5}]}' |
	curl -fsS -H "Authorization: Bearer $token" --data-binary @- "$url/api/v1/bundles?name=a.json" >"$work/answer"
id=$(sed -n 's/.*"id":"\([0-9]*\)".*/\1/p' "$work/answer")
state=
for _ in $(seq 100); do
	state=$(curl -fsS -H "Authorization: Bearer $token" "$url/api/v1/bundles/$id" | sed -n 's/.*"state":"\([a-z]*\)".*/\1/p')
	case $state in ready | failed) break ;; esac
	sleep 0.1
done
[ "$state" = ready ] || { cat "$work/server" >&2; echo "docker-check: a trace became $state, not ready" >&2; exit 1; }
step 'the image serves, and indexes a trace in its sandbox'
