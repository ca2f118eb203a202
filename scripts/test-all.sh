#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: test-all.sh BUILD
# Every ring but the long ones: lint, two builds (gcc, clang with sanitizers), tests. In front: what runs against the clock (hp3d live,
# testbed, harm, lab, package). Beside it, on processors that would idle: all other tests. Their output comes at the end.
# BUILD/times.md has the time of each part.
set -u
build=$1
cd "$(dirname "$0")/.." || exit 1
sum=$(mktemp) idle=$(mktemp)
trap 'rm -f "$sum" "$idle"' EXIT
trap 'trap - TERM; kill -TERM 0' INT TERM # also what runs in the background
export HP3_TEST_SUM=$sum HP3_TIMES=$build/times.md
mkdir -p "$build" && rm -f "$HP3_TIMES"
bad=0
say() { printf '\n== %s (%d s since start)\n' "$1" "$SECONDS"; }

# UBSan's checks of null pointers, object sizes and pointer overflow take nearly half of the time to compile a source. ASan finds most
# of the same bugs, but not pointer overflow. gcc's sanitizers in make test-long have all of them. Reports need lines alone, lld links
# in half of the time, -O1 compiles a sixth faster than -O2, and headers that many sources share are read once (unity).
less='-fno-sanitize=null,object-size,pointer-overflow -fno-sanitize-recover=all -gline-tables-only'
set_up() {
    make -s "BUILD=$build" "$build/build.ninja" || return
    [ -f "$build-san/build.ninja" ] ||
        CC="$(command -v ccache) clang" CC_LD=lld meson setup "$build-san" -Dwerror=true -Dunity=on -Dunity_size=16 \
            -Doptimization=1 -Db_sanitize=address,undefined -Db_lundef=false -Dc_args="$less" -Dc_link_args=-Wl,--threads=1
}

say 'lint; beside it, both builds are set up'
set_up >"$idle" 2>&1 &
scripts/times.py run "$HP3_TIMES" lint scripts/lint.sh || exit 1
wait $! || { cat "$idle"; exit 1; }

# All of it compiles, also what no test here runs. Unit tests do so with clang.
say 'gcc: build'
scripts/times.py run "$HP3_TIMES" "build of $build: programs" ninja -C "$build" programs benches || exit 1
scripts/times.py run "$HP3_TIMES" "build of $build: tests" scripts/run-tests.py --build "$build" all ^unit ^unit-long ^whole-long || exit 1
scripts/times.py run "$HP3_TIMES" "build of $build: mutations" scripts/run-tests.py --build "$build" plain mutation || exit 1

say 'clang with ASan and UBSan: build'
san='unit property fuzz ^mutation ^plain'
# shellcheck disable=SC2086
scripts/times.py run "$HP3_TIMES" "build of $build-san" scripts/run-tests.py --build "$build-san" $san || exit 1

# Fuzzers and unit tests run once, with sanitizers, those of suite `plain` without. Mutations show that tests notice, once; each is a library
# of its own to build.
say 'fast suites begin on idle processors'
(
    bad=0
    scripts/run-tests.py --idle "$build" package-build || bad=1
    scripts/run-tests.py --idle "$build" plain replay property whole model sim mutation || bad=1
    # shellcheck disable=SC2086
    HP3_SEED_BASE='' scripts/run-tests.py --idle "$build-san" $san || bad=1
    exit $bad
) >"$idle" 2>&1 &

say 'hp3d live'
scripts/run-tests.py "$build" pipeline fleet hostile faults xfer ^mutation || bad=1

say 'testbed: P4 switches, links, hosts'
scripts/run-tests.py "$build" testbed || bad=1

say 'harm: hp3d as shipped on healthy networks'
scripts/run-tests.py "$build" harm || bad=1

say 'lab: real RNIC stacks in virtual machines'
scripts/run-tests.py "$build" lab || bad=1

say 'package: built, checked, installed, upgraded and purged in a fresh root'
scripts/run-tests.py "$build" package || bad=1

say 'fast suites, gcc and clang with sanitizers: their end'
wait $! || bad=1
cat "$idle"

say 'done'
cat "$HP3_TIMES"
awk '/^failed> / { print; next }
     { p += $2; f += $4; s += $6 }
     END { printf "tests: %d passed, %d failed, %d skipped\n", p, f, s }' "$sum"
exit $bad
