#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh MODEL TRANSITIONS WHAT EXPECT [-DNAME[=VALUE]...]
# Searches a model: MODEL.pml. WHAT: `safety` (order, once, bounded, no deadlock) or the name of an LTL claim.
# EXPECT: `none` (full search, no error) or the text of the error that must come up. With WHAT
# `reach` EXPECT is a list of inputs: a move must be able to end by each while packets are held (in
# the state that -DREACH_IN names). CFLAGS: of the compiler. To optimise takes 13 s: it pays for searches that take minutes.
set -eu
model=$1.pml transitions=$(realpath "$2") what=$3 expect=$4
shift 4
src=$(dirname "$(realpath "$0")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cp "$transitions" transitions.pml
cp "$src/$model" .

# search WHAT EXPECT DEFINES...
search() {
    local what=$1 expect=$2 flags=(-DMEMLIM=4000 -DNFAIR=3) args=(-m10000000)
    shift 2
    if [ "$what" = safety ]; then
        flags+=(-DSAFETY -DNOCLAIM)
        [ "$model" != spray.pml ] || flags+=(-DBFS) # it has many states and short ways to them
    else
        set -- -DLIVENESS "$@"
        args+=(-a -f -N "$what") # weak fairness: what stays possible happens
    fi
    spin -a "$@" "$model" >spin.log || { cat spin.log; exit 1; }
    # shellcheck disable=SC2086
    cc -w ${CFLAGS:-} "${flags[@]}" -o pan pan.c
    ./pan "${args[@]}" >pan.log || { cat pan.log; exit 1; }
    printf '%s %s: ' "$what" "$*"
    awk '/errors:/ { e = $NF } /states, stored/ { s = $1 } /elapsed time/ { t = $(NF - 1) }
        END { printf "%s states, %s errors, %s s\n", s, e, t }' pan.log
    if [ "$expect" = none ]; then
        grep -q 'errors: 0$' pan.log &&
            ! grep -qE 'not completed|depth too small|truncated' pan.log && return
        spin -t -p -g "$@" "$model" | tail -60 || true
    else
        grep -qF "$expect" pan.log && return
        echo "no such error: $expect"
    fi
    cat pan.log
    exit 1
}

if [ "$what" = reach ]; then
    for input in $expect; do
        search safety 'assertion violated  !' "-DREACH=IN_$input" "$@"
    done
else
    search "$what" "$expect" "$@"
fi
