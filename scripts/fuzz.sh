#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: fuzz.sh BUILD     HOURS=N (default 1), SLICE=SECONDS (default 300), ONLY='NAME...'
# libFuzzer with ASan and UBSan on everything that reads what others wrote (tests/fuzz), in BUILD-fuzz: each fuzzer for SLICE seconds, in
# turn, until the time is over. What they have learnt stays in BUILD-fuzz/corpus, an input that breaks something in BUILD-fuzz/found;
# the line that shows it again is printed. Exit code 1 if there was one.
set -eu
build=$1-fuzz
cd "$(dirname "$0")/.."
[ -f "$build/build.ninja" ] || CC="$(command -v ccache) clang" meson setup "$build" -Dfuzz=true -Db_lundef=false >/dev/null
names=${ONLY:-$(meson introspect "$build" --tests | python3 -c '
import json, sys
print(*sorted(t["name"][5:] for t in json.load(sys.stdin) if t["name"].startswith("fuzz/") and "mutation" not in t["suite"][0]))' |
    tr ' ' '\n' | grep -v '^planted_\|^mutation_')}
programs=$(for n in $names; do echo "tests/fuzz/fuzz-$n tests/fuzz/fuzz-$n-seeded"; done)
# shellcheck disable=SC2086
ninja -C "$build" $programs
mkdir -p "$build/found"
for n in $names; do
    mkdir -p "$build/corpus/$n"
    # shellcheck disable=SC2046
    "$build/tests/fuzz/fuzz-$n-seeded" --write "$build/corpus/$n" $(meson introspect "$build" --tests | python3 -c '
import json, sys
for t in json.load(sys.stdin):
    if t["name"] == "fuzz/" + sys.argv[1]:
        cmd = t["cmd"]
        print("--kind", cmd[cmd.index("--kind") + 1], *cmd[cmd.index("--runs") + 2:])' "$n")
done
end=$((SECONDS + $(python3 -c "print(int(${HOURS:-1} * 3600))")))
out=$(mktemp)
trap 'rm -f "$out"' EXIT
bad=0
while [ $SECONDS -lt $end ]; do
    for n in $names; do
        left=$((end - SECONDS))
        [ $left -gt 0 ] || break
        slice=$((left < ${SLICE:-300} ? left : ${SLICE:-300}))
        # Programs that read the caller's machine say so on stderr, a line per input.
        if ! "$build/tests/fuzz/fuzz-$n" -max_total_time=$slice -timeout=20 -rss_limit_mb=2048 -max_len=9000 -print_final_stats=1 \
            "-artifact_prefix=$build/found/$n-" "$build/corpus/$n" >"$out" 2>&1; then
            bad=1
            input=$(sed -n 's/^Test unit written to //p' "$out" | tail -1)
            grep -aE 'ERROR: |runtime error|SUMMARY|: MUST|fuzz_.*\.c:' "$out" | head -5 || true
            echo "found: $build/tests/fuzz/fuzz-$n ${input:-(no input: see above)}"
        fi
        printf '%6d s  %-14s %s\n' $SECONDS "$n" "$(grep -a 'cov:' "$out" | tail -1 | sed 's/^#/inputs /; s/lim:.*exec/exec/; s/rss:.*//')"
    done
done
exit $bad
