/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_DATAGRAM_H
#define HP3_PROBES_DATAGRAM_H
/*
 * Finds UDP, ICMP and ICMPv6 in frames that are not RoCEv2, for answers and time-exceeded messages.
 * Layer 2 and the IP header were measured by hp3_parse(); here is only what it leaves out.
 * Fragments are none of ours, nor is IPv6 with extension headers: neither hp3d nor a switch sends
 * them.
 */
#include "probes/tag.h"
#include "roce/parse.h"

struct hp3_datagram {
	const uint8_t *ip, *l4; /* in the frame */
	const uint8_t *src, *dst; /* addresses, 4 or 16 bytes */
	uint32_t len; /* of the IP payload, all of it in the frame */
	uint8_t protocol;
	bool ipv6;
};

/* -ENOMSG: another protocol, a fragment, or cut off. */
int hp3_datagram_find(const void *frame, uint32_t len, const struct hp3_view *v, uint8_t protocol,
	struct hp3_datagram *d);

/* UDP and ICMPv6, with pseudo-header, and ICMP, without: 0 if the checksum is right and there. */
uint16_t hp3_datagram_sum(const struct hp3_datagram *d);

/* Of a UDP datagram: from whom to whom, and the source port. */
struct hp3_addressing hp3_datagram_addressing(const struct hp3_datagram *d);

/* Its sender and its receiver have a key. */
bool hp3_datagram_is_keyed(const struct hp3_datagram *d, const struct hp3_probe_keys *keys);

/* `body` bytes behind the UDP header, from hp3's own port to hp3's own port, and their tag of 64
 * bits by one of the keys. */
bool hp3_datagram_is_tagged(const struct hp3_datagram *d, enum hp3_tag_kind kind, uint16_t port,
	uint32_t body, const struct hp3_probe_keys *keys);

#endif
