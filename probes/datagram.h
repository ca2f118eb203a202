/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Finds UDP, ICMP and ICMPv6 in frames that are not RoCEv2. Such frames are messages of hp3d
 * (answer.h, agree.h, handshake.h), or time-exceeded messages of switches (expired.h).
 *
 * The caller has parsed layer 2 and the IP header with hp3_parse(). The functions do not find
 * fragments, or IPv6 packets with extension headers. Neither hp3d nor a switch sends such packets.
 */
#include "roce/build.h"
#include "roce/parse.h"

struct hp3_datagram {
	const uint8_t *ip, *l4; /* pointers into the frame */
	const uint8_t *src, *dst; /* addresses, 4 or 16 bytes */
	uint32_t len; /* bytes of the IP payload, all within the frame */
	uint8_t protocol;
	bool ipv6;
};

/* -ENOMSG: another protocol, a fragment, or a truncated packet. */
int hp3_datagram_find(const struct hp3_parsed *f, uint8_t protocol, struct hp3_datagram *d);

/* Finds UDP to this port in a frame that hp3_parse() calls NOT_ROCE. -ENOMSG: there is none. */
int hp3_datagram_to(const struct hp3_parsed *f, uint16_t port, struct hp3_datagram *d);

/*
 * The Internet checksum over the datagram; 0: its checksum is right. For UDP and ICMPv6, but not
 * for ICMP, the sum includes the pseudo-header.
 */
uint16_t hp3_datagram_sum(const struct hp3_datagram *d);

/* The addresses and the source port of a UDP datagram. */
struct hp3_addressing hp3_datagram_addressing(const struct hp3_datagram *d);
