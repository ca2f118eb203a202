/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A port is silent if hp3d sends requests to it, and no RoCEv2 packet arrives from it. There are
 * two causes: the hosts behind the port do not answer, or the port carries only frames of its own
 * address. (Examples: a macvlan, a VF whose device checks source addresses, a port of a virtual
 * machine.)
 *
 * A port from which no RoCEv2 packet has ever arrived is silent 3 s after the first request. It
 * stays silent until a packet arrives. Any other port is silent if requests were sent for 10 s.
 * It stays silent until a packet arrives, or until no request was sent for a minute: an RNIC that
 * has given up shows nothing about the port. In both cases, 16 requests are needed.
 */
#include <stdbool.h>
#include <stdint.h>

struct hp3d_silence {
	uint64_t arrived, requests; /* the counters at the latest call */
	uint64_t unanswered; /* requests since the latest packet arrived */
	uint64_t since_ns, last_ns; /* the first and the latest of these requests; 0: none */
	bool silent;
	uint32_t times; /* how often the port became silent */
};

/*
 * `arrived` counts RoCEv2 packets from the port. `requests` counts requests that need a reply, from
 * either port of the rail: if no packet arrives from this port, they are from the other port, and
 * left by this one. Call it once per second or more often. Returns true if s->silent has changed.
 */
bool hp3d_silence_note(
	struct hp3d_silence *s, uint64_t arrived, uint64_t requests, uint64_t now_ns);

/* Ends a silence without a packet, because hp3d does not see the packets of the port: the port has
 * no link, or packets bypass hp3d. Returns true if s->silent has changed. */
bool hp3d_silence_forget(struct hp3d_silence *s, uint64_t arrived, uint64_t requests);
