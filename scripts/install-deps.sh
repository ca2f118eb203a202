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
# What is installed for its tools (prometheus) starts no service: not now, and not when the machine starts.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    trap 'exit 1' HUP INT TERM
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
case " $missing " in
*' prometheus '*) update-rc.d prometheus disable >/dev/null 2>&1 || echo 'install-deps: prometheus may start with the machine' >&2 ;;
esac
