/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A frame of hp3d itself (a probe, an answer, a report) as an unreliable datagram (UD). The
 * datagram has the frame's addresses, class of service and hop limit; its payload has the rest.
 * Layout of the payload: byte offset, field, size in bits; all numbers are big-endian.
 *
 *      0  magic 16     4  source port of the frame 16
 *      2  version 8    6  probe: BTH to payload, without ICRC; zeros after a short probe
 *      3  kind 8          plain: payload of the UDP datagram
 *
 * The receiving hp3d restores the frame as the sending hp3d built it. So hp3d checks tags, times
 * and replays as in an inline deployment. The receiving hp3d calculates a new ICRC for the frame,
 * because the RNIC has already checked the datagram's ICRC.
 *
 * Invariants: the datagram of a probe is at least as long as its answer's datagram. Whatever the
 * payload is, the receiver restores only empty or short WRITEs of unreliable connections, and UDP
 * datagrams to hp3's own port.
 */
#include <stddef.h>
#include "roce/build.h"

#define HP3D_UD_GRH     40u /* in front of every datagram received: room for the IP header */
#define HP3D_UD_PAYLOAD 128u /* no envelope is longer */

/* How to send a frame, or how it arrived. */
struct hp3d_ud_route {
	bool ipv6;
	uint8_t src[16], dst[16]; /* IPv4: the first four bytes */
	uint8_t tclass, ttl;
	uint16_t sport; /* source port of the frame */
	bool exact; /* the frame probes the path of this port, so no other port may be used */
	bool probe; /* the frame is a probe, and `id` is its id (set by hp3d_ud_pack() only) */
	uint32_t id;
};

/* Returns the length in buf[HP3D_UD_PAYLOAD], or -EINVAL: the frame is not from hp3d. `port`: hp3's
 * own UDP port. */
int hp3d_ud_pack(
	const void *frame, uint32_t len, uint16_t port, struct hp3d_ud_route *route, void *buf);

/* Reads a received datagram: the addresses from the GRH, the frame from the n bytes of payload.
 * Returns the length of the frame, or -EBADMSG. */
int hp3d_ud_unpack(const uint8_t grh[HP3D_UD_GRH], const void *buf, size_t n, uint16_t port,
	struct hp3d_ud_route *route, void *frame, size_t cap);
