/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the local RNIC: which path each takes, and when a queue pair takes one path. */
#include "engine/spray/send.h"

#define SEND_SHORT_RUN 128 /* PSNs: if the RNIC goes back after fewer, one path is better */
#define SEND_STRIKES   4u
#define ASK_EVERY      256u /* packets: the longest run without AckReq; RNICs may ask less often */
#define LEAST_ROOM     64u /* packets */

/* Is the current message large? Only a WRITE shows its length in its first packet. */
static void measure_request(
	const struct hp3_turn *t, struct hp3_spray_out *o, const struct hp3_view *v)
{
	if (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)) {
		o->large = false;
		return;
	}
	if (v->flags & HP3_VF_FIRST) {
		o->so_far = 0;
		o->large = v->dma_len >= hp3_out_least(t, o);
	}
	o->so_far += v->payload_len;
	o->large |= o->so_far >= t->e->cfg.spray.bytes;
}

static inline bool is_trusted(const struct hp3_turn *t, const struct hp3_spray_out *o)
{
	uint64_t silent = t->now - hp3_min_u64(o->heard, t->now),
		 keepalive_ns = hp3_out_keepalive_ns(o);

	return silent < HP3_SPRAY_TRUST * keepalive_ns &&
	       t->now - o->yes_to < (HP3_SPRAY_BOUND - HP3_SPRAY_TRUST) * keepalive_ns;
}

bool hp3_out_trusted(const struct hp3_turn *t, const struct hp3_spray_out *o)
{
	return is_trusted(t, o);
}

/*
 * One late packet keeps all packets behind it in the peer's resequencer, which has limited room in
 * packets and bytes. PSNs of a READ take no room there. True: all of the room but one `part` is in
 * flight.
 */
static inline __attribute__((always_inline)) bool is_full(const struct hp3_engine *e,
	const struct hp3_flow *f, const struct hp3_spray_out *o, uint32_t part)
{
	int32_t in_flight = hp3_psn_diff(f->stream.nxt, f->stream.una);
	uint32_t room;

	if (in_flight <= (int32_t)LEAST_ROOM)
		return false;
	room = o->room != 0 ? o->room : hp3_spray_room(e->cfg.hold_bytes, f->pmtu_log2);
	return !(f->flags & HP3_FF_READS) && in_flight > (int32_t)(room - room / part);
}

/*
 * All sprayed packets have arrived. Before spraying goes on, the peer must have answered since.
 * Before it ends, a checked reply is needed (rule 26): afterwards, packets in flight are not
 * resequenced.
 */
static bool has_all_arrived(
	const struct hp3_turn *t, const struct hp3_flow *f, const struct hp3_spray_out *o)
{
	return !o->blind && hp3_psn_diff(f->stream.una, o->behind) >= 0 &&
	       (o->state == HP3_SPRAY_ENDING ? (f->watch & HP3_FW_SURE) != 0
					     : o->heard > o->narrowed && is_trusted(t, o) &&
						       !is_full(t->e, f, o, 2));
}

/* Did this PSN leave soon after spraying began, however many packets are in flight? */
static bool is_short_run(const struct hp3_spray_out *o, uint32_t psn)
{
	return o->run_from == HP3_NO_PSN || hp3_psn_diff(psn, o->run_from) < SEND_SHORT_RUN;
}

/*
 * The RNIC goes back: one path for now; for good if paths lose many packets, or differ by more than
 * the longest wait. True: the retransmission takes the port in use.
 */
static bool went_back(struct hp3_turn *t, struct hp3_spray_out *o, uint32_t psn)
{
	o->fence = true;
	hp3_out_again(o, psn);
	hp3_out_lost(t, o, psn);
	hp3_out_await_no_more(t->e, o);
	if (o->run_from != HP3_NO_PSN)
		hp3_out_late(t);
	if (o->state == HP3_SPRAY_SPRAYING || o->run_from != HP3_NO_PSN) {
		o->strikes = is_short_run(o, psn) ? o->strikes + 1 : 0;
		o->run_from = HP3_NO_PSN;
	}
	if (o->strikes == SEND_STRIKES) {
		t->e->stats.sprays_given_up++;
		o->strikes = 0;
		hp3_out_put_off(t, o);
		hp3_out_input(t, o, HP3_SPRAY_IN_STOP);
	}
	hp3_out_input(t, o, HP3_SPRAY_IN_BACK);
	return true;
}

/*
 * The first packet of an agreement from set-up. If there was no YES yet, the ASK is void, because
 * it may arrive behind the packet. The receiver then learns the expected PSN from packets.
 */
static void take_first_request(
	struct hp3_turn *t, struct hp3_spray_out *o, const struct hp3_view *v)
{
	bool agreed = o->state == HP3_SPRAY_SPRAYING, expected = v->psn == o->start;

