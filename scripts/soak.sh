#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: soak.sh BUILD     HOURS=N (default 8)  REPORT=FILE (default soak.json)
# Two things beside each other until the time is over: hp3ds on the P4 fabric to which all that can happen happens
# (tests/soak/fabric.py; a line of REPORT for each of its rounds), and new seeds of the engine's properties; the first
# seed of a failing run is the last one printed, and names it.
set -u
build=$1
cd "$(dirname "$0")/.." || exit 1
seed=$(date +%s)
end=$((SECONDS + ${HOURS:-8} * 3600))
out=$(mktemp)
tests/soak/fabric.py "$build" --minutes $((${HOURS:-8} * 60)) --report "${REPORT:-soak.json}" &
fabric=$!
trap 'rm -f "$out"; kill $fabric 2>/dev/null; wait $fabric' EXIT
trap 'exit 143' INT TERM
worlds=$(meson test -C "$build" --list --suite property 2>/dev/null | sed -n 's,.* property/\([a-z_]*\)$,\1,p' | grep -v '^mutation_')
while [ $SECONDS -lt $end ]; do
    for t in $worlds; do
        [ $SECONDS -lt $end ] || break
        kill -0 $fabric 2>/dev/null || break 2
        echo "$t, first seed $seed"
        nice -n 19 "$build/tests/property/test_$t" 20 60000 "$seed" >"$out" 2>&1 || {
            cat "$out"
            exit 1
        }
    done
    seed=$((seed + 20))
done
trap 'rm -f "$out"' EXIT
wait $fabric
