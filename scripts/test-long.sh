#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: test-long.sh BUILD        STAGES="worlds lab ..."  SEEDS=N (default 100)  FAULTS=K/N (default 1/8, an eighth of all; 1/1: all)
# What make test has no time for: the static analysers, the long searches of the model, SEEDS seeds of each world of the engine's
# properties, calls of hp3d and hp3ctl that fail, longer moves in the lab over paths that differ more, paths that are slower or
# congested, the simulator's fidelity with other seeds, order at full size, adverse networks, all loads of the harm ring, and clang's optimised code,
# gcc's sanitizers, ThreadSanitizer, aarch64, cross-built and emulated. docs/internals/testing.md says how long each stage takes. A stage
# that fails does not keep the next one from running; the last lines say which failed, and how long each took.
set -u
build=$1
cd "$(dirname "$0")/.." || exit 1
bad=() took=()

analysis() { scripts/analyze.py --build "$build"; }
seeds_of_worlds() { # BUILD SEEDS PACKETS FIRST
    meson test -C "$build" --list --suite property 2>/dev/null | sed -n 's,.* property/\([a-z_]*\)$,\1,p' | grep -v '^mutation_' |
        xargs -P 2 -I '{}' env "$1/tests/property/test_{}" "${@:2}" # env: what xargs runs is not replaced
}
worlds() { seeds_of_worlds "$build" "${SEEDS:-100}" 60000 "$(date +%s)"; } # the first seed is in what it prints
fidelity() { tests/sim/fidelity.py "$build/sim/hp3-sim" tests/data/sim 1 2 3 4 5 6; }
cli() { suite sim-long; }
order() { tests/sim/order.py "$build/sim/hp3-sim" 3 "$(nproc)"; }
adverse() { tests/sim/adverse.py "$build/sim/hp3-sim" 16 10; }
other() { # NAME SUITES MESON OPTIONS...: another build of everything, and what needs no real time
    [ -f "$build-$1/build.ninja" ] || CC="$(command -v ccache) ${CC:-gcc}" meson setup "$build-$1" -Dwerror=true "${@:3}" >/dev/null || return
    # shellcheck disable=SC2086
    ninja -C "$build-$1" && scripts/run-tests.py "$build-$1" unit property replay sim fuzz $2
}
clang_code() { CC=clang other clang ''; }
# Mutants are not looked at: with sanitizers fuzzers make a quarter of their inputs.
gcc_san() { other gcc-san ^mutation -Db_sanitize=address,undefined -Db_lundef=false && seeds_of_worlds "$build-gcc-san" 8 60000 1 && scripts/run-tests.py "$build-gcc-san" property-long; }
races() {
    [ -f "$build-tsan/build.ninja" ] || CC="$(command -v ccache) clang" meson setup "$build-tsan" -Db_sanitize=thread -Db_lundef=false >/dev/null || return
    scripts/run-tests.py "$build-tsan" races
}
suite() { scripts/run-tests.py "$build" "$1"; }
model() { suite model-long; }
pipeline() { suite pipeline-long; }
fleet() { suite fleet-long; }
faults() { HP3_FAULTS_PART=${FAULTS:-1/8} suite faults-long; }
package() { suite package-long; }
testbed() { suite testbed-long; }
harm() { suite harm-long; }
lab() {
    local code=0
    tests/lab/moves --build "$build" --seconds 30 --path-delay 2 || code=1
    tests/lab/moves --build "$build" --seconds 30 --path-delay 20 || code=1
    tests/lab/reroute --build "$build" --slow-ms 400 peer congested dead dead_acks standard || code=1
    suite lab-long && return $code
}

for stage in ${STAGES:-analysis fidelity cli order adverse model pipeline fleet races faults worlds testbed harm lab clang_code gcc_san package}; do
    printf '\n== %s (%d s since start)\n' "$stage" "$SECONDS"
    began=$SECONDS
    "$stage" || bad+=("$stage")
    took+=("$stage $((SECONDS - began)) s")
done
printf '\ntest-long:'; printf ' %s;' "${took[@]}"; echo
[ ${#bad[@]} -eq 0 ] || { echo "test-long: failed: ${bad[*]}"; exit 1; }
