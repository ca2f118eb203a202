/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_COMPARE_H
#define HP3_ENGINE_COMPARE_H
/*
 * Ports of an address pair held against each other (ppp/compare.h), for an operator: one comparison
 * of an engine at a time. Bursts of peer probes, of which the next one leaves when the last one has
 * been answered or is lost, and takes no more than half of the pair's budget of probes.
 */
#include "engine/common.h"
#include "ppp/compare.h"

struct hp3_comparing {
	uint64_t next, end; /* when a burst may leave; when the one under way is lost; 0: none is */
	uint64_t sent, told; /* this burst left; the last one of all was over, 0: not yet */
	uint32_t pair; /* HP3_NO_PAIR: nobody has asked yet */
	uint32_t nonce; /* slots HP3_COMPARE_SLOT and the next: one of the two probes of a port */
	uint16_t open; /* probes without an answer, a bit each */
	struct hp3_compare is;
};

void hp3_compare_init(struct hp3_comparing *c);
void hp3_compare_tick(struct hp3_turn *t);
uint64_t hp3_compare_due(const struct hp3_comparing *c);
/* The answer to probe `id`, as of hp3_probe_timed(); false: it is none of these. */
bool hp3_compare_reply(struct hp3_engine *e, uint32_t id, bool ce, uint32_t took_ns, uint64_t now);
void hp3_compare_forget(struct hp3_engine *e, uint32_t pair);

#endif
