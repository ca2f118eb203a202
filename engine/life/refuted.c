/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If a pairing is wrong, each reply to the queue pair that has the local QPN now contradicts it.
 * But anyone who knows the addresses and a QPN can forge such replies. A forged reply must not
 * unpair a flow that has to move. The flow's own progress shows the difference: una of a wrongly
 * paired flow does not advance, unless other flows get replies near its PSNs. So:
 *
 * - A few contradictions over some time, without progress of the flow in between, refute any
 *   pairing. If an event or connection management made it, that time is long enough to find and
 *   leave a dead path.
 * - If other flows are near, a single contradiction refutes a pairing by challenge. The progress
 *   may be that of the other flows, and an unpaired flow is better than a wrongly paired one.
 * - If other flows are near, many contradictions refute a pairing by connection management or an
 *   event, unless they are few compared with the progress. If the flow waits for no reply, nothing
 *   refutes its pairing, because no decision depends on it then.
 */
#include "engine/life/life.h"

#define STUCK          3u /* contradictions without progress */
#define STUCK_NS       1000000u
#define MANY           64u
#define MANY_PSNS      (MANY * 64u) /* most progress during so many */
#define MANY_WITHIN_NS 1000000000u

static bool is_stuck_for(struct hp3_refutation *r, uint32_t una, uint32_t now, uint64_t least_ns)
{
	if (r->stuck == 0 || r->una != una) {
		r->una = una;
		r->since = now;
		r->stuck = 0;
	}
	if (r->stuck < STUCK)
		r->stuck++;
	return r->stuck == STUCK && now - r->since >= least_ns >> HP3_REFUTATION_SHIFT;
}

static bool are_many(struct hp3_refutation *r, uint32_t una, uint32_t now)
{
	bool few;

	if (r->all == 0 || now - r->first > MANY_WITHIN_NS >> HP3_REFUTATION_SHIFT) {
		r->first_una = una;
		r->first = now;
		r->all = 0;
	}
	if (++r->all < MANY)
		return false;
	few = ((una - r->first_una) & HP3_PSN_MASK) > MANY_PSNS;
	r->all = 0;
	return !few;
}

/* Without time for the check, a pairing by an event counts as right, one by challenge as wrong. */
static bool may_be_near(struct hp3_turn *t, uint32_t flow, bool reported)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	uint32_t n = hp3_min_u32(t->e->pairs.pairs[f->pair].nflows, HP3_NEAR_FLOWS);

	hp3_near_keep(t->e, t->now);
	if (hp3_near_is_whole(t->e, t->now))
		return hp3_others_near(t->e, flow, f->stream.nxt, t->now);
	if (t->e->strays_until > t->now + HP3_STRAYS_NS)
		return !reported;
	t->e->strays_until =
		hp3_max_u64(t->e->strays_until, t->now) + (uint64_t)n * HP3_FLOW_CHECK_NS;
	return hp3_others_near(t->e, flow, f->stream.nxt, t->now);
}

bool hp3_is_refuted(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_refutation *r = &t->e->unauth_state[flow].refutation;
	uint32_t now = (uint32_t)(t->now >> HP3_REFUTATION_SHIFT);
	bool reported = f->pairing > HP3_PAIRING_CHALLENGE, stuck;

	t->e->stats.contradictions++;
	if (reported && hp3_stream_idle(&f->stream))
		return false;
	if (!reported && may_be_near(t, flow, reported))
		return true;
	stuck = is_stuck_for(r, f->stream.una, now, reported ? t->e->cfg.refute_ns : STUCK_NS);
	return stuck ||
	       (reported && are_many(r, f->stream.una, now) && may_be_near(t, flow, reported));
}
