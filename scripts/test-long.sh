#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: test-long.sh BUILD        STAGES="worlds lab ..."  PART=K/N (default: a quarter, drawn from the commit; 1/1: all)
#                                  SEEDS=N (default 50)     AGAIN=1: also what has passed
# Tests that take too long for make test: the static analysers, the long runs of the model, SEEDS seeds of each world of the engine's
# properties, calls of hp3d and hp3ctl that fail, longer moves in the lab over paths that differ more, paths that are slower or
# congested, the simulator's fidelity with other seeds, order at full size, adverse networks, all loads of tests/harm, and clang's optimised code,
# gcc's sanitizers, ThreadSanitizer, aarch64, cross-built and emulated. docs/internals/testing.md has the time of each stage.
# Of the stages in `parted`, each N-th test runs, from the K-th one on: all take some five hours, a quarter less than two.
# Stages with time limits (`live`) run one after the other. At the same time, the others (`beside`) run one after the other, with SCHED_IDLE:
# they get processors only while no live stage wants them. If a stage fails, the next one runs nevertheless. BUILD/test-long has a log of each
# stage, and summary.md with results, dates and times. An interrupted run may be repeated: a stage that passed at this commit with the same
# SEEDS or PART does not run again, if the tree has no changes.
set -u
build=$1 half=${2-} # half: `beside`, only from this script itself
cd "$(dirname "$0")/.." || exit 1
results=$build/test-long
mkdir -p "$results"
live='pipeline hostile fleet faults testbed harm lab package'
beside='analysis unit fidelity sim order adverse model races worlds clang_code gcc_san aarch64'
parted=' faults testbed harm lab order model clang_code gcc_san aarch64 '

run_tests() { scripts/run-tests.py ${half:+--idle} "$@"; }
analysis() { scripts/analyze.py --build "$build"; }
seeds_of_worlds() { # BUILD SEEDS PACKETS FIRST
    meson test -C "$1" --list --suite property --suite property-long 2>/dev/null | sed -n 's,.* property/\([a-z_]*\)$,\1,p' | grep -v '^mutation_' |
        xargs -P 2 -I '{}' env "$1/tests/property/test_{}" "${@:2}" # env: what xargs runs is not replaced
}
worlds() { # the first seed is in what they print; the lock is that of run-tests.py, which builds for the other half
    local first
    first=$(date +%s)
    flock "$build" ninja -C "$build" && seeds_of_worlds "$build" "$SEEDS" 60000 "$first" &&
        "$build/tests/whole/test_whole" "$build/tests/whole/libwhole_hp3d.so" $((10 * SEEDS)) "$first"
}
fidelity() { tests/sim/fidelity.py "$build/sim/hp3-sim" tests/data/sim 1 2 3 4 5 6; }
sim() { suite sim-long; }
order() { tests/sim/order.py "$build/sim/hp3-sim" 1 "$(nproc)"; }
adverse() { tests/sim/adverse.py "$build/sim/hp3-sim" 16 10; }
other() { # NAME SUITES MESON OPTIONS...: another build of what tests need, and those that need no real time
    local options=(-Dwerror=true "${@:3}")
    if [ -f "$build-$1/build.ninja" ]; then
        meson configure "$build-$1" "${options[@]}" >/dev/null || return # an earlier run may have had others
    else
        CC="$(command -v ccache) ${CC:-gcc}" meson setup "$build-$1" "${options[@]}" >/dev/null || return
    fi
    (unset HP3_PART; scripts/run-tests.py --build "$build-$1" all ^mutation) || return
    # shellcheck disable=SC2086
    run_tests "$build-$1" unit property replay replay-long sim fuzz $2
}
# Mutants are left out: they die in make test, and with sanitizers fuzzers make a quarter of their inputs.
clang_code() { CC=clang other clang ^mutation; }
# The sanitizers' checks for NULL make gcc warn falsely.
gcc_san() { other gcc-san ^mutation -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=false && seeds_of_worlds "$build-gcc-san" 8 60000 1 && run_tests "$build-gcc-san" property-long; }
races() {
    [ -f "$build-tsan/build.ninja" ] || CC="$(command -v ccache) clang" meson setup "$build-tsan" -Db_sanitize=thread -Db_lundef=false >/dev/null || return
    run_tests "$build-tsan" races
}
suite() { run_tests "$build" "$1"; }
unit() { run_tests "$build" unit unit-long replay-long whole-long; }
model() { suite model-long; }
pipeline() { suite pipeline-long; }
hostile() { suite hostile-long; }
fleet() { suite fleet-long; }
faults() { HP3_FAULTS_PART=${PART%/*}/$((4 * ${PART#*/})) suite faults-long; }
package() { DEB_BUILD_OPTIONS='parallel=2 noddebs' suite package; } # optimised, as it ships
aarch64() { # its tests divide themselves, too; 77: no compiler or libraries
    (unset HP3_PART; scripts/run-tests.py --build "$build" package-long) && tests/aarch64/run "$build" || [ $? = 77 ]
}
testbed() { suite testbed-long; }
harm() { suite harm-long; }
lab() { suite lab-long; }

