#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs a configuration file. A file that exists stays, because the administrator may have
# changed it.
# usage: install-config.sh FILE DIRECTORY MODE (meson sets DESTDIR)
set -eu
to=${DESTDIR:-}$2/$(basename "$1")
[ -e "$to" ] && exit
mkdir -p "${DESTDIR:-}$2"
install -m "$3" "$1" "$to"
