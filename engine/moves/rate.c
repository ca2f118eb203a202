/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion control of a flow. With cc = dcqcn, the engine is the reaction point. Its pacer sends
 * packets from the FIFO that also has the packets held by a move (rule 14). With cc = native, the
 * RNIC keeps its rate after a move, because no interface sets the rate of a single queue pair of an
 * RNIC (cc/shield.h).
 */
#include "engine/moves/moves.h"
#include "engine/part.h"

uint64_t hp3_rate_line(const struct hp3_engine *e)
{
	return e->cfg.cc.rp.rpg_max_rate * 1000000ull;
}

void hp3_rate_init(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_engine *e = t->e;
	struct hp3_flow *f = &e->flows[flow];
	bool waits = f->slot != HP3_NO_SLOT && e->moves[f->slot].held_pkts != 0;

	if (!waits)
		f->flags &= (uint16_t)~HP3_FF_PACED; /* else later packets wait behind these */
	if (e->rates == NULL)
		return;
	if (!waits)
		e->rates[flow].floor = 0;
	e->rates[flow].again = e->rates[flow].selective = false;
	hp3_dcqcn_init(&e->rates[flow].rp, &e->cfg.cc.rp);
	hp3_pacer_init(&e->rates[flow].pacer, hp3_rate_line(e), t->now);
}

uint64_t hp3_rate_now(const struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_dcqcn rp;

	if (e->rates == NULL)
		return 0;
	rp = e->rates[flow].rp;
	hp3_dcqcn_advance(&rp, &e->cfg.cc.rp, now);
	return hp3_dcqcn_rate(&rp);
}

/*
 * Verbs mode has nothing to hold, and so nothing to pace; nor has hp3d before it stops. While the
 * flow was not paced, its retransmissions were not recorded.
 */
static void note_rate(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_flow *f = &e->flows[flow];

	if (!(f->flags & HP3_FF_PACED))
		e->rates[flow].again = false;
	if (!e->cfg.verbs && !e->pacing_ended &&
		hp3_dcqcn_rate(&e->rates[flow].rp) < hp3_rate_line(e))
		f->flags |= HP3_FF_PACED;
}

void hp3_rate_marked(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	if (e->rates == NULL)
		return;
	if (!(e->flows[flow].flags & HP3_FF_PACED))
		hp3_pacer_init(&e->rates[flow].pacer, hp3_rate_line(e), now);
	hp3_dcqcn_cnp(&e->rates[flow].rp, &e->cfg.cc.rp, now);
	note_rate(e, flow);
}

void hp3_rate_suspend(struct hp3_turn *t, uint32_t flow)
{
	if (t->e->rates != NULL)
		hp3_dcqcn_take(&t->e->moves[t->e->flows[flow].slot].rate, &t->e->rates[flow].rp,
			&t->e->cfg.cc.rp, t->now);
}

void hp3_rate_rollback(struct hp3_turn *t, uint32_t flow)
{
	if (t->e->rates == NULL)
		return;
	hp3_dcqcn_rollback(
		&t->e->rates[flow].rp, &t->e->moves[t->e->flows[flow].slot].rate, t->now);
	note_rate(t->e, flow);
}

void hp3_rate_raise(struct hp3_turn *t, uint32_t flow)
{
	if (t->e->rates == NULL)
		return;
	t->e->rates[flow].again = false; /* nor while it was held */
	hp3_dcqcn_raise(&t->e->rates[flow].rp, &t->e->cfg.cc.rp,
		&t->e->moves[t->e->flows[flow].slot].rate, t->now);
	note_rate(t->e, flow);
}

/*
 * The lower bound stays until nothing waits: if it fell with the queue, the last packets would wait
 * ever longer.
 */
void hp3_rate_set(struct hp3_turn *t, uint32_t flow, uint64_t queued)
{
	struct hp3_rate *r = &t->e->rates[flow];
	uint64_t owed = hp3_pacer_owed(&r->pacer, t->e->cfg.cc.burst_bytes, t->now);
	uint64_t rate, floor = hp3_pacer_floor(queued + owed, t->e->cfg.cc.rto_ns);

	r->floor = hp3_max_u64(floor, r->floor);
	hp3_dcqcn_advance(&r->rp, &t->e->cfg.cc.rp, t->now);
	rate = hp3_max_u64(hp3_dcqcn_rate(&r->rp), r->floor);
	hp3_pacer_set_rate(&r->pacer, hp3_min_u64(rate, hp3_rate_line(t->e)), t->now);
}

void hp3_rate_sent(struct hp3_turn *t, uint32_t flow, const struct hp3_held *h)
{
	const uint8_t timed = HP3_HELD_AGAIN | HP3_HELD_ASKS | HP3_HELD_READ;
	struct hp3_flow *f = &t->e->flows[flow];

	hp3_pacer_sent(&t->e->rates[flow].pacer, h->len, t->now);
	hp3_dcqcn_sent(&t->e->rates[flow].rp, &t->e->cfg.cc.rp, h->len, t->now);
	if (is_watched(t->e, f) && !(h->flags & HP3_HELD_AGAIN))
		hp3_monitor_sent(&f->monitor, h->psn,
			(h->flags & timed) == HP3_HELD_ASKS && !(f->flags & HP3_FF_READS), t->now);
}

static bool held_back(enum hp3_rfr_state s)
{
	return s == HP3_RFR_DRAINING || s == HP3_RFR_PROBING || s == HP3_RFR_RESUMING;
}

void hp3_rate_schedule(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_move *m = hp3_slot_take(t->e, flow, HP3_USE_PACE);
	uint64_t at = UINT64_MAX;

	hp3_rate_set(t, flow, m->held_bytes);
	if (!held_back(t->e->flows[flow].state))
		at = hp3_pacer_when(&t->e->rates[flow].pacer, t->e->cfg.cc.burst_bytes, t->now);
	hp3_slot_timer(t->e, m, &m->pace_at, at);
}

static bool has_rates(const struct hp3_engine_config *cfg)
{
	return cfg->cc.mode == HP3_CC_DCQCN;
}

static void take_rates(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->rates, e->cfg.max_flows);
}

const struct hp3_part hp3_rates_part = {.is_on = has_rates, .take = take_rates};
