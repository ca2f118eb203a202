/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A QPN may be reused without an event. The engine discards a pairing by challenge at these signs:
 *
 * - The flow sends a PSN before those in flight again, or retransmits from a PSN other than the
 *   oldest in flight, or retransmits while other flows are near. The packet may be from the next
 *   queue pair with the same remote QPN and another local QPN (rule 16).
 * - A reply at its local QPN is far from what the flow sent, or beyond it, or answers the challenge
 *   of another flow.
 * - A reply that only this flow can wait for arrives at another local QPN.
 * - The challenges of another flow near it stay unanswered although that flow goes on sending new
 *   packets: its replies may go to a wrongly paired flow.
 *
 * pairing.c detects the first sign, and answers to another flow's challenge.
 */
#include "engine/life/life.h"

void hp3_void(struct hp3_turn *t, uint32_t flow)
{
	hp3_flow_unpair(t, flow);
}

/*
 * The flow with which the next check of the pair's flows begins: the one after the last flow
 * checked.
 */
static uint32_t first_to_look_at(const struct hp3_engine *e, uint32_t pair)
{
	const struct hp3_pair *p = &e->pairs.pairs[pair];
	const struct hp3_flow *f = &e->flows[p->void_hand];

	return p->void_hand != HP3_NO_FLOW && (f->flags & HP3_FF_USED) && f->pair == pair
		       ? p->void_hand
		       : p->flows;
}

static bool may_claim(struct hp3_turn *t, uint32_t i, uint32_t flow)
{
	const struct hp3_flow *g = &t->e->flows[i];

	return i != flow && g->pairing == HP3_PAIRING_CHALLENGE &&
	       !hp3_is_silent(t->e, g, t->now) && hp3_is_near(g, t->e->flows[flow].stream.nxt);
}

void hp3_void_near(struct hp3_turn *t, uint32_t flow)
{
	const uint32_t pair = t->e->flows[flow].pair;
	uint32_t i = first_to_look_at(t->e, pair), n = 0;

	if (t->e->strays_until > t->now + HP3_STRAYS_NS)
		return;
	while (i != HP3_NO_FLOW && n < HP3_NEAR_FLOWS && !may_claim(t, i, flow)) {
		i = t->e->flows[i].next;
		n++;
	}
	t->e->strays_until =
		hp3_max_u64(t->e->strays_until, t->now) + (uint64_t)n * HP3_FLOW_CHECK_NS;
	t->e->pairs.pairs[pair].void_hand = i == HP3_NO_FLOW ? i : t->e->flows[i].next;
	if (i == HP3_NO_FLOW || n == HP3_NEAR_FLOWS)
		return;
	t->e->stats.contradictions++;
	hp3_void(t, i);
}

/* The flow that is paired with another local QPN and waits for this reply; HP3_NO_FLOW. */
static uint32_t who_waits(struct hp3_turn *t, uint32_t pair, const struct hp3_view *v)
{
	uint32_t i = hp3_near_latest(t->e, pair, v->psn, t->now);
	const struct hp3_flow *f = &t->e->flows[i];

	return i != HP3_NO_FLOW && f->pairing == HP3_PAIRING_CHALLENGE && f->lqpn != v->dest_qpn &&
			       hp3_psn_diff(v->psn, f->stream.una) >= 0 &&
			       hp3_psn_diff(v->psn, hp3_stream_end(&f->stream)) < 0
		       ? i
		       : HP3_NO_FLOW;
}

/* Each reply shows a wrong pairing again, so this waits until flows/near.h is complete. */
void hp3_void_elsewhere(struct hp3_turn *t, uint32_t pair, const struct hp3_pkt *pkt)
{
	uint32_t flow;

	hp3_near_keep(t->e, t->now);
	if (!hp3_near_is_whole(t->e, t->now))
		return;
	flow = who_waits(t, pair, &pkt->v);
	if (flow == HP3_NO_FLOW || hp3_others_near(t->e, flow, pkt->v.psn, t->now) ||
		!hp3_pkt_icrc_ok(t->e, pkt))
		return;
	t->e->stats.contradictions++;
	hp3_void(t, flow);
}
