/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_SPRAY_RECEIVE_H
#define HP3_ENGINE_SPRAY_RECEIVE_H
/*
 * Inside of the receiving side: packets of peers' queue pairs (receive.c), responses to READs
 * (reads.c), what is held of both (held.c), what the peers were promised (promise.c).
 */
#include "engine/spray/spray.h"

static inline bool hp3_in_between(
	const struct hp3_spray_in *in, uint64_t addr, uint32_t vlan, bool ipv6)
{
	return in->addr == addr && in->vlan == vlan && in->ipv6 == ipv6;
}

/* Is it known how many PSNs a request takes? */
static inline bool hp3_in_sized(const struct hp3_spray_in *in, const struct hp3_view *v)
{
	return in->pmtu_log2 != 0 || !(v->flags & HP3_VF_READ) ||
	       v->dma_len <= 1u << HP3_PMTU_LOG2_MIN;
}

/* PSNs that it takes; 0: not known. */
static inline uint32_t hp3_in_span(const struct hp3_spray_in *in, const struct hp3_view *v)
{
	return hp3_in_sized(in, v) ? hp3_request_span(v, in->pmtu_log2) : 0;
}

/*
 * Held packets that one call hands over when what they waited for has come, 9 ns each: the call for
 * a packet, and hp3_tick(). The rest follows with the next calls of hp3_tick(), which are due at
 * once.
 */
#ifndef HP3_IN_PIECE
#define HP3_IN_PIECE 32u
#endif
#define HP3_IN_PIECE_TICK (8 * HP3_IN_PIECE)

/* receive.c */
/* Is there room for one more? */
bool hp3_in_room(struct hp3_turn *t, const struct hp3_spray_in *in, const struct hp3_pkt *pkt);
/* A packet that takes so many PSNs comes in its turn, too early or again. False: it came too early,
 * and passes. */
bool hp3_in_take(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	uint32_t span, struct hp3_verdict *vd);

/* Of READ responses: what is expected is owed; what is before it is not, any more. */
static inline void hp3_in_owes(struct hp3_spray_in *in)
{
	uint32_t next;

	hp3_owed_done(&in->owed, in->reseq.expected);
	next = hp3_owed_from(&in->owed, in->reseq.expected);
	if (next != HP3_NO_PSN)
		hp3_reseq_skip(&in->reseq, next);
}

/* ... all that were owed up to this PSN have come. */
static inline bool hp3_in_has_come(const struct hp3_spray_in *in, uint32_t psn)
{
	return in->owed.n == 0 || hp3_psn_diff(psn, in->reseq.expected) < 0;
}

/*
 * ... the RNIC waits for no response before this PSN. It got a NAK or RNR NAK for this PSN: it has
 * completed the READs before, or sends them again, which hp3d sees.
 */
static inline void hp3_in_owes_from(struct hp3_spray_in *in, uint32_t psn, uint64_t now)
{
#ifdef HP3_BREAK_READ_OWED
	return;
#endif
	hp3_owed_done(&in->owed, psn);
	hp3_reseq_acknowledged(&in->reseq, psn, now);
	hp3_in_owes(in);
}

/* What an ACK that was replaced spoke for has come: from now on the one that is held counts. */
static inline void hp3_in_ack_counts(struct hp3_spray_in *in)
{
#ifdef HP3_BREAK_READ_ACK_AT
	return;
#endif
	if (in->ack.held == 0 || !hp3_in_has_come(in, in->ack.until))
		return;
	in->ack.at = hp3_max_u64(in->ack.at, in->ack.came);
	in->ack.until = in->ack.psn;
}

/*
 * READ responses: the RNIC gets something behind what lacks. It may discard what it is given until
 * it has sent the READ again (rule 35). That all has come once more does not end the doubt.
 */
static inline void hp3_in_gap(struct hp3_engine *e, struct hp3_spray_in *in)
{
	in->doubts = false;
	if (in->reads && in->flow != HP3_NO_FLOW)
		e->flows[in->flow].watch |= HP3_FW_DOUBT;
}

