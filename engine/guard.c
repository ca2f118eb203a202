/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplicates of ours (probes of kind STANDARD, urges) make an RNIC acknowledge once more how far it
 * is. The engine forwards that: it is true, and the local RNIC may not know it yet (rule 24). One
 * answer is not true: late, with the PSN of a READ or ATOMIC that was emitted since. It says that
 * the request was executed, and an RNIC takes it for the data (rule 25). No responder sends such an
 * ACK by itself, for data come first. So for as long as a duplicate may be on its way, the spans of
 * READs and ATOMICs that leave are remembered, and an ACK within one whose data have not come ends
 * here.
 */
#include "engine/internal.h"

#define WINDOWS 2u /* of a probe's time-out: how long an answer may take */

void hp3_guard_begin(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_move *m = hp3_slot_take(e, flow, HP3_USE_GUARD);

	if (!(e->flows[flow].watch & HP3_FW_GUARD))
		m->guard.n = 0;
	e->flows[flow].watch |= HP3_FW_GUARD;
	hp3_slot_timer(e, m, &m->guard_at, now + (uint64_t)WINDOWS * e->cfg.round.timeout_ns);
}

void hp3_guard_end(struct hp3_engine *e, struct hp3_move *m)
{
	e->flows[m->flow].watch &= (uint16_t)~HP3_FW_GUARD;
	hp3_slot_drop(e, m->flow, HP3_USE_GUARD);
}

/* Those whose data have come make room. */
static void forget_answered(struct hp3_guard *g, uint32_t una)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		if (hp3_psn_diff(una, g->end[i]) >= 0)
			continue;
		g->psn[n] = g->psn[i];
		g->end[n++] = g->end[i];
	}
	g->n = (uint8_t)n;
}

void hp3_guard_read(struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_stream *s = &e->flows[flow].stream;
	struct hp3_guard *g = &e->moves[e->flows[flow].slot].guard;

	forget_answered(g, s->una);
	if (g->n == HP3_GUARD_READS) /* what lies between the last two counts as well */
		g->n--;
	else
		g->psn[g->n] = s->hi;
	g->end[g->n++] = hp3_stream_end(s);
}

bool hp3_guard_stops(const struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_view *v)
{
	const struct hp3_guard *g = &e->moves[f->slot].guard;

	if (!(v->flags & HP3_VF_AETH) || (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)) ||
		HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK)
		return false;
#ifdef HP3_BREAK_CONSUME_PROGRESS
	if (g->n != 0)
		return true;
#endif
	for (uint32_t i = 0; i < g->n; i++) {
		if (hp3_psn_diff(v->psn, g->psn[i]) >= 0 && hp3_psn_diff(v->psn, g->end[i]) < 0 &&
			hp3_psn_diff(f->stream.una, g->end[i]) < 0)
			return true;
	}
	return false;
}
