/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ROCE_BUILD_H
#define HP3_ROCE_BUILD_H
/*
 * Builds complete RoCEv2 frames with a right ICRC: CNP, ACK, NAK/RNR NAK, zero-length RDMA WRITE
 * ONLY, and (for tests and generators) any RC packet with payload. Beside RoCEv2, one plain UDP
 * datagram: hp3's own.
 *
 * Every builder writes at most `cap` bytes to `buf` and returns the frame length, or -ENOSPC when
 * it does not fit and -EINVAL for values out of range (PSN, QPN above 24 bits, payload not allowed
 * by the opcode).
 */
#include <stddef.h>
#include <stdint.h>
#include "roce/opcode.h"

#define HP3_BUILD_MAX_HDR 128u /* no header stack of ours is longer */

/* Where a packet goes and how the network shall treat it. Addresses in network byte order. */
struct hp3_addressing {
	uint8_t dst_mac[6], src_mac[6];
	struct hp3_tag tag[HP3_TAGS_MAX]; /* outer first; none behind one that is not there */
	bool ipv6; /* else the first four bytes of the addresses count */
	uint8_t src_ip[16], dst_ip[16];
	uint8_t tclass; /* DSCP << 2 | ECN */
	uint8_t ttl;
	uint16_t sport; /* UDP source port */
	uint16_t pkey;
	uint16_t ipv4_id; /* identification; means nothing to the network: no fragments */
};

/* Fields of one packet; those that the opcode does not carry are ignored. */
struct hp3_fields {
	uint8_t opcode;
	bool ackreq, becn, solicited;
	uint32_t dest_qpn, psn;
	uint64_t va; /* RETH, AtomicETH */
	uint32_t rkey, dma_len;
	uint8_t syndrome; /* AETH */
	uint32_t msn;
	uint32_t imm; /* ImmDt or IETH */
	uint64_t swap_add, compare, orig;
	uint32_t qkey, src_qpn; /* DETH */
	const void *payload;
	uint16_t payload_len; /* padded to 4 bytes on the wire by PadCnt */
};

/* How to answer: addresses and MACs of *v's frame swapped; same VLAN tags and DSCP, not ECT; own
 * sport. */
void hp3_addressing_reply(
	const void *frame, const struct hp3_view *v, uint16_t sport, struct hp3_addressing *a);
/* The same way as the frame itself goes. */
void hp3_addressing_same(const void *frame, const struct hp3_view *v, struct hp3_addressing *a);

/*
 * In the class of service of a DSCP: not ECT, and where there are VLAN tags with the priority that
 * the DSCP's upper three bits name. HP3_DSCP_KEPT: as it was.
 */
#define HP3_DSCP_KEPT 64u
void hp3_addressing_class(struct hp3_addressing *a, uint8_t dscp);

int hp3_build(void *buf, size_t cap, const struct hp3_addressing *a, const struct hp3_fields *f);

int hp3_build_cnp(void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn);
int hp3_build_ack(void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn,
	uint32_t psn, uint8_t syndrome, uint32_t msn);
int hp3_build_write0(void *buf, size_t cap, const struct hp3_addressing *a, uint32_t dest_qpn,
	uint32_t psn, uint64_t va, uint32_t rkey);

/* Plain UDP to port `dport` with its checksum; -EINVAL for the port of RoCEv2 (rule 1). */
int hp3_build_udp(void *buf, size_t cap, const struct hp3_addressing *a, uint16_t dport,
	const void *payload, uint16_t len);

#endif
