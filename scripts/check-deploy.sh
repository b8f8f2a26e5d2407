#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the deployment files say is so: options exist (server/options.def), probes are routes, and port, data folder and
# user are those of the Dockerfile.
# shellcheck disable=SC2013 # names have no blanks
set -u
status=0
say() { echo "$1"; status=1; }
options=$(sed -n 's/^OPTION("\([a-z-]*\)".*/\1/p' server/options.def)
known() { printf '%s\n' "$options" | grep -qx -e "$1"; }
unit=scripts/fleetscope-server.service kube=deploy/kubernetes.yaml compose=deploy/compose.yaml

for f in Dockerfile "$unit" "$kube" "$compose" deploy/server.ini; do
	[ -f "$f" ] || { say "$f is not there"; continue; }
	# --option, FLEETSCOPE_OPTION, and "name = value" of config files; remarks count too
	case $f in
	Dockerfile) lines=$(grep -e '^ENTRYPOINT' -e '^CMD' "$f") ;;
	*) lines=$(cat "$f") ;;
	esac
	for o in $(printf '%s\n' "$lines" | grep -oE -e '--[a-z][a-z-]+' | sed 's/^--//' | grep -vx help); do
		known "$o" || say "$f: --$o is no option"
	done
	for v in $(printf '%s\n' "$lines" | grep -oE 'FLEETSCOPE_[A-Z_]+' | grep -v '^FLEETSCOPE_NAME$'); do
		known "$(printf '%s' "${v#FLEETSCOPE_}" | tr 'A-Z_' 'a-z-')" || say "$f: $v is no option"
	done
	for o in $(printf '%s\n' "$lines" | sed -n 's/^[# ]*\([a-z][a-z-]*\) = .*/\1/p'); do
		known "$o" || say "$f: $o is no option"
	done
done

port=$(sed -n 's/^EXPOSE \([0-9]*\)$/\1/p' Dockerfile)
data=$(sed -n 's/^VOLUME \(.*\)$/\1/p' Dockerfile)
uid=$(sed -n 's/.*--uid \([0-9]*\).*/\1/p' Dockerfile)
want() { grep -qE -e "$2" "$1" || say "$1: wants \"$2\", as in the Dockerfile"; }
want Dockerfile "\"--listen\", \"0.0.0.0:$port\""
want Dockerfile "\"--data\", \"$data\""
want "$kube" "containerPort: $port\$"
want "$kube" "listen = 0.0.0.0:$port\$"
want "$kube" "data = $data\$"
want "$kube" "mountPath: $data\$"
want "$kube" "runAsUser: $uid\$"
want "$kube" "fsGroup: $uid\$"
want "$kube" 'replicas: 1$'
want "$kube" 'type: Recreate$'
want "$compose" ":$port:$port\"\$"
want "$compose" "fleetscope:$data\$"
want "$compose" "user: \"$uid\"\$"
for path in $(sed -n 's/^ *path: //p' "$kube"); do
	grep -q "FSC_ROUTE(GET, \"$path\", .*, NONE," server/api/routes.def || say "$kube: $path is no route that is open to all"
done
version=$(sed -n 's/^VERSION := //p' Makefile)
for f in "$kube" "$compose"; do want "$f" "image: fleetscope:$version\$"; done
exit $status
