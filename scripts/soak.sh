#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: soak.sh BUILD     HOURS=N (default 8)
# New seeds of the order property until the time is over; the first seed of a failing run is the last
# one printed, and names it.
set -eu
build=$1
seed=$(date +%s)
end=$((SECONDS + ${HOURS:-8} * 3600))
while [ $SECONDS -lt $end ]; do
    echo "first seed $seed"
    "$build/tests/property/test_order" 10 300000 "$seed" >/tmp/hp3-soak.$$ 2>&1 || {
        cat /tmp/hp3-soak.$$
        exit 1
    }
    seed=$((seed + 10))
done
rm -f /tmp/hp3-soak.$$
