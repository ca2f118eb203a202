#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: soak.sh BUILD     HOURS=N (default 8; 0.2 is 12 minutes)  REPORT=FILE (default soak.json)
# Two things beside each other until the time is over: hp3ds on the P4 fabric to which all that can happen happens
# (tests/soak/fabric.py; a line of REPORT for each of its rounds), and new seeds: 10,000 of the whole program (tests/whole;
# WHOLE=N), then of it and of the engine's properties in turn; the first seed of a failing run is the last one printed, and
# names it. The exit code is 1 if either found something; what was begun is gone when this is killed.
set -u
build=$1
cd "$(dirname "$0")/.." || exit 1
minutes=$(awk -v hours="${HOURS:-8}" 'BEGIN { if (hours !~ /^[0-9]*[.]?[0-9]+$/ || hours == 0) exit 1; print 60 * hours }') ||
    { echo "soak: HOURS=$HOURS is no number of hours: say 8, or 0.2" >&2; exit 2; }
seed=$(date +%s)
end=$((SECONDS + $(printf %.0f "$(awk "BEGIN { print 60 * $minutes }")")))
out=$(mktemp)
tests/soak/fabric.py "$build" --minutes "$minutes" --report "${REPORT:-soak.json}" &
fabric=$! seeds=
# shellcheck disable=SC2086
trap 'rm -f "$out"; kill $fabric $seeds 2>/dev/null; wait $fabric' EXIT
trap 'exit 143' INT TERM
run() { # NAME COMMAND...
    echo "$1, first seed $seed"
    nice -n 19 "${@:2}" "$seed" >"$out" 2>&1 &
    seeds=$!
    wait $seeds || { # not in the foreground, where a signal would wait for its end
        cat "$out"
        exit 1
    }
    seeds=
}
whole() { # SEEDS
    run whole "$build/tests/whole/test_whole" "$build/tests/whole/libwhole_hp3d.so" "$1"
}
left=${WHOLE:-10000}
while [ $SECONDS -lt $end ] && [ "$left" -gt 0 ]; do
    kill -0 $fabric 2>/dev/null || break
    whole 100
    seed=$((seed + 100))
    left=$((left - 100))
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
