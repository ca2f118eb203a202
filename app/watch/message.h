/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_WATCH_MESSAGE_H
#define HP3_WATCH_MESSAGE_H
/*
 * What hp3-watch says to the hp3d that started it, over a socket that keeps messages apart: all of
 * one size, numbers only, but for notices and the name of a device. hp3d believes none of it before
 * hp3_watch_message_ok() has: who takes the watcher over can announce queue pairs that there are
 * not, and nothing else.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "app/watch/watch.h"

#define HP3_WATCH_MAGIC 0x77337002u /* the last byte: the layout */
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
		uint32_t by; /* BY: enum hp3_watch_by; it watches from now on */
		char text[HP3_WATCH_TEXT]; /* NOTICE */
		struct {
			uint64_t time_ns;
			uint32_t pid, lqpn, rqpn, psn, rq_psn, mtu;
			uint32_t vlan; /* HP3_VLAN_MAX at most (roce/tags.h) */
			uint8_t up, ipv6, psn_known, port; /* the first three: 0, 1 */
			uint8_t local[16], remote[16];
			char device[64];
		} event; /* EVENT: struct hp3_watch_event */
		struct {
			uint32_t how; /* enum hp3_watch_ended */
			uint32_t number; /* exit code, signal; else 0 */
			uint32_t times; /* how often so far */
		} ended; /* ENDED: the process that watches; another one is started */
	};
};

void hp3_watch_message_event(struct hp3_watch_message *m, const struct hp3_watch_event *event);
/* Whether `size` bytes at m are a message that can be acted on. */
bool hp3_watch_message_ok(const struct hp3_watch_message *m, size_t size);
/* Of an EVENT that is ok. */
struct hp3_watch_event hp3_watch_message_to_event(const struct hp3_watch_message *m);

#endif
