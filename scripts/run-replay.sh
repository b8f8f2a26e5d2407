#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Replays each fuzz corpus (tests/fuzz/corpus/<name>) through build/<mode>/tests/fuzz/replay_<name>.
set -u
here=$(cd "$(dirname "$0")" && pwd)
FSC_TEST_TIMEOUT=${FSC_TEST_TIMEOUT:-300} exec "$here/run-unit.sh" "$@"
