/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Distinguishes reordering from loss. PSNs do not suffice: a packet that fills a gap may have been
 * overtaken, or may be a retransmission. So roce-gen writes a mark into the IPv4 identification
 * field, which is unused in packets that may not be fragmented (RFC 6864). The low 15 bits are the
 * number of request packets sent on the queue pair so far. The top bit is set in a retransmission.
 *
 * Invariants (rule 23): first transmissions arrive in the order in which they were sent. A
 * duplicate never arrives after a later first transmission from another port. The counters below
 * count violations. A violation across ports is a fault of a host; on one port, the network
 * reordered packets. The counters are exact if fewer than 2^14 packets of a queue pair are in
 * flight. Zero-length WRITEs whose PSN has been received before do not count: hp3d sends them (ACK
 * solicitations), without a mark.
 */
#include <stdbool.h>
#include <stdint.h>

#define GEN_MARK_AGAIN 0x8000u
#define GEN_MARK_COUNT 0x7fffu

struct gen_order {
	bool any;
	uint16_t latest; /* number, from the mark, of the latest first transmission that arrived */
	uint16_t sport; /* source port of that packet */
	uint64_t overtaken; /* first transmissions that arrived after a later one */
	uint64_t overtaken_across_ports; /* of these: after one from another port */
	/* retransmissions that arrived after a later first transmission from another port */
	uint64_t late_duplicates;
};

static inline uint16_t gen_mark(uint64_t count, bool again)
{
	return (uint16_t)((count & GEN_MARK_COUNT) | (again ? GEN_MARK_AGAIN : 0));
}

/* Counts a request packet that arrived with this mark and UDP source port. */
void gen_order_note(struct gen_order *o, uint16_t mark, uint16_t sport);
