/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Reads ICMP (RFC 792) and ICMPv6 (RFC 4443) "time exceeded in transit" messages that quote a trace
 * (trace.h). The quoted packet is RoCEv2, with the length of the smallest peer probe.
 *
 * A switch need not quote more than the IP header and 8 bytes: addresses, IPv4 identification or
 * IPv6 flow label, source port and UDP length. If the quote also contains the VA of a peer probe,
 * the probe id is read from it.
 *
 * Padding and extensions behind the quote (RFC 4884) are ignored, as are fields that the network
 * may change: ToS, TTL, header checksum.
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
 * Call it for frames that hp3_parse() calls NOT_UDP; others give -ENOMSG. Returns 0; -ENOMSG: the
 * frame is no such message; -EBADMSG: wrong checksum, *x is not valid.
 */
int hp3_expired_read(const struct hp3_parsed *f, struct hp3_expired *x);

/*
 * Does x->hop name exactly one switch? False for addresses that are unspecified, loopback,
 * link-local, multicast or broadcast, for the dummy 192.0.0.8 (RFC 7600), and for both ends of the
 * quoted packet.
 */
bool hp3_expired_named(const struct hp3_expired *x);
