/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_LIFE_H
#define HP3_ENGINE_LIFE_H
/*
 * A flow's life: added at its first request packet or set-up event, paired with the local QPN that
 * its replies carry, unpaired, started over, removed.
 */
#include "engine/flows/near.h"
#include "engine/life/tellers.h"
#include "engine/moves/moves.h"

/* life.c */
uint32_t hp3_flow_add(struct hp3_turn *t, const struct hp3_ends *ends, uint32_t rqpn);
/* The same where no packet of the local RNIC says so: within the share of announced flows
 * (flows/announced.h). */
uint32_t hp3_flow_announce(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t rqpn, enum hp3_announcer who);
void hp3_flow_remove(struct hp3_turn *t, uint32_t flow);
enum hp3_traffic hp3_flow_traffic(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Packets of it may be on their way, or are held. */
bool hp3_flow_is_under_way(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/* No packet for 200 ms, and none is held: all that left has arrived, or never will. */
bool hp3_flow_has_paused(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/* Without its record, its next packet would leave by another port, or before packets that are held.
 */
bool hp3_flow_keeps_its_place(const struct hp3_engine *e, uint32_t flow);
bool hp3_flow_pair(struct hp3_turn *t, uint32_t flow, uint32_t lqpn, enum hp3_pairing how);
void hp3_flow_unpair(struct hp3_turn *t, uint32_t flow);
/* New epoch: held packets discarded, unpaired, in-flight unknown (rule 16). `told`: by somebody who
 * knows; else a packet looks like it. */
void hp3_flow_epoch(struct hp3_turn *t, uint32_t flow, bool told);
/* The same where nothing but the network says so: what is held leaves, in order. */
void hp3_flow_over(struct hp3_turn *t, uint32_t flow);

/* Will the request be answered by itself? */
static inline bool hp3_asks(const struct hp3_view *v)
{
	return v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC);
}

/* challenge.c */
/* What `flow` sent until its last packet may be answered, and its record will not say so; `first`
 * of its address pair: what anybody sent. */
void hp3_challenge_quiet(struct hp3_turn *t, uint32_t flow, bool first);
/* A queue pair that has no record, for want of room, sends this: it may be answered. */
void hp3_challenge_untracked(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_view *v);
/* Who has no record may be answered: nobody of the pair is paired by challenge. */
static inline bool hp3_pair_is_untracked(
	const struct hp3_engine *e, const struct hp3_pair *p, uint64_t now)
{
	return now < hp3_max_u64(p->untracked_until, e->untracked_until);
}
/* Forgets a forced challenge: what it would prove is no longer asked or no longer sound. */
void hp3_challenge_stop(struct hp3_flow *f);
/* The same of all flows of the pair. */
void hp3_challenges_void(struct hp3_pair *p);
/* All that the flow sent until its last packet was answered by now, or never will be. */
bool hp3_is_silent(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* Could the flow be answered with this PSN, about now? */
bool hp3_is_near(const struct hp3_flow *f, uint32_t psn);
/* Is any other flow of the address pair near it, and not silent? ahead: one that is not paired, and
 * has sent this PSN already: it may be answered about now. */
bool hp3_others_near(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
bool hp3_others_ahead(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/* Flows of a pair looked at while the table of flows/near.h lacks some; more count as near. */
#define HP3_NEAR_FLOWS 256u
/* Is the flow's natural challenge under way? And an end of it. */
bool hp3_natural_under_way(struct hp3_turn *t, struct hp3_flow *f);
void hp3_natural_drop(struct hp3_flow *f);
/* The flow whose natural challenge a reply answers, if nobody else can be meant; HP3_NO_FLOW. */
uint32_t hp3_asked_naturally(struct hp3_turn *t, uint32_t pair, const struct hp3_view *v);
/* The flow's packet asks by itself; false: another one's is in its place of the index. */
bool hp3_ask_naturally(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v);
/* The packet with this PSN was made to ask; false: another flow's place, as above. */
bool hp3_ask_forced(struct hp3_turn *t, uint32_t flow, uint32_t psn);
/* The flow whose forced challenge under way has this PSN; whose one a reply answers. */
uint32_t hp3_forced_at(struct hp3_turn *t, uint32_t pair, uint32_t psn);
uint32_t hp3_asked_by_force(struct hp3_turn *t, uint32_t pair, const struct hp3_view *v);

/* refuted.c: a checked reply contradicts the pairing; true: it is not to be believed any more */
bool hp3_is_refuted(struct hp3_turn *t, uint32_t flow);

/* void.c: pairings by challenge that are not true, or not any more */
void hp3_void(struct hp3_turn *t, uint32_t flow);
/* Somebody near the flow claims the local QPN at which it is answered. One at a time starts over.
 */
void hp3_void_near(struct hp3_turn *t, uint32_t flow);
/* Nobody claims the reply. It may be one that a flow waits for at another local queue pair. */
void hp3_void_elsewhere(struct hp3_turn *t, uint32_t pair, const struct hp3_pkt *pkt);
/*
 * Looks at flows of a pair, one by one (refuted.c, void.c), are bounded: each is booked with so
 * much time, and so far ahead of time may be booked (strays_until). A few percent of the time is
 * spent so at most.
 */
#define HP3_LOOK_NS   500u
#define HP3_STRAYS_NS 2000000u

/* pairing.c */
bool hp3_is_pairing_wanted(const struct hp3_engine *e, const struct hp3_flow *f);
/* True: set AckReq on this packet. */
bool hp3_challenge_tx(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt);
void hp3_challenge_rx(struct hp3_turn *t, const struct hp3_pkt *pkt);
/* A reply that proved nothing to the flow which claims its QPN: perhaps the claim is wrong. */
void hp3_challenge_claimed(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt);
/* A flow that nothing but challenges may have paired sends `psn` again; `first`: it has just gone
 * back. */
void hp3_challenge_went_back(struct hp3_turn *t, uint32_t flow, uint32_t psn, bool first);

#endif
