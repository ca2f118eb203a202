/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PENDING_H
#define HP3_ENGINE_PENDING_H
/*
 * Events of queue pairs that wait for proof (rule 16). An event may be late: the next queue pair
 * with these QPNs may send already. One record of the flow stores two things:
 *
 * - The end of the flow's queue pair. The next packet of the flow proves it or disproves it: a
 *   packet with the next PSN shows that the stream goes on. Without a packet, time proves it.
 * - The set-up of a queue pair: its local QPN and its first PSN. The flow is paired once its stream
 *   begins anew with that PSN, or once an earlier end is carried out. A set-up with an unknown PSN
 *   waits only together with such an end. The end of the queue pair that was set up ends the wait.
 *   If two local queue pairs were set up that may begin with one PSN, neither pairs the flow: a
 *   challenge does (rule 15).
 *
 * If more packets leave after an end, the record keeps the end until one of them is acknowledged:
 * the next queue pair may have begun exactly at the next PSN.
 *
 * The flow index selects the place of a record. If two flows share a place, the newer record takes
 * it, but a set-up never replaces an end. The other event is lost.
 */
#include "engine/state.h"

#define HP3_PENDING 2048u /* places, at most one per flow */

struct hp3_pending {
	uint64_t bytes; /* bytes that had left at the end event; if more have, the stream goes on */
	uint32_t flow, rqpn; /* the record's flow, and its remote QPN */
	uint32_t lqpn, psn; /* of the queue pair that was set up; psn may be HP3_NO_PSN */
	uint32_t rival : 24; /* contested: local QPN of the other queue pair */
	uint32_t pairing : 8; /* enum hp3_pairing; NONE: no set-up waits */
	uint32_t next : 24; /* PSN behind what had left at the end event */
	bool end : 1; /* an end waits */
	bool went_on : 1; /* more packets left after an end event */
	bool after : 1; /* the set-up event came while the end waited */
	bool contested : 1; /* another local queue pair was set up, too */
	bool gone : 1, rival_gone : 1; /* that queue pair has ended */
};

/* The flow's record; NULL: none. */
const struct hp3_pending *hp3_pending_of(const struct hp3_engine *e, uint32_t flow);
/* Does an end wait, and has nothing left since, except the packet of `len` bytes in hand? */
bool hp3_pending_end(const struct hp3_engine *e, uint32_t flow, uint32_t len);
/* The waiting set-up that may pair the flow; NULL: none. */
const struct hp3_pending *hp3_pending_setup(const struct hp3_engine *e, uint32_t flow);
/* ... if it came after the waiting end. */
const struct hp3_pending *hp3_pending_next(const struct hp3_engine *e, uint32_t flow);
/*
 * True: an end event came, and nothing that left since was acknowledged. Another queue pair that
 * begins at this PSN looks like the same stream: the PSN is the next one, in flight, or slightly
 * behind.
 */
bool hp3_pending_may_begin_at(const struct hp3_engine *e, uint32_t flow, uint32_t psn);
void hp3_pending_end_add(struct hp3_engine *e, uint32_t flow);
/* The end was carried out. A set-up goes on waiting for the first packet. */
void hp3_pending_end_done(struct hp3_engine *e, uint32_t flow);
/*
 * The end is disproved. So is a later set-up, if it is of the same local queue pair or its PSN is
 * unknown.
 */
void hp3_pending_end_drop(struct hp3_engine *e, uint32_t flow);
/*
 * Stores a set-up. If two set-ups have different PSNs, that of the flow's own local queue pair
 * counts, else the newer one.
 */
void hp3_pending_setup_add(struct hp3_engine *e, uint32_t flow, const struct hp3_qp_event *event,
	enum hp3_pairing how);
/* The local queue pair has ended. If two set-ups contest each other, both have to end. */
void hp3_pending_setup_ended(struct hp3_engine *e, uint32_t flow, uint32_t lqpn);
void hp3_pending_setup_drop(struct hp3_engine *e, uint32_t flow);

#endif
