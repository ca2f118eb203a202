/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_EXPIRED_H
#define HP3_PROBES_EXPIRED_H
/*
 * Reads ICMP (RFC 792) and ICMPv6 (RFC 4443) "time exceeded in transit" messages that quote a
 * zero-length UC WRITE ONLY of RoCEv2, which is what trace.h sends.
 *
 * A switch need not quote more than the IP header and 8 bytes: addresses, IPv4 identification or
 * IPv6 flow label, source port and UDP length. What it quotes beyond is taken if it is there: the
 * probe id in the VA. Padding and extensions behind the quote (RFC 4884) are not looked at, nor
 * what the network may have changed: ToS, TTL, header checksum.
 */
#include "roce/parse.h"

struct hp3_expired {
	bool ipv6;
	bool has_id; /* the quote was long enough */
	uint8_t hop[16]; /* who says so; IPv4: first four bytes */
	uint8_t src[16], dst[16]; /* of the quoted packet */
	uint16_t sport;
	uint16_t ipv4_id; /* IPv4 */
	uint32_t flow_label; /* IPv6 */
	uint32_t id; /* if has_id */
};

/*
 * To be asked for frames that hp3_parse() calls NOT_UDP; others are none.
 * 0; -ENOMSG: something else; -EBADMSG: one with a wrong checksum, *x is not valid.
 */
int hp3_expired_read(
	const void *frame, uint32_t len, const struct hp3_view *v, struct hp3_expired *x);

/*
 * Does the address name one switch and no other? Not: unspecified, loopback, link-local, multicast
 * and broadcast, the dummy 192.0.0.8 (RFC 7600), and either end of the quoted packet.
 */
bool hp3_expired_named(const struct hp3_expired *x);

#endif
