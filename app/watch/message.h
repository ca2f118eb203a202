/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Messages from hp3-watch to the hp3d that started it, over a socket that preserves message
 * boundaries. All messages have the same size, and contain only numbers, except for notices and the
 * name of a device. hp3d checks each message with hp3_watch_message_ok(). An attacker who controls
 * the watcher can only forge such messages: notices, and the set-up or end of queue pairs.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "app/watch/watch.h"

#define HP3_WATCH_MAGIC 0x77337003u /* the last byte: the layout */
#define HP3_WATCH_TEXT  512u

enum hp3_watch_msg_kind {
	HP3_WATCH_MSG_BY,
	HP3_WATCH_MSG_NOTICE,
	HP3_WATCH_MSG_EVENT,
	HP3_WATCH_MSG_ENDED
};
enum hp3_watch_ended { HP3_ENDED_EXIT, HP3_ENDED_SIGNAL, HP3_ENDED_HUNG };

struct hp3_watch_message {
	uint32_t magic;
	uint32_t kind; /* enum hp3_watch_msg_kind */
	union {
		uint32_t by; /* BY: enum hp3_watch_by; the watcher runs */
		char text[HP3_WATCH_TEXT]; /* NOTICE */
		struct hp3_watch_event event; /* EVENT; qp.source and qp.owner are 0 */
		struct {
			uint32_t how; /* enum hp3_watch_ended */
			uint32_t number; /* exit code, signal; else 0 */
			uint32_t times; /* number of ends so far */
		} ended; /* ENDED: the watching process ended; the keeper starts another */
	};
};

/* Are the `size` bytes at m a valid message? */
bool hp3_watch_message_ok(const struct hp3_watch_message *m, size_t size);
