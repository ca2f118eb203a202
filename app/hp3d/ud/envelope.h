/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_UD_ENVELOPE_H
#define HP3D_UD_ENVELOPE_H
/*
 * A frame of hp3's own (a probe, an answer, a report) as an unreliable datagram: addresses, class
 * of service and hop limit are those of the datagram itself, the rest is its payload. All numbers
 * big-endian:
 *
 *      0  magic 16     4  source port of the frame 16
 *      2  version 8    6  probe: BTH and what is behind it, without ICRC; then zeros up to 32
 *      3  kind 8          plain: what the UDP datagram has
 *
 * What comes out at the other end is the frame as an agent built it, so that what is in it is
 * judged there as it would be inline: tags, times, replays. The ICRC is made anew, for the RNIC
 * has checked that of the datagram.
 *
 * Invariants: the datagram of a probe is as long as that of its answer. Nothing comes out but
 * zero-length-or-short WRITEs of unreliable connections and UDP to hp3's own port, whatever went
 * in.
 */
#include <stddef.h>
#include "roce/build.h"

#define HP3D_UD_GRH     40u /* in front of every datagram received: room for the IP header */
#define HP3D_UD_PAYLOAD 128u /* no envelope is longer */

/* How a frame is to travel, and what came. */
struct hp3d_ud_route {
	bool ipv6;
	uint8_t src[16], dst[16]; /* IPv4: the first four bytes */
	uint8_t tclass, ttl;
	uint16_t sport; /* the frame's */
	bool exact; /* it asks this path: no other port will do */
	bool probe; /* it is one, and this is its id (pack only) */
	uint32_t id;
};

/* Length in buf, of HP3D_UD_PAYLOAD bytes, or -EINVAL: no frame of ours. `port`: hp3's own. */
int hp3d_ud_pack(
	const void *frame, uint32_t len, uint16_t port, struct hp3d_ud_route *route, void *buf);

/* What an RNIC received: addresses out of the room in front, the frame out of n bytes behind it.
 * Length of the frame, or -EBADMSG. */
int hp3d_ud_unpack(const uint8_t grh[HP3D_UD_GRH], const void *buf, size_t n, uint16_t port,
	struct hp3d_ud_route *route, void *frame, size_t cap);

#endif
