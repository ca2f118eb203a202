/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Builds complete RoCEv2 frames with a right ICRC. The function hp3_build() builds any RC, UC or UD
 * packet; peer probes are UC packets. Further functions build a CNP, and an ACK, NAK or RNR NAK.
 * The function hp3_build_udp() builds plain UDP datagrams, for messages of hp3d.
 *
 * Every builder writes at most `cap` bytes to `buf`, and returns the length of the frame. -ENOSPC:
 * the frame does not fit. -EINVAL: a value is out of range (PSN or QPN above 24 bits, payload that
 * the opcode does not allow).
 */
#include <stddef.h>
#include <stdint.h>
#include "roce/opcode.h"

#define HP3_BUILD_MAX_HDR 128u /* bytes: longest header stack that hp3 builds */

/* The addresses and the class of service of a packet. Addresses are in network byte order. */
struct hp3_addressing {
	uint8_t dst_mac[6], src_mac[6];
	struct hp3_tag tag[HP3_TAGS_MAX]; /* the outer tag is first; tpid 0: no more tags */
	bool ipv6; /* false: the first four bytes of the addresses are IPv4 */
	uint8_t src_ip[16], dst_ip[16];
	uint8_t tclass; /* DSCP << 2 | ECN */
	uint8_t ttl;
	uint16_t sport; /* UDP source port */
	uint16_t pkey;
	uint16_t ipv4_id; /* identification; any value, because the packet is no fragment */
};

/* Fields of one packet. Fields that the opcode does not have are ignored. */
struct hp3_fields {
	uint8_t opcode;
	bool ackreq, becn, solicited;
	uint32_t dest_qpn, psn;
	uint64_t va; /* RETH, AtomicETH */
	uint32_t rkey, dma_len;
	uint32_t feth; /* FETH: placement type and selectivity level */
	uint8_t syndrome; /* AETH */
	uint32_t msn;
	uint32_t imm; /* ImmDt or IETH */
	uint64_t swap_add, compare, orig;
	uint32_t qkey, src_qpn; /* DETH */
	const void *payload;
	uint16_t payload_len; /* bytes; the builder pads to 4 bytes (PadCnt) */
};

/*
 * Addressing of a reply to the frame. The IP and MAC addresses are swapped, and VLAN tags and DSCP
 * are the same. The reply is not ECN-capable, and has TTL 64 and source port `sport`.
 */
void hp3_addressing_reply(
	const void *frame, const struct hp3_view *v, uint16_t sport, struct hp3_addressing *a);
/*
 * Addressing of a new packet that looks like the frame. CE becomes ECT(0), because the new packet
 * has met no congestion.
 */
void hp3_addressing_same(const void *frame, const struct hp3_view *v, struct hp3_addressing *a);

/*
 * Sets the DSCP, makes the packet not ECN-capable, and sets the priority in VLAN tags to the upper
 * three bits of the DSCP. HP3_DSCP_KEPT: changes nothing.
 */
#define HP3_DSCP_KEPT 64u
void hp3_addressing_class(struct hp3_addressing *a, uint8_t dscp);

int hp3_build(void *buf, size_t cap, const struct hp3_addressing *a, const struct hp3_fields *f);

int hp3_build_cnp(void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn);
int hp3_build_ack(void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn,
	uint32_t psn, uint8_t syndrome, uint32_t msn);

/*
 * Builds plain UDP to port `dport`, with a checksum. Returns -EINVAL also for the port of RoCEv2
 * (rule 1).
 */
int hp3_build_udp(void *buf, size_t cap, const struct hp3_addressing *a, uint16_t dport,
	const void *payload, uint16_t len);
