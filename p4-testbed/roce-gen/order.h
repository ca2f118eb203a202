/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Distinguishes reordering from loss. PSNs do not suffice, because a packet that fills a gap was
 * overtaken, or is a retransmission. So roce-gen writes a mark into the IPv4 identification field,
 * which has no use in packets that must not be fragmented (RFC 6864). The low 15 bits of the mark
 * are the number of request packets sent on the queue pair so far. The top bit is set in
 * retransmissions.
 *
 * Invariants (rule 23): first transmissions arrive in the order in which they were sent. A
 * duplicate never arrives after a later first transmission from another port. The counters below
 * count violations of these invariants. If the two packets have different source ports, a host
 * caused the violation; if they have the same source port, the network did. The counters are exact
 * if fewer than 2^14 packets of a queue pair are in flight. A zero-length WRITE whose PSN was
 * received before does not count, because hp3d sends such packets without a mark (ACK
 * solicitations).
 */
#include <stdbool.h>
#include <stdint.h>

#define GEN_MARK_AGAIN 0x8000u
#define GEN_MARK_COUNT 0x7fffu

struct gen_order {
	bool any;
	uint16_t latest; /* number in the mark of the latest first transmission that arrived */
	uint16_t sport; /* source port of the packet with number `latest` */
	uint64_t overtaken; /* first transmissions that arrived after a later one */
	uint64_t overtaken_across_ports; /* of these: the later one had another source port */
	/* retransmissions that arrived after a later first transmission from another port */
	uint64_t late_duplicates;
};

static inline uint16_t gen_mark(uint64_t count, bool again)
{
	return (uint16_t)((count & GEN_MARK_COUNT) | (again ? GEN_MARK_AGAIN : 0));
}

/* Counts a request packet that arrived with this mark and UDP source port. */
void gen_order_note(struct gen_order *o, uint16_t mark, uint16_t sport);
