#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: install-deps.sh [LIST]
# Installs the Debian packages of LIST (scripts/packages.txt) that are missing. Does nothing, and needs no
# network, when all are there.
set -eu
list=${1:-$(dirname "$0")/packages.txt}
missing=
for p in $(sed -e 's/#.*//' "$list"); do
    dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q '^install ok installed' ||
        missing="$missing $p"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
    echo "install-deps: these packages are missing; run as root: apt-get install$missing" >&2
    exit 1
fi
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
