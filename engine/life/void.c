/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pair numbers return, and nobody may tell. A pairing by challenge ends when its flow goes
 * back behind what was acknowledged, or goes back at all while others are near (rule 16: it may be
 * the next queue pair of that number, with another local one); when a reply at its local QPN lies
 * far from or beyond what it sent, or answers the challenge of another flow; when a reply that only
 * it can wait for comes elsewhere; and when the challenges of a flow near it stay unanswered
 * although that flow goes on: somebody claims its answers. Who goes back, and who answers for
 * another flow, is seen in pairing.c.
 */
#include "engine/life/life.h"

void hp3_void(struct hp3_turn *t, uint32_t flow)
{
#ifndef HP3_BREAK_CLAIMS_STAY
	hp3_flow_unpair(t, flow);
#endif
}

void hp3_void_near(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	uint32_t n = 0;

	for (uint32_t i = t->e->pairs.pairs[f->pair].flows; i != HP3_NO_FLOW && n < HP3_NEAR_FLOWS;
		i = t->e->flows[i].next, n++) {
		const struct hp3_flow *g = &t->e->flows[i];

		if (g->pairing == HP3_PAIRING_CHALLENGE && !hp3_is_silent(t->e, g, t->now) &&
			hp3_is_near(g, f->stream.nxt)) {
			t->e->stats.contradictions++;
			hp3_void(t, i);
			return;
		}
	}
}

/* The flow that is believed elsewhere and waits for this reply, if any. */
static uint32_t who_waits(struct hp3_turn *t, const struct hp3_pair *p, const struct hp3_view *v)
{
	uint32_t n = 0, found = HP3_NO_FLOW;

	for (uint32_t i = p->flows; i != HP3_NO_FLOW && n < HP3_NEAR_FLOWS && found == HP3_NO_FLOW;
		i = t->e->flows[i].next, n++) {
		const struct hp3_flow *f = &t->e->flows[i];

		if (f->pairing == HP3_PAIRING_CHALLENGE && f->lqpn != v->dest_qpn &&
			hp3_psn_diff(v->psn, f->stream.una) >= 0 &&
			hp3_psn_diff(v->psn, hp3_stream_end(&f->stream)) < 0)
			found = i;
	}
	t->e->strays_until = hp3_max_u64(t->e->strays_until, t->now) + (uint64_t)n * HP3_LOOK_NS;
	return found;
}

/*
 * Who is wrongly paired shows with each reply, so it is enough to look at some of them: strangers
 * may send more than there is time for.
 */
void hp3_void_elsewhere(struct hp3_turn *t, const struct hp3_pair *p, const struct hp3_pkt *pkt)
{
	uint32_t flow;

	if (t->e->strays_until > t->now + HP3_STRAYS_NS)
		return;
	flow = who_waits(t, p, &pkt->v);
	if (flow == HP3_NO_FLOW || hp3_others_near(t->e, flow, pkt->v.psn, t->now) ||
		!hp3_pkt_icrc_ok(t->e, pkt))
		return;
	t->e->stats.contradictions++;
	hp3_void(t, flow);
}
