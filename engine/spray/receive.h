/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Internals of the receiving side: requests of peers (receive.c), READ responses (reads.c), held
 * packets of both (held.c), lost packets (missing.c), agreements (promise.c). A packet is
 * "resequenced" if hp3d holds it until all packets before it in PSN order have gone to the RNIC.
 */
#include "engine/spray/spray.h"

static inline bool hp3_in_between(
	const struct hp3_spray_in *in, uint64_t addr, uint32_t vlan, bool ipv6)
{
	return in->addr == addr && in->vlan == vlan && in->ipv6 == ipv6;
}

/* Marks a packet of the agreement with HP3_IN_ORDER. */
static inline void hp3_in_order(
	struct hp3_spray_in *in, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	if (HP3_UNLIKELY(in->link == 0))
		in->link = pkt->link + 1;
	vd->flags |= (uint8_t)(HP3_IN_ORDER | (in->link - 1) << HP3_LINK_SHIFT);
}

/*
 * Is the number of PSNs of this request known? A READ takes one PSN per response packet, so the
 * path MTU determines the number.
 */
static inline bool hp3_in_sized(const struct hp3_spray_in *in, const struct hp3_view *v)
{
	return in->pmtu_log2 != 0 || !(v->flags & HP3_VF_READ) ||
	       v->dma_len <= 1u << HP3_PMTU_LOG2_MIN;
}

/* Number of PSNs of the request; 0: not known. */
static inline uint32_t hp3_in_span(const struct hp3_spray_in *in, const struct hp3_view *v)
{
	return hp3_in_sized(in, v) ? hp3_request_span(v, in->pmtu_log2) : 0;
}

/*
 * When a missing packet arrives, hp3d hands over the packets that were held behind it. A call for a
 * packet hands over at most HP3_IN_PIECE of these packets (9 ns each), and makes hp3_tick() due at
 * once for the rest. A call of hp3_tick() hands over at most HP3_IN_PIECE_TICK.
 */
#ifndef HP3_IN_PIECE
#define HP3_IN_PIECE 32u
#endif
#define HP3_IN_PIECE_TICK (8 * HP3_IN_PIECE)

/* receive.c */
/* Is there room to hold this packet? */
bool hp3_in_room(struct hp3_turn *t, const struct hp3_spray_in *in, const struct hp3_pkt *pkt);
/*
 * Resequences a packet of `span` PSNs. False: the packet is out of order and cannot be held, so the
 * engine passes it on.
 */
bool hp3_in_take(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	uint32_t span, struct hp3_verdict *vd);

/* READ responses: moves the expected PSN on to the first PSN that the RNIC still waits for. */
static inline void hp3_in_owes(struct hp3_spray_in *in)
{
	uint32_t next;

	hp3_owed_done(&in->owed, in->reseq.expected);
	next = hp3_owed_from(&in->owed, in->reseq.expected);
	if (next != HP3_NO_PSN)
		hp3_reseq_skip(&in->reseq, next);
}

/* READ responses: have all responses arrived that the RNIC waits for, up to this PSN? */
static inline bool hp3_in_has_come(const struct hp3_spray_in *in, uint32_t psn)
{
	return in->owed.n == 0 || hp3_psn_diff(psn, in->reseq.expected) < 0;
}

/*
 * The held ACK may have replaced an earlier held ACK. In this case, the time limit of the earlier
 * ACK counts first. Once the responses before the earlier ACK have arrived, the time limit of the
 * held ACK counts.
 */
static inline void hp3_in_ack_counts(struct hp3_spray_in *in)
{
	if (in->ack.held == 0 || !hp3_in_has_come(in, in->ack.until))
		return;
	in->ack.at = hp3_max_u64(in->ack.at, in->ack.came);
	in->ack.until = in->ack.psn;
}

/*
 * READ responses: the RNIC gets a packet behind a missing response. The RNIC may discard responses
 * until it has sent the READ again (rule 35). HP3_FW_DOUBT (rule 4) therefore stays set after all
 * responses have arrived.
 */
static inline void hp3_in_gap(struct hp3_engine *e, struct hp3_spray_in *in)
{
	in->doubts = false;
	if (in->reads && in->flow != HP3_NO_FLOW)
		e->flows[in->flow].watch |= HP3_FW_DOUBT;
}

static inline const struct hp3_reseq_params *hp3_in_params(const struct hp3_engine *e)
{
	return &e->spraying->reseq;
}

/* held.c */
/* Time of the next action for held packets; UINT64_MAX: none. */
uint64_t hp3_in_due(const struct hp3_turn *t, const struct hp3_spray_in *in);
/*
 * Holds the packet under the next free handle. _keep: after HP3_RESEQ_HOLD. _replace: the packet
 * replaces a held packet with the same PSN.
 */
