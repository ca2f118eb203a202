#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: test-long.sh BUILD
# What make test has no time for: the long searches of the model, 1,000 seeds of each world of the engine's properties, longer moves
# in the lab over paths that differ more, paths that are slower or congested, the simulator's fidelity with other seeds, all loads of
# the harm ring, and clang's optimised code, gcc's sanitizers, aarch64, cross-built and emulated. Several hours.
set -eu
build=$1
cd "$(dirname "$0")/.."
worlds=$(meson test -C "$build" --list --suite property 2>/dev/null | sed -n 's,.* property/\([a-z_]*\)$,\1,p' | grep -v '^mutation_')
xargs -P 2 -I '{}' "$build/tests/property/test_{}" 1000 60000 1000 <<<"$worlds"
tests/lab/moves --build "$build" --seconds 30 --path-delay 2
tests/lab/moves --build "$build" --seconds 30 --path-delay 20
tests/lab/reroute --build "$build" --slow-ms 400 peer congested dead dead_acks standard
tests/sim/fidelity.py "$build/sim/hp3-sim" tests/data/sim 1 2 3 4 5 6
[ -f "$build-clang/build.ninja" ] || CC=clang meson setup "$build-clang" -Dwerror=true >/dev/null
[ -f "$build-gcc-san/build.ninja" ] ||
    meson setup "$build-gcc-san" -Dwerror=true -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
for b in "$build-clang" "$build-gcc-san"; do
    ninja -C "$b"
    scripts/run-tests.py "$b" unit property replay sim fuzz
done
scripts/run-tests.py "$build-gcc-san" property-long
scripts/run-tests.py "$build" model-long testbed-long harm-long lab-long package-long pipeline-long
