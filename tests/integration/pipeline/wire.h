/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_WIRE_H
#define TEST_WIRE_H
/*
 * An interface as the tests' endpoint sees it: whole frames in and out, VLAN tags included. What
 * arrives took one of two paths: requests with an odd source port come `slow_ns` later than the
 * others, in order among themselves. So a packet that changes its path too early arrives out of
 * order.
 */
#include <stdbool.h>
#include <stdint.h>

#define WIRE_FRAME  2048u
#define WIRE_SERIAL (1u << 20) /* serial numbers that are told apart */

struct late;

/*
 * With stamps each frame ends in a serial number, behind the packet: whatever becomes of packets,
 * how the wire treats frames is seen. Requests and replies are two streams: replies pass requests
 * that wait for a move.
 */
struct wire_seen {
	uint64_t frames, twice; /* different ones; others that were there before */
	uint64_t late; /* behind one of its stream that was sent after it */
	uint64_t pause_ns; /* longest time between two of them, by the kernel's clock */
};

struct wire {
	int fd;
	bool stamps;
	uint32_t serial; /* of the next one to be sent; 0: none */
	struct wire_seen seen;
	uint64_t seen_at; /* the latest one; 0: none, or pauses are counted anew */
	uint32_t newest[2]; /* by stream */
	uint8_t *had; /* by serial number */
	uint64_t slow_ns;
	struct late *head, **tail; /* on the slow path */
};

/* False with a message on stderr. `slow_ns` and stamps do not go together: the slow path is not the
 * wire. */
bool wire_open(struct wire *w, const char *interface, uint64_t slow_ns, bool stamps);
void wire_close(struct wire *w);
/* Waits while the device is busy; a frame that the kernel refuses ends the program. */
void wire_send(struct wire *w, const void *frame, uint32_t len);
/* The next frame that has come by `now`; 0: none. `frame` has WIRE_FRAME bytes. */
uint32_t wire_receive(struct wire *w, uint8_t *frame, uint64_t now);
/* Frames that the kernel had no room for since the last call. */
uint32_t wire_lost(struct wire *w);

#endif
