/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Traces (probes/trace.h) in verbs mode: raw sockets (raw(7), CAP_NET_RAW) for IPv4 and IPv6. A
 * frame leaves as the agent built it, including the QPN, which switches may hash. A probe, in
 * contrast, is a datagram of the RNIC. The sockets receive all ICMP time exceeded messages of this
 * host. The agent selects the messages for its traces.
 *
 * A trace that reaches the peer gets no answer: the peer's RNIC drops the trace (rule 1), and no
 * hp3d sees it.
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

/* Needs CAP_NET_RAW during the call. Returns 0, or -1 and errno: no IPv4 sockets. */
int hp3d_ud_traces_open(struct hp3d_ud_traces *t);
void hp3d_ud_traces_close(struct hp3d_ud_traces *t);

/* Is this frame of the agent a trace, by its hop limit? */
bool hp3d_ud_is_trace(const void *frame, uint32_t len);
/* Returns 0 or a negative errno. */
int hp3d_ud_traces_send(const struct hp3d_ud_traces *t, const void *frame, uint32_t len);
/*
 * Writes the next ICMP message of family 0 (IPv4) or 1 (IPv6) as an Ethernet frame. Returns the
 * frame's length, or a negative errno (-EAGAIN: no message has arrived).
 */
int hp3d_ud_traces_take(
	const struct hp3d_ud_traces *t, unsigned family, uint8_t *frame, size_t cap);