void hp3_in_keep(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd);
void hp3_in_replace(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd);
/* Drops one held packet. */
void hp3_in_discard(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t handle);
/* Drops held packets that the RNIC already has. */
void hp3_in_forget(struct hp3_turn *t, struct hp3_spray_in *in);
/*
 * Hands over held packets that are next in PSN order, at most `most` of them. Exception: hands over
 * all of these packets if the sender may not be spraying (not `sure`), or has stopped spraying
 * (`unsized`).
 */
void hp3_in_follow(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t most);
/* Hands over the packet in hand, behind all other packets of this call. */
void hp3_in_behind(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd);
/* Hands over all held packets in order (DELIVER), or drops them (DISCARD). */
void hp3_in_empty(struct hp3_turn *t, struct hp3_spray_in *in, enum hp3_act_kind kind);
/* Hands over all held packets, and behind them the packet in hand. */
void hp3_in_before(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd);
/*
 * READ responses: the RNIC has got all held responses up to this PSN, or a NAK or RNR NAK for this
 * PSN. From now on, hp3d waits for no earlier response. The RNIC has completed the earlier READs,
 * or sends them again, and hp3d sees the new requests. Exception: if the RNIC sent a READ again
 * within the longest wait, hp3d waits for the responses to that READ, because they are in flight.
 */
void hp3_in_give_up(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t end);
/* Acts on the time limit of a missing packet. */
void hp3_in_late(struct hp3_turn *t, struct hp3_spray_in *in);

/* missing.c */
/* A packet has arrived and was resequenced: looks for lost packets. */
void hp3_in_came(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_view *v);
/* Is a packet missing, while later packets are held? */
static inline bool hp3_in_has_missing(const struct hp3_spray_in *in)
{
	return in->ready && in->sure && in->reseq.held != 0 && !hp3_reseq_follows(&in->reseq);
}
/* Time to ask the sender about the missing packet; UINT64_MAX: never. */
static inline uint64_t hp3_in_ask_due(const struct hp3_spray_in *in)
{
	if (!hp3_in_has_missing(in) || in->reseq.shown || !in->numbered)
		return UINT64_MAX;
	return hp3_missing_due(&in->missing, in->reseq.expected);
}
/* Asks the sender (MISSING), if that is due. */
void hp3_in_ask(struct hp3_turn *t, struct hp3_spray_in *in);
/* Takes the sender's answer (LEFT). */
void hp3_in_left(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_agree *a);

/* promise.c */
/*
 * The record of a local queue pair (`responder`): of the peer's requests, or of READ responses
 * (`reads`).
 */
static inline struct hp3_spray_in *hp3_in_find(const struct hp3_engine *e, uint64_t addr,
	uint32_t vlan, bool ipv6, uint32_t responder, bool reads)
{
	const struct hp3_spraying *s = e->spraying;

	for (uint16_t i = s->heads[hp3_spray_chain(s, addr, vlan, responder)]; i != HP3_NO_SPRAY;
		i = s->in[i].next) {
		struct hp3_spray_in *in = &s->in[i];

		if (in->responder == responder && in->reads == reads &&
			hp3_in_between(in, addr, vlan, ipv6))
			return in;
	}
	return NULL;
}

/* The record of the flow's READ responses. Valid with HP3_FW_READS. */
static inline struct hp3_spray_in *hp3_in_of_reads(const struct hp3_engine *e, uint32_t flow)
{
	return &e->spraying->in[e->spraying->of[flow].reads];
}
/* The newest record of a remote queue pair (`requester`). */
struct hp3_spray_in *hp3_in_find_back(struct hp3_engine *e, uint64_t addr, uint32_t vlan, bool ipv6,
	uint32_t requester, bool reads);
/* Sets the remote queue pair of a record, which must not be in a chain by requester yet. */
void hp3_in_link_back(struct hp3_spraying *s, struct hp3_spray_in *in, uint32_t requester);
/* May this peer have one more record, if at most `most` exist in all? */
bool hp3_in_has_place(const struct hp3_engine *e, const struct hp3_ends *ends, uint32_t most);
/* Adds a record. The caller has checked hp3_in_has_place(). */
struct hp3_spray_in *hp3_in_add(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t responder);
/* Answers YES, or NO if this host no longer wants the agreement. */
void hp3_in_answer(struct hp3_turn *t, struct hp3_spray_in *in);

/* The receiver resequences for this long (ns) after the sender's last message. */
static inline uint64_t hp3_in_lease(const struct hp3_spray_in *in)
{
	return HP3_SPRAY_BOUND * in->keepalive_ns;
}

/* Sends no further offer to the peer for a while. */
void hp3_in_put_off(struct hp3_turn *t, const struct hp3_spray_in *in);
