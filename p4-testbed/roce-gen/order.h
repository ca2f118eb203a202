/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_ORDER_H
#define ROCE_GEN_ORDER_H
/*
 * Distinguishes reordering from loss, exactly. PSNs do not suffice: the packet that fills a gap may
 * have been overtaken, or sent again. So roce-gen writes a mark into the IPv4 identification, which
 * is unused in packets that may not be fragmented (RFC 6864): the number of packets sent on the
 * queue pair (15 bits), and whether the PSN was sent before (the top bit).
 *
 * Invariant (rule 23): first transmissions arrive in the order emitted, and a duplicate never
 * arrives after a later first transmission from another port. Otherwise the counters below rise:
 * across ports by a fault of hosts, on one port by the network. Exact if fewer than 2^14 packets of
 * a queue pair are in flight. Zero-length WRITEs with a PSN received before do not count: hp3d
 * sends those, without a mark.
 */
#include <stdbool.h>
#include <stdint.h>

#define GEN_MARK_AGAIN 0x8000u
#define GEN_MARK_COUNT 0x7fffu

struct gen_order {
	bool any;
	uint16_t latest; /* count of the latest first transmission that came */
	uint16_t sport; /* and its source port */
	uint64_t overtaken; /* first transmissions that arrived after a later one */
	uint64_t overtaken_across_ports; /* of them: after one from another port */
	uint64_t late_duplicates; /* repeated, after a later first transmission of another port */
};

static inline uint16_t gen_mark(uint64_t count, bool again)
{
	return (uint16_t)((count & GEN_MARK_COUNT) | (again ? GEN_MARK_AGAIN : 0));
}

/* A request packet arrived with this mark and UDP source port. */
void gen_order_note(struct gen_order *o, uint16_t mark, uint16_t sport);

#endif
