/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_ORDER_H
#define ROCE_GEN_ORDER_H
/*
 * Tells reordering from loss, exactly. A PSN alone cannot: what fills a gap may have been overtaken
 * or sent again. So a sender of ours writes into the IPv4 identification, which says nothing in
 * packets that may not be fragmented (RFC 6864), how many packets it has sent on the queue pair
 * (15 bits), and whether the PSN was sent before (the top bit).
 *
 * The invariant (rule 23): first transmissions arrive in the order emitted, and a duplicate never
 * arrives after a later first transmission from another port. The counters below stay 0 unless it
 * is broken: across ports by hosts, on one port by the network between them. Exact as long as fewer
 * than 2^14 packets of a queue pair are under way. Zero-length WRITEs are left out where their PSN
 * was had before: those are an hp3d's, and bear no mark.
 */
#include <stdbool.h>
#include <stdint.h>

#define GEN_MARK_AGAIN 0x8000u
#define GEN_MARK_COUNT 0x7fffu

struct gen_order {
	bool any;
	uint16_t latest; /* count of the latest first transmission that came */
	uint16_t sport; /* and its source port */
	uint64_t overtaken; /* first transmissions that came behind a later one */
	uint64_t overtaken_across_ports; /* of them: behind one from another port */
	uint64_t late_duplicates; /* repeated packets behind a later first transmission's port */
};

static inline uint16_t gen_mark(uint64_t count, bool again)
{
	return (uint16_t)((count & GEN_MARK_COUNT) | (again ? GEN_MARK_AGAIN : 0));
}

/* A request packet arrived with this mark and UDP source port. */
void gen_order_note(struct gen_order *o, uint16_t mark, uint16_t sport);

#endif
