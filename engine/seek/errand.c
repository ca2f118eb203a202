/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an errand does next (moves/errand.h): when a probe is answered, and when its time has come.
 * While it waits to ask again answers are noted, and decide nothing.
 */
#include "engine/seek/seek.h"

static void step(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	hp3_round_tick(&m->errand.round, &e->cfg.round, now);
	switch ((enum hp3_errand_kind)m->errand.kind) {
	case HP3_ERRAND_CONGESTED:
		hp3_congested_step(e, m, now, acts);
		break;
	case HP3_ERRAND_BEHIND_DRAIN:
		hp3_drained_step(e, m, now, acts);
		break;
	case HP3_ERRAND_SETUP:
		hp3_setup_step(e, m, now, acts);
		break;
	case HP3_ERRAND_MESSAGE_START:
		hp3_wake_step(e, m, now, acts);
		break;
	case HP3_ERRAND_DEAD:
		hp3_seek_dead_step(e, m, now, acts);
		break;
	case HP3_ERRAND_OPERATOR: /* never asks */
	case HP3_ERRAND_KIND_MAX:
		break;
	}
}

/* What is held behind a drain, or before a message, is held no longer than that, whatever is in the
 * air. */
static bool is_held_too_long(const struct hp3_engine *e, const struct hp3_move *m, uint64_t now)
{
	return e->flows[m->flow].state == HP3_RFR_PROBING && now >= m->t_close + e->cfg.max_hold_ns;
}

void hp3_errand_timeout(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	if (is_held_too_long(e, m, now))
		hp3_errand_input(e, m, HP3_ERRAND_IN_HELD, now, acts);
	else
		step(e, m, now, acts);
}

void hp3_errand_answer(struct hp3_engine *e, struct hp3_move *m, uint32_t id, bool ce, uint64_t now,
	struct hp3_acts *acts)
{
	hp3_round_reply(&m->errand.round, &e->cfg.round, id, ce, now);
	hp3_errand_timeout(e, m, now, acts);
}
