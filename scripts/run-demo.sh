#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Starts the server of one build on demo data, on RUN_PORT (8080) or the next free loopback port.
#   run-demo.sh BUILD_DIR
set -eu
build=$1
port=${RUN_PORT:-8080}
taken() { ss -Hltn 2>/dev/null | awk '{ print $4 }' | grep -q ":$1\$"; }
last=$((port + 100))
while taken "$port" && [ "$port" -lt "$last" ]; do port=$((port + 1)); done
exec "$build/fleetscope-server" --demo --data build/run-data --listen "127.0.0.1:$port"
