/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3d's duplicate requests (probes of kind STANDARD, ACK solicitations) make the peer's RNIC
 * repeat its acknowledgement. The engine forwards this ACK, because the local RNIC may need it
 * (rule 24). Two kinds of ACKs must not reach the RNIC (rule 25):
 * - A late ACK with the PSN of a READ or ATOMIC that left since. The local RNIC would take the ACK
 *   for the data of that request. Without hp3d, a responder sends such an ACK only if an RNIC
 *   retransmits WRITEs before the READ. Otherwise, the responder sends the data first.
 * - A late ACK with an earlier PSN, between the responses to such a READ. Some RNICs (Soft-RoCE)
 *   then end the queue pair: they expect the next response.
 *
 * So while a duplicate may be in flight, the flow's slot has a *guard*: a record of the PSNs of
 * READs and ATOMICs that leave, for the first time or again. The engine drops an ACK with one of
 * these PSNs. It does so even if the last data of a READ arrived, because earlier data may be
 * missing at the RNIC. Once a response has arrived, the engine also drops ACKs with earlier PSNs:
 * the response has acknowledged these.
 */
#include "engine/moves/moves.h"

#define WINDOWS 2u /* probe time-outs within which an answer may arrive */

/* Removes answered READs. They stay while there is room, because their data may be incomplete. */
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

/* If there is no room, removes the first READ: it will be answered first. */
static void forget_first(struct hp3_guard *g)
{
	g->n--;
	memmove(g->psn, g->psn + 1, g->n * sizeof(g->psn[0]));
	memmove(g->end, g->end + 1, g->n * sizeof(g->end[0]));
}

static void add_guarded(struct hp3_guard *g, uint32_t una, uint32_t psn, uint32_t end)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (hp3_psn_diff(psn, g->psn[i]) >= 0 && hp3_psn_diff(end, g->end[i]) <= 0)
			return; /* sent again */
	}
	if (g->n == HP3_GUARD_READS)
		forget_answered(g, una);
	if (g->n == HP3_GUARD_READS)
		forget_first(g);
	g->psn[g->n] = psn;
	g->end[g->n++] = end;
}

/* Adds READs that are held during a drain: they will leave after the duplicate. */
static void add_held(const struct hp3_engine *e, struct hp3_move *m)
{
	uint32_t una = e->flows[m->flow].stream.una;

	for (uint32_t i = m->head; i != 0; i = e->held[i].next) {
		if (e->held[i].flags & HP3_HELD_READ)
			add_guarded(&m->guard, una, e->held[i].psn, e->held[i].end);
	}
}

void hp3_guard_begin(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_move *m = hp3_slot_take(t->e, flow, HP3_USE_GUARD);

	if (!(t->e->flows[flow].watch & HP3_FW_GUARD)) {
		m->guard.n = 0;
		add_held(t->e, m);
	}
	t->e->flows[flow].watch |= HP3_FW_GUARD;
	hp3_slot_timer(
		t->e, m, &m->guard_at, t->now + (uint64_t)WINDOWS * t->e->cfg.round.timeout_ns);
}

void hp3_guard_end(struct hp3_engine *e, struct hp3_move *m)
{
	e->flows[m->flow].watch &= (uint16_t)~HP3_FW_GUARD;
	hp3_slot_drop(e, m->flow, HP3_USE_GUARD);
}

/* If the PMTU is not known, a READ's span is a guess: it ends before the next SEND or WRITE. */
static void cut_guarded(struct hp3_guard *g, uint32_t psn)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (hp3_psn_diff(psn, g->psn[i]) > 0 && hp3_psn_diff(psn, g->end[i]) < 0)
			g->end[i] = psn;
	}
}

void hp3_guard_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint32_t end)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_guard *g = &e->moves[f->slot].guard;

	if (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC))
		add_guarded(g, f->stream.una, v->psn, end);
	else
		cut_guarded(g, v->psn);
}

bool hp3_guard_stops(const struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_view *v,
	uint64_t now)
{
	const struct hp3_move *m = &e->moves[f->slot];
	const struct hp3_guard *g = &m->guard;

	if (now >= m->guard_at || !(v->flags & HP3_VF_AETH) ||
		(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)) ||
		HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK)
		return false;
	for (uint32_t i = 0; i < g->n; i++) {
		bool answered = hp3_psn_diff(f->stream.una, g->psn[i]) > 0 &&
				hp3_psn_diff(v->psn, f->stream.una) < 0;

		if (hp3_psn_diff(v->psn, g->end[i]) < 0 &&
			(answered || hp3_psn_diff(v->psn, g->psn[i]) >= 0))
			return true;
	}
	return false;
}
