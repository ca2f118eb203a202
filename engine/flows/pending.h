/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Set-up and end events of queue pairs that wait for proof (rule 16). An event may be late: the
 * next queue pair with the same QPNs may be sending already. A flow's record stores two things:
 *
 * - The end of the flow's queue pair. The next packet of the flow proves or disproves the end: a
 *   packet with the next PSN shows that the stream goes on. If no packet comes, the end counts as
 *   proven after a while.
 * - The set-up of a queue pair: its local QPN and its first PSN. The flow is paired once a new
 *   stream begins with that PSN, or once an earlier end is carried out. A set-up with an unknown
 *   PSN waits only together with an earlier end. The set-up is dropped if the queue pair that was
 *   set up ends. If two local queue pairs were set up that may begin with the same PSN, neither
 *   set-up pairs the flow: a challenge does (rule 15).
 *
 * If more packets leave after an end event, the engine drops the end, and sets went_on. The next
 * queue pair may have begun exactly at the next PSN. went_on counts until the peer acknowledges one
 * of these packets.
 *
 * The flow index selects the place of a record. If two flows share a place, the newer record takes
 * the place, but a set-up never replaces an end. The event without a place is lost.
 */
#include "engine/state.h"

#define HP3_PENDING 2048u /* most places; not more than max_flows */

struct hp3_pending {
	/* bytes that had left at the end event; if more bytes have left since, the stream may go
	 * on */
	uint64_t bytes;
	uint32_t flow, rqpn; /* the record's flow, and its remote QPN */
	/* local QPN and first PSN of the queue pair that was set up; psn may be HP3_NO_PSN */
	uint32_t lqpn, psn;
	uint32_t rival : 24; /* contested: local QPN of the other queue pair */
	uint32_t pairing : 8; /* enum hp3_pairing; NONE: no set-up waits */
	uint32_t next : 24; /* PSN after the packets that had left at the end event */
	bool end : 1; /* an end waits for proof */
	bool went_on : 1; /* more packets left after an end event */
	bool after : 1; /* the set-up event came while the end waited */
	/* another local queue pair was set up that may begin with the same PSN */
	bool contested : 1;
	bool gone : 1; /* the queue pair `lqpn` has ended */
	bool rival_gone : 1; /* the queue pair `rival` has ended */
};

/* The flow's record; NULL: none. */
const struct hp3_pending *hp3_pending_of(const struct hp3_engine *e, uint32_t flow);
/*
 * True: an end waits, and after its event no packet left, except the packet of `len` bytes in hand.
 */
bool hp3_pending_end(const struct hp3_engine *e, uint32_t flow, uint32_t len);
/* The waiting set-up that may pair the flow, if it came after the waiting end; NULL: none. */
const struct hp3_pending *hp3_pending_next(const struct hp3_engine *e, uint32_t flow);
/*
 * True: a new queue pair that begins at this PSN would look like the same stream. For this, an end
 * event must have come, and the peer must have acknowledged no packet that left after the event.
 * The PSN must be the next PSN, a PSN in flight, or slightly before the PSNs in flight.
 */
bool hp3_pending_may_begin_at(const struct hp3_engine *e, uint32_t flow, uint32_t psn);
void hp3_pending_end_add(struct hp3_engine *e, uint32_t flow);
/* Drops an end that was carried out. A stored set-up still waits for the first packet. */
void hp3_pending_end_done(struct hp3_engine *e, uint32_t flow);
/*
 * The end is disproved: drops it. Also drops a later set-up of the same local queue pair, or with
 * an unknown PSN.
 */
void hp3_pending_end_drop(struct hp3_engine *e, uint32_t flow);
/*
 * Stores a set-up, in place of a stored one whose PSN differs. Exception: a stored set-up stays if
 * it is of the flow's own local queue pair, and came after the waiting end.
 */
void hp3_pending_setup_add(struct hp3_engine *e, uint32_t flow, const struct hp3_qp_event *event,
	enum hp3_pairing how);
/*
 * The local queue pair has ended: drops its set-up. Two set-ups that contest each other are dropped
 * when both queue pairs have ended.
 */
void hp3_pending_setup_ended(struct hp3_engine *e, uint32_t flow, uint32_t lqpn);
void hp3_pending_setup_drop(struct hp3_engine *e, uint32_t flow);
