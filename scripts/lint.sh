#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Format, licence lines, spelling, white space, words that must not appear in places. Prints every
# offence with file and line; exit code 1 if there is one.
set -u
cd "$(dirname "$0")/.." || exit 1
bad=0
fail() { echo "lint: $1"; bad=1; }

mapfile -t c_files < <(git ls-files '*.c' '*.h' '*.cpp')
mapfile -t text < <(git ls-files | grep -vE '\.(cbor|pcap|png|svg|xz)$')

said=$(printf '%s\0' "${c_files[@]}" | xargs -0 -n 50 -P "$(nproc)" clang-format-14 --dry-run --Werror 2>&1) ||
    { head -20 <<<"$said"; fail "format: run clang-format-14 -i on these files"; }

# shellcheck disable=SC2046
without=$(awk 'FNR == 1 { if (name != "" && !found) print name; name = FILENAME; found = 0 }
    /SPDX-License-Identifier: BSD-3-Clause/ { found = 1 }
    FNR == 3 { nextfile }
    END { if (!found) print name }' "${c_files[@]}" $(git ls-files '*.sh' '*.py' '*meson.build' Makefile))
[ -z "$without" ] || fail "no SPDX line on top: $without"

grep -InE '[[:space:]]+$' "${text[@]}" && fail "white space at the end of lines"
grep -nE '\b(TODO|FIXME|XXX|HACK)\b' "${c_files[@]}" && fail "unfinished work"
codespell -q 3 -L 'rnic,inout,inflight,ect,clos,te,nd,ue,ot,dout,ist,sie,als,wile,conext,iif,keep-alives' "${text[@]}" || fail "spelling"

# The library: no DPDK, no I/O, no clock (docs/internals/architecture.md).
lib=$(git ls-files 'base/*.h' 'roce/*.[ch]' 'ppp/*.[ch]' 'rfr/*.[ch]' 'cc/*.[ch]' 'probes/*.[ch]' 'engine/*.[ch]' 'fleet/*.[ch]' 'xfer/core/*.[ch]' | grep -v '^roce/gen_')
# sys/auxv.h: what the CPU has, without a system call.
# shellcheck disable=SC2086
grep -nE '#include <(rte_|stdio|stdlib|unistd|pthread|time\.h|sys/)' $lib | grep -v '<sys/auxv\.h>' && fail "library includes I/O, time or DPDK"
# The data path: nothing that can block, print or end the process.
data=$(git ls-files 'app/hp3d/pipe/*.[ch]' 'engine/*.[ch]' 'rfr/*.[ch]' 'roce/*.[ch]' | grep -v '^roce/gen_')
# shellcheck disable=SC2086
grep -nE '\b(rte_panic|rte_exit|printf|fprintf|RTE_LOG|malloc|calloc|volatile)\b' $data && fail "forbidden in the data path"

# Function names say what they act on: `take_held`, not `take`.
# shellcheck disable=SC2046
grep -nP '^(static |INLINE )[^=;(]*[ *][a-z0-9]+\(' $(git ls-files '*.[ch]' | grep -vE '^(tests|bench|app/bpf)/') | grep -v '[ *]main(' &&
    fail "one-word function names: add what the function acts on"

# Messages name files, interfaces and words of a command line: plain lines (config/message.h). What is left names none of these.
grep -nE '(fprintf|fputs|vfprintf|perror)\(.*(stderr|NULL)|fprintf\(stderr|fprintf\($' $(git ls-files 'sim/*.c' 'p4-testbed/*.c') |
    grep -vE '^(sim/core/memory|sim/cli/progress|p4-testbed/fabric/tm)\.c:' && fail "messages: hp3_message() instead"

# One version, meson.build's; packages may have "+N" behind it.
version=$(sed -n "s/^    version: '\(.*\)',$/\1/p" meson.build)
[ "$(sed -n '1s/^hp3 (\([^+]*\).*) .*/\1/p' debian/changelog)" = "$version" ] || fail "debian/changelog: the newest version is not meson.build's, $version"
[ "$(grep -m 1 '^## ' CHANGELOG.md)" = "## $version" ] || fail "CHANGELOG.md: the newest version is not meson.build's, $version"

# The front page: what fits one reading, in lines that fit a terminal.
[ "$(wc -l <README.md)" -le 130 ] || fail "README.md: more than 130 lines: move text to docs/"
LC_ALL=C.UTF-8 grep -nE '^.{101,}' README.md && fail "README.md: lines of more than 100 columns"
scripts/check-pages.py || fail "pages: links, anchors and names of pages that are there"

scripts/check-words.py || fail "words: the glossary has another (docs/reference/glossary.md)"
scripts/check-modules.py || fail "modules: call downwards, or return a value (docs/internals/modules.md)"
scripts/files.py >/dev/null || fail "headers: state the purpose of the file behind #pragma once"
scripts/check-walks.py || fail "walks: name the functions that do it now"
scripts/check-security.py || fail "docs/internals/security-*.md: a promise for each hostile test, a test for each promise"
scripts/unused.py || fail "functions without a caller: delete them, with what tests them alone"

for f in $(git ls-files '*.sh') .ci/run; do bash -n "$f" || fail "$f: syntax"; done
[ $bad = 0 ] && echo "lint: ok (${#c_files[@]} C files)"
exit $bad
