/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Classifies one Ethernet frame. The frame is a packet of a reliable connection (request or reply),
 * another RoCE packet, which hp3 forwards, or not RoCE. The parser never fails. For a malformed or
 * truncated frame, it sets the reason, and the caller forwards the frame unchanged.
 *
 * The parser reads Ethernet II with up to two 802.1Q/802.1ad tags (tags.h). It reads IPv4 with
 * options, and IPv6 with hop-by-hop, routing, destination and fragment headers. Behind these, it
 * reads UDP, the BTH, and the extended headers of all RC/UC/UD/CNP opcodes (opcode.h).
 *
 * Contract: `frame` has `len` readable bytes. The parser reads no other bytes of memory, and writes
 * only *v. It reads headers, but not the payload, and does not check the ICRC (icrc.h).
 */
#include <stdint.h>
#include "roce/tags.h"
#include "roce/wire.h"

/* Class of a packet. X(symbol, text). */
#define HP3_CLASSES(X)                                                                             \
	X(OTHER, "other") /* not RoCEv2, or malformed (see `reason`): forward unchanged */         \
	/* requester stream: SEND, WRITE, READ request, ATOMIC, unknown RC */                      \
	X(RC_REQUEST, "rc-request")                                                                \
	X(RC_REPLY, "rc-reply") /* responder stream: ACK/NAK, READ response, ATOMIC acknowledge */ \
	X(CNP, "cnp") /* congestion notification (annex A17.9.3) */                                \
	X(CM, "cm") /* UD to QP1: connection management datagram */                                \
	X(UD, "ud") /* other unreliable datagrams */                                               \
	X(UC, "uc") /* unreliable connection */                                                    \
	X(ROCE_OTHER, "roce-other") /* RD, XRC, reserved transports: forward unchanged */

enum hp3_class {
#define X(sym, text) HP3_CLASS_##sym,
	HP3_CLASSES(X)
#undef X
		HP3_CLASS_MAX
};

/* Why a packet has the class HP3_CLASS_OTHER. X(symbol, text). */
#define HP3_PARSE_REASONS(X)                                                                       \
	X(OK, "ok")                                                                                \
	X(NOT_IP, "not-ip")                                                                        \
	X(TAGS, "too-many-tags") /* more than two */                                               \
	X(NOT_UDP, "not-udp")                                                                      \
	X(NOT_ROCE, "not-roce")                                                                    \
	X(FRAGMENT, "fragment")                                                                    \
	X(SHORT_ETHER, "short-ethernet")                                                           \
	X(SHORT_IP, "short-ip")                                                                    \
	X(BAD_IP, "bad-ip-header")                                                                 \
	X(SHORT_UDP, "short-udp")                                                                  \
	X(BAD_UDP_LEN, "bad-udp-length")                                                           \
	X(SHORT_BTH, "short-bth")                                                                  \
	X(BAD_TVER, "bad-bth-version")                                                             \
	X(SHORT_EXT, "short-extended-header")                                                      \
	X(BAD_PAD, "bad-pad-count")

enum hp3_parse_reason {
#define X(sym, text) HP3_PARSE_##sym,
	HP3_PARSE_REASONS(X)
#undef X
		HP3_PARSE_REASON_MAX
};

/* hp3_view.flags */
#define HP3_VF_IPV6     0x0001u
#define HP3_VF_ACKREQ   0x0004u /* BTH AckReq */
#define HP3_VF_BECN     0x0008u
#define HP3_VF_FECN     0x0010u
#define HP3_VF_CE       0x0020u /* IP ECN field is CE */
#define HP3_VF_ECT      0x0040u /* IP ECN field is ECT(0) or ECT(1) */
#define HP3_VF_UDP_CSUM 0x0080u /* UDP checksum is not 0 */
#define HP3_VF_FIRST    0x0100u /* opcode is FIRST or ONLY of a message or response */
#define HP3_VF_LAST     0x0200u /* opcode is LAST or ONLY */
#define HP3_VF_READ     0x0400u /* READ, FLUSH, ATOMIC WRITE, or READ response */
#define HP3_VF_ATOMIC   0x0800u /* atomic request, or ATOMIC ACKNOWLEDGE */
#define HP3_VF_AETH     0x1000u /* has an AETH: syndrome and msn are valid */
#define HP3_VF_UNKNOWN  0x2000u /* reserved opcode of the RC transport */

/*
 * The result: numbers are in host byte order, offsets in bytes from the start of the frame. The
 * order of the fields allows parse_plain.h to write several fields at once.
 */
struct hp3_view {
	uint8_t class; /* enum hp3_class */
	uint8_t reason; /* enum hp3_parse_reason; OK unless class is OTHER */
	uint16_t flags; /* HP3_VF_* */
	uint16_t sport; /* UDP source port */
	uint16_t tags; /* number of VLAN tags: 0 to 2; the first one begins at byte 12 */
	uint16_t l3_off;
	/*
	 * The BTH begins at udp_off + 8. If the reason is FRAGMENT, udp_off is 0. Exception: it is
	 * set for the first fragment of a datagram to the port of RoCEv2.
	 */
	uint16_t udp_off;
	uint16_t icrc_off;
	uint16_t payload_len; /* bytes of payload, without pad and ICRC */
	uint32_t dest_qpn;
	uint32_t psn;
	uint32_t msn; /* AETH, if HP3_VF_AETH */
	uint8_t opcode; /* BTH opcode */
	uint8_t syndrome; /* AETH, if HP3_VF_AETH */
	uint16_t pkey;
	uint32_t dma_len; /* DMA length in bytes, if the opcode has a RETH; otherwise 0; FLUSH: 0 */
	uint32_t vlan; /* VLAN number made from all tags (tags.h); 0 without tags */
};

void hp3_parse(const void *frame, uint32_t len, struct hp3_view *v);

/* A frame that hp3_parse() has parsed. */
struct hp3_parsed {
	const void *bytes;
	uint32_t len; /* of the frame, bytes */
	const struct hp3_view *v; /* the result */
};

/* x: pointer to a struct with the members `frame`, `len` and `v`, such as hp3_pkt. */
#define HP3_PARSED(x) (&(const struct hp3_parsed){(x)->frame, (x)->len, &(x)->v})

/* Differentiated services code point (RFC 2474) of a parsed frame that has an IP header. */
static inline uint8_t hp3_dscp(const void *frame, const struct hp3_view *v)
{
	const uint8_t *ip = (const uint8_t *)frame + v->l3_off;

	return v->flags & HP3_VF_IPV6 ? (uint8_t)((ip[0] & 0xf) << 2 | ip[1] >> 6) : ip[1] >> 2;
}

const char *hp3_class_name(enum hp3_class c);
const char *hp3_parse_reason_name(enum hp3_parse_reason r);
