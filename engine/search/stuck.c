/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles a moved flow whose RNIC retransmits from the same PSN again and again, for stall_us or
 * longer. If probes cannot help, because the peer has no hp3d or nothing has arrived from it, the
 * flow returns to its home port (rule 33). The RNIC retransmits without a NAK from hp3d, so hp3d
 * sends none.
 */
#include "engine/search/search.h"

/* Did the RNIC go back to the same PSN as before, and was that long ago? */
static bool has_stayed_stuck(
	const struct hp3_engine *e, const struct hp3_flow *f, struct hp3_losses *l, uint64_t now)
{
	if (!l->stuck || l->una != (f->stream.una & HP3_PSN_MASK)) {
		l->una = f->stream.una & HP3_PSN_MASK;
		l->stuck = 1;
		l->stuck_at = now;
		return false;
	}
	return e->cfg.stall_ns != 0 && now - l->stuck_at >= e->cfg.stall_ns;
}

static bool may_go_home(struct hp3_turn *t, const struct hp3_flow *f)
{
	struct hp3_engine *e = t->e;

	if (hp3_peer_is_asked(t, f->pair) && (f->watch & HP3_FW_HEARD))
		return false; /* probes find the cause */
	return f->state == HP3_RFR_STEADY && (f->flags & HP3_FF_MOVED) && e->cfg.probing &&
	       e->cfg.moves_allowed && !e->cfg.observe && !e->cfg.verbs &&
	       hp3_flow_may_leave(e, f, t->now) &&
	       (f->slot == HP3_NO_SLOT || e->moves[f->slot].backlog == 0) &&
	       !hp3_path_has_failed(e, f, f->home, t->now);
}

bool hp3_stuck_goes_home(struct hp3_turn *t, uint32_t flow, struct hp3_losses *l)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m;

	if (!has_stayed_stuck(t->e, f, l, t->now) || !may_go_home(t, f))
		return false;
	m = hp3_search_prepare(t, flow, HP3_SEARCH_DEAD);
	if (m == NULL)
		return false;
	m->search.cause = HP3_CAUSE_LOSS;
	m->search.dead.una = f->stream.una;
	m->search.dead.since = l->stuck_at;
	hp3_swallowed(t, flow, m->from);
	f->watch |= HP3_FW_NAKED; /* the RNIC has gone back by itself */
	hp3_failover(t, flow, f->home);
	return true;
}
