/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pair numbers return, and nobody may tell. A pairing by challenge ends when its flow goes
 * back behind what was acknowledged, or goes back at all while others are near (rule 16: it may be
 * the next queue pair of that number, with another local one); when a reply at its local QPN lies
 * far from or beyond what it sent, or answers the challenge of another flow; when a reply that only
 * it can wait for comes elsewhere; and when the challenges of a flow near it stay unanswered
 * although that flow goes on: somebody claims its answers.
 */
#include "engine/internal.h"

static void void_pairing(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	e->stats.contradictions++;
#ifndef HP3_BREAK_CLAIMS_STAY
	hp3_flow_unpair(e, flow, now, acts);
#endif
}

void hp3_void_near(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[flow];
	uint32_t n = 0;

	for (uint32_t i = e->pairs.pairs[f->pair].flows; i != HP3_NO_FLOW && n < HP3_NEAR_FLOWS;
		i = e->flows[i].next, n++) {
		const struct hp3_flow *g = &e->flows[i];

		if (g->pairing == HP3_PAIRING_CHALLENGE && !hp3_is_silent(e, g, now) &&
			hp3_is_near(g, f->stream.nxt)) {
			void_pairing(e, i, now, acts);
			return;
		}
	}
}

void hp3_void_elsewhere(struct hp3_engine *e, const struct hp3_pair *p, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts)
{
	uint32_t psn = pkt->v.psn, n = 0;

	for (uint32_t i = p->flows; i != HP3_NO_FLOW && n < HP3_NEAR_FLOWS; i = e->flows[i].next) {
		const struct hp3_flow *f = &e->flows[i];

		n++;
		if (f->pairing != HP3_PAIRING_CHALLENGE || f->lqpn == pkt->v.dest_qpn ||
			hp3_psn_diff(psn, f->stream.una) < 0 ||
			hp3_psn_diff(psn, hp3_stream_end(&f->stream)) >= 0)
			continue;
		if (!hp3_others_near(e, i, psn, now) && hp3_pkt_icrc_ok(e, pkt))
			void_pairing(e, i, now, acts);
		return;
	}
}

/*
 * A flow is answered with an older PSN than the latest only again, and not from far away; ACKs are
 * not at all, so one that answers another flow's challenge is that flow's.
 */
static bool is_anothers(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[flow];
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	if (p->nflows == 1 || now < p->untracked_until || !(f->flags & HP3_FF_STARTED))
		return false;
	if (!hp3_is_near(f, v->psn) || hp3_asked_naturally(e, p, v, now) != HP3_NO_FLOW)
		return true;
	return f->pairing == HP3_PAIRING_CHALLENGE && p->ch_flow != flow &&
	       hp3_is_forced_answer(p, v) && hp3_psn_diff(v->psn, f->stream.una) < -1;
}

void hp3_challenge_claimed(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts)
{
	if (!e->cfg.pair_by_challenge)
		return;
	if (e->flows[flow].flags & HP3_FF_PAIRED) {
		if (!is_anothers(e, flow, &pkt->v, now) || !hp3_pkt_icrc_ok(e, pkt))
			return;
		void_pairing(e, flow, now, acts);
	}
	hp3_challenge_rx(e, pkt, now, acts);
}

/*
 * What was acknowledged is sent again only if the RNIC missed the acknowledgement. A queue pair
 * that begins anew at its old first PSN does the same, and its replies may come elsewhere. Where
 * flows are near, those of one look like those of another, so there all going back is suspect, but
 * for that which a failover waits for.
 */
void hp3_challenge_went_back(struct hp3_engine *e, uint32_t flow, uint32_t psn, bool first,
	uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	bool behind = hp3_psn_diff(psn, f->stream.una) < 0;
	bool paired = f->flags & HP3_FF_PAIRED;

#ifdef HP3_BREAK_CLAIMS_STAY
	return;
#endif
	f->flags &= (uint16_t) ~(HP3_FF_NATURAL | HP3_FF_NATURAL_RD);
	if (e->pairs.pairs[f->pair].ch_flow == flow) /* asked in the life before, perhaps */
		hp3_challenge_stop(&e->pairs.pairs[f->pair]);
	if (f->state == HP3_RFR_RESUMING ||
		(!behind && !((first || !paired) && hp3_others_near(e, flow, psn, now))))
		return;
	e->stats.contradictions += paired;
	hp3_flow_unpair(e, flow, now, acts); /* not paired: what was found so far counts no more */
	if (!behind)
		return;
	f->stream.una = psn; /* what was acknowledged is of another life, perhaps */
	if (((f->stream.nxt - psn) & HP3_PSN_MASK) > f->stream.win)
		hp3_stream_widen(&f->stream);
}
