#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The last line of `meson install`: what to type next. Packages print a line of their own.
[ -z "${DESTDIR:-}" ] || exit 0
echo 'hp3: next, type: systemd-sysusers; systemd-tmpfiles --create; systemctl daemon-reload; hp3ctl doctor'
