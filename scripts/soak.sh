#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: soak.sh BUILD     HOURS=N (default 8)
# New seeds of the engine's properties until the time is over; the first seed of a failing run is the
# last one printed, and names it.
set -eu
build=$1
seed=$(date +%s)
end=$((SECONDS + ${HOURS:-8} * 3600))
out=$(mktemp)
trap 'rm -f "$out"' EXIT
worlds=$(meson test -C "$build" --list --suite property 2>/dev/null | sed -n 's,.* property/\([a-z_]*\)$,\1,p' | grep -v '^mutation_')
while [ $SECONDS -lt $end ]; do
    for t in $worlds; do
        [ $SECONDS -lt $end ] || break
        echo "$t, first seed $seed"
        "$build/tests/property/test_$t" 20 60000 "$seed" >"$out" 2>&1 || {
            cat "$out"
            exit 1
        }
    done
    seed=$((seed + 20))
done
