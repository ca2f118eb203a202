/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_UD_TRACES_H
#define HP3D_UD_TRACES_H
/*
 * Traces (probes/trace.h) in verbs mode: raw sockets (raw(7), CAP_NET_RAW) of IPv4 and IPv6. A
 * frame leaves as its agent built it, down to the QPN that switches may hash: unlike a probe, which
 * is a datagram of the RNIC's. What comes back are ICMP messages that tell of an end of a hop
 * limit, all of this host's; whose they are the agent finds out.
 *
 * A trace that reaches the peer is not answered there: its RNIC drops it (rule 1), and no hp3d sees
 * it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP3D_UD_TRACE_FAMILIES 2u /* IPv4, IPv6 */

struct hp3d_ud_traces {
	int out[HP3D_UD_TRACE_FAMILIES], in[HP3D_UD_TRACE_FAMILIES]; /* -1: not open */
};

#define HP3D_UD_NO_TRACES                                                                          \
	{                                                                                          \
		{-1, -1},                                                                          \
		{                                                                                  \
			-1, -1                                                                     \
		}                                                                                  \
	}

/* Needs CAP_NET_RAW, once. 0, or -1 and errno: not even IPv4's. */
int hp3d_ud_traces_open(struct hp3d_ud_traces *t);
void hp3d_ud_traces_close(struct hp3d_ud_traces *t);

/* Is this frame of the agent's to end on its way? */
bool hp3d_ud_is_trace(const void *frame, uint32_t len);
/* 0 or a negative errno. */
int hp3d_ud_traces_send(const struct hp3d_ud_traces *t, const void *frame, uint32_t len);
/* The next message as an Ethernet frame: its length, or a negative errno (-EAGAIN: none is there).
 */
int hp3d_ud_traces_take(
	const struct hp3d_ud_traces *t, unsigned family, uint8_t *frame, size_t cap);

#endif
