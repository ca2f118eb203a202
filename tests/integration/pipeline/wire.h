/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_WIRE_H
#define TEST_WIRE_H
/*
 * An interface as the tests' endpoint sees it: whole frames in and out, VLAN tags included. What
 * arrives took one of two paths: requests with an odd source port come `slow_ns` later than the
 * others, in order among themselves. So a packet that changes its path too early comes too early.
 */
#include <stdbool.h>
#include <stdint.h>

#define WIRE_FRAME 2048u

struct late;

struct wire {
	int fd;
	uint64_t slow_ns;
	struct late *head, **tail; /* on the slow path */
};

/* False with a message on stderr. */
bool wire_open(struct wire *w, const char *interface, uint64_t slow_ns);
void wire_close(struct wire *w);
/* Waits while the device is busy; a frame that the kernel refuses ends the program. */
void wire_send(struct wire *w, const void *frame, uint32_t len);
/* The next frame that has come by `now`; 0: none. `frame` has WIRE_FRAME bytes. */
uint32_t wire_receive(struct wire *w, uint8_t *frame, uint64_t now);
/* Frames that the kernel had no room for since the last call. */
uint32_t wire_lost(struct wire *w);

#endif