# The commit, or a word of its own if the tree has changes.
tree() { if [ -z "$(git status --porcelain 2>&1)" ]; then git rev-parse --short=12 HEAD; else date +changed-%s; fi; }
# Prints the newest result of each stage. STAGE.result has RESULT COMMIT WORDS SECONDS DATE; WORDS: SEEDS or PART.
summary() {
    local stage result on with took at
    printf '| stage | result | part, seeds | s | commit | date |\n|---|---|---|---:|---|---|\n'
    for stage in $live $beside; do
        read -r result on with took at 2>/dev/null <"$results/$stage.result" || continue
        echo "| $stage | $result | $with | $took | $on | $at |"
    done
}
run_stages() {
    local stage words file on result commit with took at began bad=0
    for stage in "$@"; do
        case $parted in *" $stage "*) words=$PART ;; *) words=- ;; esac
        [ "$stage" = worlds ] && words=$SEEDS
        file=$results/$stage.result on=$(tree)
        if [ -z "${AGAIN-}" ] && [ -f "$file" ] && read -r result commit with took at <"$file" &&
            [ "$result $commit $with" = "passed $on $words" ]; then
            printf '\n== %s: passed on %s, not repeated (AGAIN=1)\n' "$stage" "$at"
            continue
        fi
        rm -f "$file"
        printf '\n== %s (%d s since start; %s)\n' "$stage" "$SECONDS" "$results/$stage.log"
        began=$SECONDS result=passed
        if [ "$words" = "$PART" ]; then export HP3_PART=$PART; else unset HP3_PART; fi
        [ "$stage" = faults ] && unset HP3_PART # its tests divide themselves
        "$stage" >"$results/$stage.log" 2>&1 || { result=failed bad=1; tail -n 40 "$results/$stage.log"; }
        [ "$(tree)" = "$on" ] || on=changed
        echo "$result $on $words $((SECONDS - began)) $(date +%F)" >"$file"
        printf '\n== %s: %s, %d s\n' "$stage" "$result" $((SECONDS - began))
    done
    return $bad
}
export SEEDS=${SEEDS:-50} PART=${PART:-$((1 + 0x$(git rev-parse --short=4 HEAD 2>/dev/null || echo 0) % 4))/4}
[[ $PART =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] && [ $((${PART%/*})) -le $((${PART#*/})) ] ||
    { echo "test-long: PART=$PART is not K/N, for example 1/4" >&2; exit 2; }
stages=" ${STAGES:-$live $beside} "
stages=${stages//[[:space:]]/ }
chosen() { for stage in $1; do case "$stages" in *" $stage "*) echo "$stage" ;; esac; done; }
for stage in $stages; do
    case " $live $beside " in *" $stage "*) ;; *) echo "test-long: no stage '$stage'; there are: $live $beside" >&2; exit 2 ;; esac
done

if [ -n "$half" ]; then
    echo 19 2>/dev/null >/proc/self/autogroup
    # shellcheck disable=SC2046
    run_stages $(chosen "$beside")
    exit
fi
setsid chrt -i 0 scripts/test-long.sh "$build" beside &
other=$!
trap 'kill -TERM -- -$other 2>/dev/null; summary >"$results/summary.md"; exit 1' INT TERM HUP
bad=0
# shellcheck disable=SC2046
run_stages $(chosen "$live") || bad=1
wait $other || bad=1
summary | tee "$results/summary.md"
[ $bad = 0 ] || { echo 'test-long: not all passed'; exit 1; }
