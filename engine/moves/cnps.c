/* SPDX-License-Identifier: BSD-3-Clause */
/* Withholds CNPs of a flow while it searches or moves (rule 30). */
#include "engine/moves/moves.h"

static bool may_withhold(const struct hp3_engine *e)
{
	return e->cfg.cc.mode == HP3_CC_NATIVE && e->cfg.cc.withhold_percent != 0;
}

void hp3_cnps_wait(struct hp3_engine *e, struct hp3_move *m, uint64_t until)
{
	if (!may_withhold(e) || e->cfg.observe || e->cfg.verbs)
		return;
	m->withheld.until = until;
	hp3_slot_timer(e, m, &m->cnp_at, until);
}

void hp3_cnps_wait_for_round(struct hp3_turn *t, struct hp3_move *m)
{
	uint64_t base = t->e->flows[m->flow].monitor.base;

	hp3_cnps_wait(t->e, m, t->now + base * t->e->cfg.cc.withhold_percent / 100);
}

void hp3_cnps_end(struct hp3_turn *t, struct hp3_move *m, bool left)
{
	hp3_slot_timer(t->e, m, &m->cnp_at, UINT64_MAX);
	if (!hp3_withheld_end(&m->withheld, left))
		return;
	hp3_act(t, HP3_ACT_CNP_OWED, m->flow)->pkey = m->withheld.pkey;
	t->e->stats.cnps_owed++;
}
