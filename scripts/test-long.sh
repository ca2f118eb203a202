#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: test-long.sh BUILD        STAGES="worlds lab ..."  SEEDS=N (default 100)  FAULTS=K/N (default 1/8, an eighth of all; 1/1: all)
#                                  AGAIN=1: also what has passed
# Tests that take too long for make test: the static analysers, the long runs of the model, SEEDS seeds of each world of the engine's
# properties, calls of hp3d and hp3ctl that fail, longer moves in the lab over paths that differ more, paths that are slower or
# congested, the simulator's fidelity with other seeds, order at full size, adverse networks, all loads of tests/harm, and clang's optimised code,
# gcc's sanitizers, ThreadSanitizer, aarch64, cross-built and emulated. docs/internals/testing.md has the time of each stage. If a stage
# fails, the next one runs nevertheless. BUILD/test-long has a log of each stage and summary.md, with results, dates and times.
# It may be interrupted: a stage that passed at this commit with the same SEEDS or FAULTS is not repeated, if the tree has no changes.
set -u
build=$1
cd "$(dirname "$0")/.." || exit 1
results=$build/test-long
mkdir -p "$results"

analysis() { scripts/analyze.py --build "$build"; }
seeds_of_worlds() { # BUILD SEEDS PACKETS FIRST
    meson test -C "$1" --list --suite property --suite property-long 2>/dev/null | sed -n 's,.* property/\([a-z_]*\)$,\1,p' | grep -v '^mutation_' |
        xargs -P 2 -I '{}' env "$1/tests/property/test_{}" "${@:2}" # env: what xargs runs is not replaced
}
worlds() { # the first seed is in what they print
    local first
    first=$(date +%s)
    ninja -C "$build" && seeds_of_worlds "$build" "${SEEDS:-100}" 60000 "$first" &&
        "$build/tests/whole/test_whole" "$build/tests/whole/libwhole_hp3d.so" $((10 * ${SEEDS:-100})) "$first"
}
fidelity() { tests/sim/fidelity.py "$build/sim/hp3-sim" tests/data/sim 1 2 3 4 5 6; }
sim() { suite sim-long; }
order() { tests/sim/order.py "$build/sim/hp3-sim" 3 "$(nproc)"; }
adverse() { tests/sim/adverse.py "$build/sim/hp3-sim" 16 10; }
other() { # NAME SUITES MESON OPTIONS...: another build of everything, and what needs no real time
    [ -f "$build-$1/build.ninja" ] || CC="$(command -v ccache) ${CC:-gcc}" meson setup "$build-$1" -Dwerror=true "${@:3}" >/dev/null || return
    # shellcheck disable=SC2086
    ninja -C "$build-$1" && scripts/run-tests.py "$build-$1" unit property replay replay-long sim fuzz $2
}
clang_code() { CC=clang other clang ''; }
# Mutants are not looked at: with sanitizers fuzzers make a quarter of their inputs.
gcc_san() { other gcc-san ^mutation -Db_sanitize=address,undefined -Db_lundef=false && seeds_of_worlds "$build-gcc-san" 8 60000 1 && scripts/run-tests.py "$build-gcc-san" property-long; }
races() {
    [ -f "$build-tsan/build.ninja" ] || CC="$(command -v ccache) clang" meson setup "$build-tsan" -Db_sanitize=thread -Db_lundef=false >/dev/null || return
    scripts/run-tests.py "$build-tsan" races
}
suite() { scripts/run-tests.py "$build" "$1"; }
unit() { scripts/run-tests.py "$build" unit unit-long replay-long whole-long; }
model() { suite model-long; }
pipeline() { suite pipeline-long; }
hostile() { suite hostile-long; }
fleet() { suite fleet-long; }
faults() { HP3_FAULTS_PART=${FAULTS:-1/8} suite faults-long; }
package() { DEB_BUILD_OPTIONS='parallel=2 noddebs' scripts/run-tests.py "$build" package package-long; } # optimised, as it ships
testbed() { suite testbed-long; }
harm() { suite harm-long; }
lab() {
    local code=0
    tests/lab/moves --build "$build" --seconds 30 --path-delay 2 || code=1
    tests/lab/moves --build "$build" --seconds 30 --path-delay 20 || code=1
    suite lab-long && return $code
}

# The commit, or a word of its own if the tree has changes.
tree() { if [ -z "$(git status --porcelain 2>&1)" ]; then git rev-parse --short=12 HEAD; else date +changed-%s; fi; }
row() { printf '| %s | %s | %s | %s | %s |\n' "$@"; }
# Of all stages: what this call ran, and what passed before.
summary() {
    local stage on with took at
    row stage result s commit date
    echo '|---|---|---:|---|---|'
    for stage in $all; do
        if [ -n "${rows[$stage]-}" ]; then
            echo "${rows[$stage]}"
        elif [ -f "$results/$stage.passed" ] && read -r on with took at <"$results/$stage.passed"; then
            row "$stage" passed "$took" "$on" "$at"
        fi
    done
}
bad=()
declare -A rows=()
all='analysis unit fidelity sim order adverse model pipeline hostile fleet races faults worlds testbed harm lab clang_code gcc_san package'
for stage in ${STAGES:-$all}; do
    case $stage in worlds) words=${SEEDS:-100} ;; faults) words=${FAULTS:-1/8} ;; *) words=- ;; esac
    done=$results/$stage.passed on=$(tree)
    # COMMIT WORDS SECONDS DATE
    if [ -z "${AGAIN-}" ] && [ -f "$done" ] && read -r commit with took at <"$done" && [ "$commit $with" = "$on $words" ]; then
        printf '\n== %s: passed on %s, not repeated (AGAIN=1)\n' "$stage" "$at"
        continue
    fi
    rm -f "$done"
    printf '\n== %s (%d s since start; %s)\n' "$stage" "$SECONDS" "$results/$stage.log"
    began=$SECONDS result=passed
    "$stage" 2>&1 | tee "$results/$stage.log"
    [ "${PIPESTATUS[0]}" = 0 ] || { result=failed; bad+=("$stage"); }
    [ "$(tree)" = "$on" ] || on=changed
    [ $result = failed ] || echo "$on $words $((SECONDS - began)) $(date +%F)" >"$done"
    rows[$stage]=$(row "$stage" $result $((SECONDS - began)) "$on" "$(date +%F)")
    summary >"$results/summary.md"
done
summary | tee "$results/summary.md"
[ ${#bad[@]} -eq 0 ] || { echo "test-long: failed: ${bad[*]}"; exit 1; }
