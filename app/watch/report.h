/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_REPORT_H
#define HP3_WATCH_REPORT_H
/* The process of hp3-watch that watches (keeper.h). */
#include "app/watch/watch.h"

/*
 * Watches queue pairs, and sends events to `socket` (message.h). Meanwhile, writes a byte to `life`
 * several times a second, so that the keeper detects a hang. On failure, returns the process's exit
 * code.
 */
int hp3_report(int socket, int life, const struct hp3_watch_options *o);

#endif
