/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_REPORT_H
#define HP3_WATCH_REPORT_H
/* The process that watches for hp3d. */
#include "app/watch/watch.h"

/* Watches, and says what it sees on `socket` (message.h). Writes a byte to `life` several times a
 * second from when it watches on. Returns the process's exit code, if it cannot. */
int hp3_report(int socket, int life, const struct hp3_watch_options *o);

#endif
