#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: ci.sh
# The README's two commands, tests first. At the end what failed is said again; the last line is that of make test; the exit code
# is 0 if both succeed.
set -u
cd "$(dirname "$0")/.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export WERROR=true
make test 2>&1 | tee "$log"
bad=${PIPESTATUS[0]}
make demo || { echo 'ci: make demo failed'; bad=1; }
grep -aE '^failed> ' "$log"
grep -a '^tests: ' "$log" | tail -n 1
exit "$bad"
