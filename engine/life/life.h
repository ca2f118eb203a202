/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_LIFE_H
#define HP3_ENGINE_LIFE_H
/*
 * A flow's life: added at its first request packet or set-up event, paired with the local QPN that
 * its replies carry, unpaired, started anew, removed.
 */
#include "engine/flows/near.h"
#include "engine/life/qp_sources.h"
#include "engine/moves/moves.h"

/* life.c */
uint32_t hp3_flow_add(struct hp3_turn *t, const struct hp3_ends *ends, uint32_t rqpn);
/*
 * The same if no packet of the local RNIC shows the queue pair: limited by the quotas of announced
 * flows (flows/announced.h).
 */
uint32_t hp3_flow_announce(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t rqpn, enum hp3_announcer who);
void hp3_flow_remove(struct hp3_turn *t, uint32_t flow);
enum hp3_traffic hp3_flow_traffic(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Packets of the flow may be in flight, or are held. */
bool hp3_flow_is_under_way(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/* No packet for 200 ms, and none is held: all packets have arrived, or are lost. */
bool hp3_flow_has_paused(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/*
 * Without its record, the flow's next packet would leave on another port, or overtake held packets.
 */
bool hp3_flow_keeps_its_place(const struct hp3_engine *e, uint32_t flow);
bool hp3_flow_pair(struct hp3_turn *t, uint32_t flow, uint32_t lqpn, enum hp3_pairing how);
void hp3_flow_unpair(struct hp3_turn *t, uint32_t flow);
/*
 * New epoch: drops held packets and unpairs the flow; its packets in flight are unknown (rule 16).
 * `reported`: an event reported it; else a packet looks like it.
 */
void hp3_flow_epoch(struct hp3_turn *t, uint32_t flow, bool reported);
/* The same if only packets from the network show it: sends held packets, in order. */
void hp3_flow_over(struct hp3_turn *t, uint32_t flow);

/* Does the request get a reply on its own? */
static inline bool hp3_asks(const struct hp3_view *v)
{
	return v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC);
}

/* challenge.c */
/*
 * Replies to packets of `flow` may still arrive, but its record does not have these packets any
 * more. `first`: first flow of its address pair; earlier requests of any queue pair may be
 * answered. Suspends challenges.
 */
void hp3_challenge_quiet(struct hp3_turn *t, uint32_t flow, bool first);
/* A queue pair without a record (tables full) sends this packet, which may be answered. */
void hp3_challenge_untracked(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_view *v);
/* Queue pairs without a record may be answered: no flow of the pair is paired by challenge. */
static inline bool hp3_pair_is_untracked(
	const struct hp3_engine *e, const struct hp3_pair *p, uint64_t now)
{
	return now < hp3_max_u64(p->untracked_until, e->untracked_until);
}
/* Cancels a forced challenge: its answer would prove nothing, or is not needed. */
void hp3_challenge_stop(struct hp3_flow *f);
/* Cancels all forced challenges of the pair. */
void hp3_challenges_void(struct hp3_pair *p);
/* All that the flow sent has been answered by now, or never will be. */
bool hp3_is_silent(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* Could a reply to the flow have this PSN now? */
bool hp3_is_near(const struct hp3_flow *f, uint32_t psn);
/*
 * _near: is another flow of the address pair near this PSN, and not silent? _ahead: has another
 * unpaired flow sent this PSN already, so that its reply may arrive now?
 */
bool hp3_others_near(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
bool hp3_others_ahead(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/*
 * Most flows of a pair that are examined while flows/near.h is incomplete. In a pair with more
 * flows, all count as near.
 */
#define HP3_NEAR_FLOWS 256u
/* _under_way: is the flow's natural challenge outstanding? _drop: cancels it. */
bool hp3_natural_under_way(struct hp3_turn *t, struct hp3_flow *f);
void hp3_natural_drop(struct hp3_flow *f);
/*
 * The flow whose natural challenge this reply answers, if no other flow can be meant; HP3_NO_FLOW.
 */
uint32_t hp3_asked_naturally(struct hp3_turn *t, uint32_t pair, const struct hp3_view *v);
/*
 * Registers the packet as a natural challenge. False: the place in the index is taken by another
 * flow.
 */
bool hp3_ask_naturally(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v);
/* Registers the packet with this PSN, which gets AckReq, as a forced challenge. False: as above. */
bool hp3_ask_forced(struct hp3_turn *t, uint32_t flow, uint32_t psn);
/*
 * hp3_forced_at(): the flow with an outstanding forced challenge at this PSN. hp3_asked_by_force():
 * the flow whose forced challenge this reply answers. Both: HP3_NO_FLOW if there is none.
 */
uint32_t hp3_forced_at(struct hp3_turn *t, uint32_t pair, uint32_t psn);
uint32_t hp3_asked_by_force(struct hp3_turn *t, uint32_t pair, const struct hp3_view *v);

/* refuted.c: a checked reply contradicts the pairing. True: the pairing is to be discarded */
bool hp3_is_refuted(struct hp3_turn *t, uint32_t flow);

/* void.c: discards pairings by challenge that are wrong, or no longer right */
void hp3_void(struct hp3_turn *t, uint32_t flow);
/*
 * Another flow near this one may be paired with the local QPN of this flow's replies. Unpairs one
 * such flow at a time.
 */
void hp3_void_near(struct hp3_turn *t, uint32_t flow);
/*
 * A reply to an unpaired local QPN: a flow that is paired with another local QPN may wait for it.
 */
void hp3_void_elsewhere(struct hp3_turn *t, uint32_t pair, const struct hp3_pkt *pkt);
/*
 * Limit for checks that walk the flows of a pair (refuted.c, void.c). Each flow is booked with
 * HP3_FLOW_CHECK_NS, at most HP3_STRAYS_NS ahead of time (strays_until). So they take a few percent
 * of the time at most.
 */
#define HP3_FLOW_CHECK_NS 500u
#define HP3_STRAYS_NS     2000000u

/* pairing.c */
bool hp3_is_pairing_wanted(const struct hp3_engine *e, const struct hp3_flow *f);
/* True: set AckReq on this packet. */
bool hp3_challenge_tx(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt);
void hp3_challenge_rx(struct hp3_turn *t, const struct hp3_pkt *pkt);
/* A reply that proved nothing about the flow paired with its QPN: the pairing may be wrong. */
void hp3_challenge_claimed(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt);
/*
 * A flow that was paired by challenge, or not at all, sends `psn` again. `first`: the first
 * retransmission of this run.
 */
void hp3_challenge_went_back(struct hp3_turn *t, uint32_t flow, uint32_t psn, bool first);

#endif
