#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: coverage.sh BUILD
# Which lines of the library and of config/ their unit tests run, per directory, by gcov, in BUILD-cov.
set -eu
build=$1-cov
cd "$(dirname "$0")/.."
[ -f "$build/build.ninja" ] || meson setup "$build" -Db_coverage=true >/dev/null
programs() {
    meson introspect "$build" --tests | python3 -c '
import json, os, re, sys
for t in json.load(sys.stdin):
    if re.fullmatch(sys.argv[1], t["name"]):
        print(os.path.relpath(t["cmd"][0], sys.argv[2]))' "$1" "$PWD/$build"
}
units=$(programs '(roce|probes|ppp|rfr|cc|engine|config)/(?!mutation).*')
# shellcheck disable=SC2086
ninja -C "$build" $units config/hp3.ini # which config/values reads
find "$build" -name '*.gcda' -delete # of earlier runs, and of the build
for p in $units; do (cd "$build" && "$p" >/dev/null 2>&1) || { echo "coverage: $p failed"; exit 1; }; done
exec scripts/coverage.py "$build"
