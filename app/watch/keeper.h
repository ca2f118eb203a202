/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_KEEPER_H
#define HP3_WATCH_KEEPER_H
/*
 * The watcher that hp3d started: two processes. One watches, touches what untrusted processes made,
 * and may die or hang of it; the other one, which reads nothing of theirs, starts it again, each
 * time after twice the pause, and keeps the capabilities for that. Both end when hp3d does.
 */
#include "app/watch/watch.h"

/* Serves hp3d at the other end of `socket` (message.h) until it closes that. 0, or -1: there is
 * nothing to watch with, which was told. Sets the hooks of *o. */
int hp3_keep(int socket, const struct hp3_watch_options *o);

#endif
