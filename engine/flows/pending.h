/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PENDING_H
#define HP3_ENGINE_PENDING_H
/*
 * Events of queue pairs that wait for proof (rule 16). An event may be late: the next queue pair
 * with these QPNs may send already. Two things wait, in one record of the flow:
 *
 *  - the end of the flow's queue pair. The next packet of the flow proves it or disproves it: a
 *    packet with the next PSN shows that the stream goes on. Without a packet, time proves it.
 *  - the set-up of a queue pair: its local QPN and its first PSN. The flow is paired once its
 *    stream begins anew with that PSN, or once an end that was told before it is carried out. A
 *    set-up whose PSN is not known waits only together with such an end. The end of the queue pair
 *    that was set up ends the wait. If two local queue pairs were set up that may begin with one
 *    PSN, neither pairs the flow: a challenge does (rule 15).
 *
 * If more leaves after an end, the record remembers the end until something that left since is
 * acknowledged: the next queue pair may have begun exactly at the next PSN.
 *
 * Records have their places by flow. If two flows share a place, the newer record takes it, but a
 * set-up takes no place of an end. The other event then changes nothing, as if nobody had told it.
 */
#include "engine/state.h"

#define HP3_PENDING 2048u /* places, at most one per flow */

struct hp3_pending {
	uint64_t bytes; /* that had left when the end was told: if more have, the stream goes on */
	uint32_t flow, rqpn; /* whose record */
	uint32_t lqpn, psn; /* of the queue pair that was set up; psn may be HP3_NO_PSN */
	uint32_t rival : 24; /* contested: the other local queue pair */
	uint32_t pairing : 8; /* enum hp3_pairing; NONE: no set-up waits */
	uint32_t next : 24; /* PSN behind what had left when the end was told */
	bool end : 1; /* an end waits */
	bool went_on : 1; /* an end was told, and more has left since */
	bool after : 1; /* the set-up was told while the end waited */
	bool contested : 1; /* another local queue pair was set up, too */
	bool gone : 1, rival_gone : 1; /* that one has ended */
};

/* The flow's record; NULL: nothing waits. */
const struct hp3_pending *hp3_pending_of(const struct hp3_engine *e, uint32_t flow);
/* Does an end wait, and has nothing left since but the packet of `len` bytes in hand? */
bool hp3_pending_end(const struct hp3_engine *e, uint32_t flow, uint32_t len);
/* The set-up that waits and may pair the flow; NULL: none. */
const struct hp3_pending *hp3_pending_setup(const struct hp3_engine *e, uint32_t flow);
/* ... and was told after the end that waits. */
const struct hp3_pending *hp3_pending_next(const struct hp3_engine *e, uint32_t flow);
/* An end was told, and nothing that left since was acknowledged. Another queue pair that begins at
 * this PSN looks like the same stream: the PSN is the next one, in flight, or not far behind. */
bool hp3_pending_may_begin_at(const struct hp3_engine *e, uint32_t flow, uint32_t psn);
void hp3_pending_end_add(struct hp3_engine *e, uint32_t flow);
/* It is carried out: a set-up waits on for the first packet. */
void hp3_pending_end_done(struct hp3_engine *e, uint32_t flow);
/* It is disproved. So is the set-up told after it, if it is of the same local queue pair or its PSN
 * is not known. */
void hp3_pending_end_drop(struct hp3_engine *e, uint32_t flow);
/* The set-up of this local queue pair waits. Of two that begin with different PSNs the flow's own
 * local queue pair counts, else the newer one. */
void hp3_pending_setup_add(
	struct hp3_engine *e, uint32_t flow, const struct hp3_qp_event *ev, enum hp3_pairing how);
/* The local queue pair has ended. Of two that contest each other both have to. */
void hp3_pending_setup_ended(struct hp3_engine *e, uint32_t flow, uint32_t lqpn);
void hp3_pending_setup_drop(struct hp3_engine *e, uint32_t flow);

#endif
