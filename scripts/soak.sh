#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: soak.sh BUILD     HOURS=N (default 8)  REPORT=FILE (default soak.json)
# Two things beside each other until the time is over: hp3ds on the P4 fabric to which all that can happen happens
# (tests/soak/fabric.py; a line of REPORT for each of its rounds), and new seeds: 10,000 of the whole program (tests/whole;
# WHOLE=N), then of it and of the engine's properties in turn; the first seed of a failing run is the last one printed, and
# names it.
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
run() { # NAME COMMAND...
    echo "$1, first seed $seed"
    nice -n 19 "${@:2}" "$seed" >"$out" 2>&1 || {
        cat "$out"
        exit 1
    }
}
whole() { # SEEDS
    run whole "$build/tests/whole/test_whole" "$build/tests/whole/libwhole_hp3d.so" "$1"
}
left=${WHOLE:-10000}
while [ $SECONDS -lt $end ] && [ "$left" -gt 0 ]; do
    kill -0 $fabric 2>/dev/null || break
    whole 500
    seed=$((seed + 500))
    left=$((left - 500))
done
worlds=$(meson test -C "$build" --list --suite property 2>/dev/null | sed -n 's,.* property/\([a-z_]*\)$,\1,p' | grep -v '^mutation_')
while [ $SECONDS -lt $end ]; do
    for t in $worlds; do
        [ $SECONDS -lt $end ] || break
        kill -0 $fabric 2>/dev/null || break 2
        run "$t" "$build/tests/property/test_$t" 20 60000
    done
    whole 100
    seed=$((seed + 100))
done
trap 'rm -f "$out"' EXIT
wait $fabric
