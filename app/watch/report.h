/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_REPORT_H
#define HP3_WATCH_REPORT_H
/* The process that watches for hp3d. */
#include "app/watch/watch.h"

/* Watches, and sends its events to `socket` (message.h). While it watches, it writes a byte to
 * `life` several times a second. Returns the process's exit code on failure. */
int hp3_report(int socket, int life, const struct hp3_watch_options *o);

#endif
