/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helps long flows to reach their share (cc/share.h): raises their rate.
 */
#include "engine/moves/moves.h"

#define BASE_RISES_LOG2 30u /* the base round trip rises by 1/64 in 2^30 ns: routes change */

/* Shortest RTT of the pair: that of one flow may contain a standing queue. */
static uint32_t base_of(struct hp3_pair *p, uint32_t rtt, uint64_t now)
{
	if (p->least_rtt != 0 && (now - p->rtt_at) >> BASE_RISES_LOG2 != 0) {
		p->least_rtt += p->least_rtt / 64 + 1;
		p->rtt_at = now;
	}
	if (rtt != 0 && (p->least_rtt == 0 || rtt < p->least_rtt)) {
		p->least_rtt = rtt;
		p->rtt_at = now;
	}
	return p->least_rtt;
}

/*
 * 0 if more long flows reach the receiver than leave this host: no path avoids the queue at the
 * receiver's link.
 */
static uint64_t share_of(const struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	uint32_t n = hp3_longs_on_link(e, flow, now);

	return n > hp3_max_u32(e->long_out, 1) ? 0 : hp3_share_of(hp3_rate_line(e), n);
}

/* From the closing packet on, the move sets the rate when it ends. */
static bool is_closing(const struct hp3_engine *e, const struct hp3_flow *f)
{
	const struct hp3_move *m = f->slot == HP3_NO_SLOT ? NULL : &e->moves[f->slot];

	return m != NULL && (m->use & HP3_USE_MOVE) && m->t_close != 0;
}

static void lift_rate(struct hp3_turn *t, uint32_t flow, uint64_t share, uint32_t base)
{
	struct hp3_engine *e = t->e;
	const struct hp3_flow *f = &e->flows[flow];
	uint64_t to;

	if (is_closing(e, f))
		return;
	to = hp3_share_lift(&e->longs[flow].share, &e->cfg.cc.share, share,
		hp3_rate_now(e, flow, t->now), base);
	if (to == 0)
		return;
	hp3_dcqcn_lift(&e->rates[flow].rp, &e->cfg.cc.rp, to, t->now);
	e->stats.share_lifts++;
	if (f->slot != HP3_NO_SLOT && e->moves[f->slot].held_pkts != 0)
		hp3_rate_schedule(t, flow);
}

void hp3_share_reply(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	struct hp3_engine *e = t->e;
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_long *l = &e->longs[flow];
	const struct hp3_share_params *p = &e->cfg.cc.share;
	uint32_t rtt, base;
	uint64_t share;

	if (!l->out && !l->in)
		return;
	hp3_long_progress(e, flow);
	if (!l->out || !is_watched(e, f))
		return;
	rtt = hp3_monitor_times(&f->monitor, v->psn, t->now);
	base = base_of(&e->pairs.pairs[f->pair], rtt, t->now);
	if (rtt != 0)
		hp3_share_timed(&l->share, p, rtt, base);
	if (hp3_share_acked(&l->share, p, base, t->now))
		e->stats.share_losses++;
	hp3_longs_refresh(e, f->pair, t->now);
	share = share_of(e, flow, t->now);
	e->stats.share_unknown += hp3_longs_on_link(e, flow, t->now) == 0;
	if (e->rates != NULL && (f->flags & HP3_FF_PACED))
		lift_rate(t, flow, share, base);
}

void hp3_share_mark(struct hp3_engine *e, uint32_t flow)
{
	if (e->longs != NULL && e->longs[flow].out)
		hp3_share_marked(&e->longs[flow].share);
}
