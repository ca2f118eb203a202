/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A flow's life. The engine adds a flow for its first request packet, a set-up event, a message of
 * the peer's hp3d, or an entry of the flow state file. The engine pairs the flow with the local QPN
 * that the flow's replies carry. Later, it may unpair the flow, or begin a new epoch. At the end,
 * it removes the flow.
 */
#include "engine/flows/near.h"
#include "engine/life/qp_sources.h"
#include "engine/moves/moves.h"

/* life.c */
uint32_t hp3_flow_add(struct hp3_turn *t, const struct hp3_ends *ends, uint32_t rqpn);
/*
 * As hp3_flow_add(), for a queue pair of which the engine has seen no packet from the local RNIC.
 * The quotas of announced flows apply (flows/announced.h).
 */
uint32_t hp3_flow_announce(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t rqpn, enum hp3_announcer who);
void hp3_flow_remove(struct hp3_turn *t, uint32_t flow);
enum hp3_traffic hp3_flow_traffic(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/* True: packets of the flow may be in flight, or are held. */
bool hp3_flow_is_under_way(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/*
 * True: the flow had no packet for 200 ms, and no packet is held. So all its packets have arrived,
 * or are lost.
 */
bool hp3_flow_has_paused(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/*
 * True: the record has to stay. Without it, the flow's next request or READ response would leave on
 * another port, or overtake held packets.
 */
bool hp3_flow_keeps_its_place(const struct hp3_engine *e, uint32_t flow);
bool hp3_flow_pair(struct hp3_turn *t, uint32_t flow, uint32_t lqpn, enum hp3_pairing how);
void hp3_flow_unpair(struct hp3_turn *t, uint32_t flow);
/*
 * Begins a new epoch, that is, a new stream of PSNs: drops held packets and unpairs the flow.
 * Packets of the earlier epoch may be in flight, but the engine has no record of them (rule 16).
 * `reported`: an event reported the new epoch. False: a packet shows the new epoch.
 */
void hp3_flow_epoch(struct hp3_turn *t, uint32_t flow, bool reported);
/*
 * As hp3_flow_epoch(), but sends held packets, in order, instead of dropping them. Used for
 * messages of connection management, which anyone can forge. Also used for events that may be about
 * another queue pair (HP3_UP_RELEASE).
 */
void hp3_flow_over(struct hp3_turn *t, uint32_t flow);

/* Does this request alone cause a reply? */
static inline bool hp3_asks(const struct hp3_view *v)
{
	return v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC);
}

/* challenge.c */
/*
 * Replies may arrive to packets of `flow` that are no longer in its record. If other flows are near
 * the PSNs of these packets, the engine sends no challenges of the address pair for a while.
 * `first`: `flow` is the first flow of its pair. In this case, the engine also sends no challenges,
 * because replies to earlier requests of any queue pair may arrive.
 */
void hp3_challenge_quiet(struct hp3_turn *t, uint32_t flow, bool first);
/*
 * A queue pair without a record (tables full) sends this packet. For a while, a challenge does not
 * count if the reply to this packet could answer it.
 */
void hp3_challenge_untracked(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_view *v);
/*
 * True: replies to queue pairs without a record may arrive, so the engine pairs no flow of the pair
 * by challenge.
 */
static inline bool hp3_pair_is_untracked(
	const struct hp3_engine *e, const struct hp3_pair *p, uint64_t now)
{
	return now < hp3_max_u64(p->untracked_until, e->untracked_until);
}
/*
 * A forced challenge is a packet in which the engine sets AckReq (pairing.c). Cancels the flow's
 * forced challenge: its answer would prove nothing, or is not needed.
 */
void hp3_challenge_stop(struct hp3_flow *f);
/* True: no reply to an earlier packet of the flow can arrive any more. */
static inline bool hp3_is_silent(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	uint32_t idle = (uint32_t)(now >> HP3_TICK_SHIFT) - f->last;

	return idle > (e->cfg.challenge_timeout_ns >> HP3_TICK_SHIFT) + 1;
}
/* Could a reply to the flow have this PSN now? */
bool hp3_is_near(const struct hp3_flow *f, uint32_t psn);
/*
 * _near: is another flow of the address pair near this PSN, and not silent (hp3_is_silent())?
 * _ahead: has another unpaired flow sent this PSN already, so that the reply to that flow may
 * arrive now?
 */
bool hp3_others_near(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
bool hp3_others_ahead(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/*
 * Do flows count as near this PSN because they are too many for the table of flows/near.h, or for
 * the check of their records?
 */
bool hp3_is_crowded(const struct hp3_engine *e, uint32_t flow, uint32_t psn, uint64_t now);
/*
 * Most flows of a pair that the engine examines while the table of flows/near.h is incomplete. In a
 * pair with more flows, all flows count as near.
 */
#define HP3_NEAR_FLOWS 256u
/*
 * A natural challenge is a packet that requests a reply without a change by the engine. _under_way:
 * is the flow's natural challenge outstanding? _drop: cancels that challenge.
 */
bool hp3_natural_under_way(struct hp3_turn *t, struct hp3_flow *f);
void hp3_natural_drop(struct hp3_flow *f);
/*
 * The flow whose natural challenge this reply answers; HP3_NO_FLOW if there is none, or if the
 * reply may be for another flow.
 */
uint32_t hp3_asked_naturally(struct hp3_turn *t, uint32_t pair, const struct hp3_view *v);
/*
 * Registers the packet as a natural challenge. False: another flow has taken the place in the index
 * of challenges.
 */
bool hp3_ask_naturally(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v);
/*
 * Registers the packet with this PSN, which gets AckReq, as a forced challenge. False: another flow
 * has taken the place in the index of challenges.
 */
bool hp3_ask_forced(struct hp3_turn *t, uint32_t flow, uint32_t psn);
/*
 * hp3_forced_at(): the flow with an outstanding forced challenge at this PSN. hp3_asked_by_force():
 * the flow whose forced challenge this reply answers. Both: HP3_NO_FLOW if there is none.
 */
uint32_t hp3_forced_at(struct hp3_turn *t, uint32_t pair, uint32_t psn);
uint32_t hp3_asked_by_force(struct hp3_turn *t, uint32_t pair, const struct hp3_view *v);

/* refuted.c: a checked reply contradicts the pairing. True: discard the pairing */
bool hp3_is_refuted(struct hp3_turn *t, uint32_t flow);

/* void.c: discards pairings by challenge that are wrong, or no longer right */
void hp3_void(struct hp3_turn *t, uint32_t flow);
/*
 * Another flow near this flow may be paired with the local QPN of this flow's replies. Unpairs one
 * such flow per call.
 */
void hp3_void_near(struct hp3_turn *t, uint32_t flow);
/*
 * A reply to a local QPN without a flow has arrived. If a flow waits for this reply, and is paired
 * with another local QPN, its pairing is wrong, and the function discards the pairing.
 */
void hp3_void_elsewhere(struct hp3_turn *t, uint32_t pair, const struct hp3_pkt *pkt);
/*
 * Rate limit for checks that visit the flows of a pair (refuted.c, void.c). Each visited flow moves
 * strays_until on by HP3_FLOW_CHECK_NS. No check begins while strays_until is more than
 * HP3_STRAYS_NS ahead of now. So these checks take a few percent of the time at most.
 */
#define HP3_FLOW_CHECK_NS 500u
#define HP3_STRAYS_NS     2000000u

/* unpaired.c */
/*
 * Store why a flow is not paired. _begun: a challenge left. _answered: it was answered. _missed: no
 * usable answer came; call it before hp3_challenge_stop().
 */
void hp3_challenge_begun(struct hp3_flow *f);
void hp3_challenge_answered(struct hp3_flow *f);
void hp3_challenge_missed(struct hp3_turn *t, struct hp3_flow *f);
enum hp3_unpaired_reason hp3_flow_unpaired_reason(
	const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* Ageing visits flow record `flow`: counts it by reason, if it is an unpaired flow. */
void hp3_unpaired_count(struct hp3_engine *e, uint32_t flow, uint64_t now);

/* pairing.c */
/*
 * If nothing moves, only flows that have to return home need a pairing: a drain needs their
 * replies.
 */
static inline bool hp3_is_pairing_wanted(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return e->cfg.moves_allowed || e->cfg.observe || (f->flags & HP3_FF_MOVED);
}
/* True: set AckReq on this packet. */
bool hp3_challenge_tx(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt);
void hp3_challenge_rx(struct hp3_turn *t, const struct hp3_pkt *pkt);
/* Checks the pairing of a flow after a reply to its local QPN that did not advance una. */
void hp3_challenge_claimed(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt);
/*
 * Checks the pairing of a flow that sends `psn` again. Precondition: the flow is paired by
 * challenge, or unpaired. `first`: the packet before `psn` was a first transmission.
 */
void hp3_challenge_went_back(struct hp3_turn *t, uint32_t flow, uint32_t psn, bool first);
