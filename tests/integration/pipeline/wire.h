/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The network interface of the tests' endpoint: receives and sends complete frames, with VLAN tags.
 * It simulates two paths for received packets: requests with an odd source port are delayed by
 * `slow_ns`, in the same order. So a request on a path that hp3d changed too early arrives out of
 * order.
 */
#include <stdbool.h>
#include <stdint.h>

#define WIRE_FRAME  2048u
#define WIRE_SERIAL (1u << 20) /* number of distinct serial numbers */

struct late;

/*
 * With stamps, each frame has a serial number after the packet. It shows loss, copies and order of
 * frames independently of the packets. Requests and replies are two streams, as replies overtake
 * requests that wait for a move.
 */
struct wire_seen {
	uint64_t frames, twice; /* distinct frames; copies */
	uint64_t late; /* frames that arrived after a later frame of their stream */
	uint64_t pause_ns; /* longest time between two frames, by the kernel's clock */
};

struct wire {
	int fd;
	bool stamps;
	uint32_t serial; /* of the next frame to send; 0: none */
	struct wire_seen seen;
	uint64_t seen_at; /* time of the latest one; 0: none, or pauses were reset */
	uint32_t newest[2]; /* by stream: highest serial number received */
	uint8_t *had; /* by serial number: received */
	uint64_t slow_ns;
	struct late *head, **tail; /* on the slow path */
};

/* Returns false with a message on stderr. `slow_ns` and stamps exclude each other, since the slow
 * path changes the order after the frames have left the wire. */
bool wire_open(struct wire *w, const char *interface, uint64_t slow_ns, bool stamps);
void wire_close(struct wire *w);
/* Waits while the device is busy; a frame that the kernel refuses ends the program. */
void wire_send(struct wire *w, const void *frame, uint32_t len);
/* The next frame that arrived by `now`; 0: none. `frame` has WIRE_FRAME bytes. */
uint32_t wire_receive(struct wire *w, uint8_t *frame, uint64_t now);
/* Frames that the kernel dropped since the last call, for lack of buffer. */
uint32_t wire_lost(struct wire *w);
