#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: test-all.sh BUILD
# Every ring but the long ones: lint, gcc, clang with sanitizers, then the testbed, hp3d as shipped on healthy networks, and the lab's
# virtual machines; the package. BUILD/times.md says where the time went.
set -u
build=$1
cd "$(dirname "$0")/.." || exit 1
sum=$(mktemp)
trap 'rm -f "$sum"' EXIT
export HP3_TEST_SUM=$sum HP3_TIMES=$build/times.md
rm -f "$HP3_TIMES"
bad=0
say() { printf '\n== %s (%d s since start)\n' "$1" "$SECONDS"; }

say 'lint'
scripts/times.py run "$HP3_TIMES" lint scripts/lint.sh || exit 1

# All of it compiles, also what no test here runs. Unit tests do so with clang (below).
say 'gcc: build'
scripts/times.py run "$HP3_TIMES" "build of $build: programs" ninja -C "$build" programs benches || exit 1
scripts/times.py run "$HP3_TIMES" "build of $build: tests" scripts/run-tests.py --build "$build" all ^unit || exit 1

say 'gcc: all fast suites'
# Replays, fuzzers and unit tests run once, with sanitizers (below). Suite `plain`: unit tests that need a build without sanitizers.
scripts/run-tests.py "$build" plain property whole model pipeline fleet hostile faults sim mutation || bad=1

# Mutations show that tests notice, once; each is a library of its own to build. UBSan's checks of null pointers, object sizes and pointer overflow take nearly
# half of the time to compile a source. ASan finds most of the same bugs, but not pointer overflow. gcc's sanitizers in make test-long have all of them.
say 'clang with ASan and UBSan: library suites and replay'
less='-fno-sanitize=null,object-size,pointer-overflow -fno-sanitize-recover=all'
[ -f "$build-san/build.ninja" ] ||
    CC="$(command -v ccache) clang" meson setup "$build-san" -Dwerror=true -Db_sanitize=address,undefined -Db_lundef=false -Dc_args="$less" >/dev/null || exit 1
HP3_SEED_BASE='' scripts/run-tests.py "$build-san" unit property replay fuzz ^mutation || bad=1

say 'testbed: P4 switches, links, hosts'
scripts/run-tests.py "$build" testbed || bad=1

say 'harm: hp3d as shipped on healthy networks'
scripts/run-tests.py "$build" harm || bad=1

say 'lab: real RNIC stacks in virtual machines'
scripts/run-tests.py "$build" lab || bad=1

say 'package: built, checked, installed, upgraded and purged in a fresh root'
scripts/run-tests.py "$build" package || bad=1

say 'done'
cat "$HP3_TIMES"
awk '/^(failed|shaky)> / { print; next }
     { p += $2; f += $4; s += $6 }
     END { printf "tests: %d passed, %d failed, %d skipped\n", p, f, s }' "$sum"
exit $bad
