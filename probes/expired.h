/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Reads "time exceeded in transit" messages that quote a trace (trace.h). The messages are ICMP
 * (RFC 792) or ICMPv6 (RFC 4443). The quoted packet is RoCEv2, and as long as the smallest peer
 * probe.
 *
 * A switch may quote only the IP header and 8 more bytes. These bytes contain the addresses, the
 * IPv4 identification or IPv6 flow label, the source port and the UDP length. If the quote also
 * contains the VA of a peer probe, the function reads the probe id from the VA.
 *
 * The function ignores padding and extensions behind the quote (RFC 4884). It also ignores the
 * fields that the network may change: ToS, TTL, header checksum.
 */
#include "roce/parse.h"

struct hp3_expired {
	bool ipv6;
	bool has_id; /* the quote contains the VA of a peer probe (UC WRITE ONLY) */
	uint8_t hop[16]; /* source address of the message; IPv4: first four bytes */
	uint8_t src[16], dst[16]; /* addresses of the quoted packet */
	uint16_t sport;
	uint16_t ipv4_id; /* IPv4 */
	uint32_t flow_label; /* IPv6 */
	uint32_t id; /* if has_id */
};

/*
 * Call this for frames that hp3_parse() calls NOT_UDP. Returns 0; -ENOMSG: the frame is no such
 * message; -EBADMSG: the checksum is wrong, and *x is not valid.
 */
int hp3_expired_read(const struct hp3_parsed *f, struct hp3_expired *x);

/*
 * Does x->hop name exactly one switch? False for unspecified, loopback, link-local, multicast and
 * broadcast addresses, and for the dummy address 192.0.0.8 (RFC 7600). Also false for the source
 * and the destination of the quoted packet.
 */
bool hp3_expired_named(const struct hp3_expired *x);