	o->start = HP3_NO_PSN;
	if (!agreed) {
		o->number = hp3_out_number(t->e->spraying, t->now);
		o->keepalive_at = t->now;
		hp3_out_wake(t->e, o, t->now);
	} else if (!expected) {
		hp3_out_input(t, o, HP3_SPRAY_IN_STOP);
	}
}

/* Can the receiver compute how many PSNs this READ takes? */
static bool is_reported(const struct hp3_spray_out *o, const struct hp3_view *v)
{
	return o->sized || !(v->flags & HP3_VF_READ) || v->dma_len <= 1u << HP3_PMTU_LOG2_MIN;
}

/*
 * A retransmission may be in flight on the port in use, acknowledged or not (rule 7). If a READ
 * arrives behind a SEND that invalidates its key, the queue pair ends. So the first new packet
 * takes that port, too. The RNIC gets it behind them, and all others behind it.
 */
static bool is_fenced(struct hp3_spray_out *o, const struct hp3_verdict *vd)
{
	bool fenced = o->fence;

	if (vd->kind == HP3_PASS)
		o->fence = false;
	return fenced;
}

/* A drain holds the packet, which leaves later on the port in use (hp3_move_drain()). */
static bool is_held_for_spray(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return f->state == HP3_RFR_DRAINING && e->moves[f->slot].search.cause == HP3_CAUSE_SPRAY;
}

/* Applies what the packet shows to the agreement. False: it takes the port in use. */
static __attribute__((noinline)) bool agreement_stands(struct hp3_turn *t, const struct hp3_flow *f,
	struct hp3_spray_out *o, const struct hp3_view *v)
{
	if (o->start != HP3_NO_PSN) {
		take_first_request(t, o, v);
		if (!(f->watch & HP3_FW_SPRAY))
			return false;
	}
	if (!is_reported(o, v) && !hp3_out_input(t, o, HP3_SPRAY_IN_STOP))
		return false;
	if ((f->flags & HP3_FF_WENT_BACK) && went_back(t, o, v->psn))
		return false;
	if (!is_trusted(t, o))
		hp3_out_input(t, o, HP3_SPRAY_IN_SILENT);
	if ((o->state == HP3_SPRAY_NARROW || o->state == HP3_SPRAY_ENDING) &&
		has_all_arrived(t, f, o) && !hp3_out_input(t, o, HP3_SPRAY_IN_CAUGHT_UP))
		return false;
	return true;
}

/* A packet of a queue pair with an agreement, or with an ASK. */
static inline void agreed_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_spray_out *o = hp3_out_of(t->e, flow);

	measure_request(t, o, &pkt->v);
	if (o->large)
		o->large_at = t->now;
	if (HP3_UNLIKELY(o->state != HP3_SPRAY_SPRAYING || o->start != HP3_NO_PSN ||
			 (f->flags & HP3_FF_WENT_BACK) || !is_reported(o, &pkt->v) ||
			 !is_trusted(t, o)) &&
		!agreement_stands(t, f, o, &pkt->v))
		return;
	if (vd->kind == HP3_PASS || is_held_for_spray(t->e, f))
		hp3_port_log_put(&o->log, pkt->v.psn, vd->sport);
	if (o->solicits && vd->kind == HP3_PASS &&
		(pkt->v.flags & (HP3_VF_READ | HP3_VF_ATOMIC)) == 0) {
		vd->flags |= HP3_SET_ACKREQ;
		o->solicits = false;
	}
	if (is_fenced(o, vd) || o->state != HP3_SPRAY_SPRAYING || !o->large ||
		vd->kind != HP3_PASS || f->state > HP3_RFR_CLOSING || !hp3_out_may_spread(t, o))
		return;
	if (is_full(t->e, f, o, 16)) {
		hp3_out_input(t, o, HP3_SPRAY_IN_FULL);
		return;
	}
	if (pkt->v.psn % ASK_EVERY == 0 && (pkt->v.flags & (HP3_VF_READ | HP3_VF_ATOMIC)) == 0)
		vd->flags |= HP3_SET_ACKREQ;
	if (o->run_from == HP3_NO_PSN)
		o->run_from = pkt->v.psn;
	hp3_out_spread(t, o, pkt->v.psn, vd);
}

void hp3_spray_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd)
{
	const struct hp3_engine *e = t->e;
	const struct hp3_flow *f = &e->flows[flow];

	if (f->watch & HP3_FW_SPRAY) {
		agreed_leaves(t, flow, pkt, vd);
	} else if ((pkt->v.flags & HP3_VF_FIRST) && pkt->v.dma_len >= e->cfg.spray.bytes &&
		   !(pkt->v.flags & (HP3_VF_READ | HP3_VF_ATOMIC)) && f->pmtu_log2 != 0 &&
		   hp3_out_may_begin(t, f)) {
		hp3_out_large(t, flow);
	}
}