/* held.c */
struct hp3_reseq_params hp3_in_params(const struct hp3_engine *e);
/* When something is to be done about what is held. */
uint64_t hp3_in_due(const struct hp3_turn *t, const struct hp3_spray_in *in);
/* The packet is what it says that it is: its ICRC is right. */
bool hp3_in_sound(struct hp3_engine *e, const struct hp3_pkt *pkt);
/* It is held: as hp3_reseq_arrive() has it, with the next free handle. */
void hp3_in_keep(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd);
void hp3_in_replace(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd);
/* It goes nowhere. */
void hp3_in_discard(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t handle);
/* What the RNIC has goes nowhere. */
void hp3_in_forget(struct hp3_turn *t, struct hp3_spray_in *in);
/* What follows in order goes to the RNIC: so many packets, or the rest of them where they take one
 * path again. */
void hp3_in_follow(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t most);
/* The packet in hand goes to the RNIC behind what was handed over in this call. */
void hp3_in_behind(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd);
/* All does, in order (DELIVER), or nothing (DISCARD). */
void hp3_in_empty(struct hp3_turn *t, struct hp3_spray_in *in, enum hp3_act_kind kind);
/* All goes to the RNIC, and behind it the packet in hand. */
void hp3_in_before(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd);
/*
 * READ responses: hp3d has handed over all that it held, up to this PSN, and responses before it
 * are missing. hp3d waits for them no more. An RNIC that lacks one goes back, and hp3d counts the
 * READ again when it sees that. If the RNIC went back within the longest time that hp3d waits, the
 * responses to that READ are on their way: hp3d waits for these.
 */
void hp3_in_give_up(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t end);
/* What lacks has been waited for long enough. */
void hp3_in_late(struct hp3_turn *t, struct hp3_spray_in *in);

/* missing.c */
/* A packet has arrived, and was resequenced. */
void hp3_in_came(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_view *v);
/* A packet is missing: others are held behind it. */
static inline bool hp3_in_lacks(const struct hp3_spray_in *in)
{
	return in->ready && in->sure && in->reseq.held != 0 && !hp3_reseq_follows(&in->reseq);
}
/* When to ask the sender about it; UINT64_MAX: never. */
static inline uint64_t hp3_in_ask_due(const struct hp3_spray_in *in)
{
	if (!hp3_in_lacks(in) || in->reseq.told || !in->numbered)
		return UINT64_MAX;
	return hp3_missing_due(&in->missing, in->reseq.expected);
}
/* Asks the sender (MISSING), if that is due. */
void hp3_in_ask(struct hp3_turn *t, struct hp3_spray_in *in);
/* The sender's answer (LEFT). */
void hp3_in_left(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_agree *a);

/* promise.c */
/* `reads`: responses to READs of the local queue pair `responder`. */
struct hp3_spray_in *hp3_in_find(struct hp3_engine *e, uint64_t addr, uint32_t vlan, bool ipv6,
	uint32_t responder, bool reads);
/* The record of what the flow reads (HP3_FW_READS). */
static inline struct hp3_spray_in *hp3_in_of_reads(const struct hp3_engine *e, uint32_t flow)
{
	return &e->spraying->in[e->spraying->of[flow].reads];
}
/* The newest record whose requester this is. */
struct hp3_spray_in *hp3_in_find_back(struct hp3_engine *e, uint64_t addr, uint32_t vlan, bool ipv6,
	uint32_t requester, bool reads);
/* A new record's requester; each has one. */
void hp3_in_link_back(struct hp3_spraying *s, struct hp3_spray_in *in, uint32_t requester);
/* Is there one for one more of the peer, of so many in all? */
bool hp3_in_has_place(const struct hp3_engine *e, const struct hp3_ends *ends, uint32_t most);
/* A new record; there is room. */
struct hp3_spray_in *hp3_in_add(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t responder);
/* Yes; or no, where it is not wanted any more. */
void hp3_in_answer(struct hp3_turn *t, struct hp3_spray_in *in);

/* So long after the sender's last word it is put in order. */
static inline uint64_t hp3_in_lease(const struct hp3_spray_in *in)
{
	return HP3_SPRAY_BOUND * in->beat_ns;
}

/* Nothing is offered to the peer for a while. */
void hp3_in_put_off(struct hp3_turn *t, const struct hp3_spray_in *in);

#endif
