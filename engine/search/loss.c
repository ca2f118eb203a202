/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the path in use lossy? A path that loses one packet of a hundred answers probes like any other
 * path, marks no packet, and flows on it do not stall. But the RNIC retransmits again and again. A
 * leaky bucket counts these losses: each loss adds one, and each first transmission drains the
 * tolerated share. If the bucket fills up, with losses in several cycles, the path is lossy. The
 * path table stores that, and the flow searches for another path, which need not be faster, only
 * not much slower.
 *
 * A loss: the RNIC begins to retransmit from a SEND or WRITE, and no RNR NAK is the reason. So the
 * RNIC got a NAK for a gap, or its timer expired. A repeated READ request is no loss on this path:
 * the READ's data took the other direction.
 *
 * The move is an ordinary move: hp3d holds no packet until a first transmission closes the old
 * path. A loss after that ends the move (rule 7). So a move takes several tries, until no packet is
 * lost for one RTT. Each try begins with the first new packet after the retransmissions.
 *
 * If every path loses packets, moves do not help, and may put more flows on one path. So a move
 * because of losses is a trial while the old path is lossy in the path table. If two new paths lose
 * about as often, the flow goes home, and waits before the next search, twice as long each time.
 */
#include "engine/flows/losses.h"
#include "engine/search/search.h"

#define CYCLES        4u /* with losses: a single burst does not make a path lossy */
#define FREE_SEARCHES 1u /* searches with a short wait */
#define TRIALS        2u /* failed trials until the flow goes home */
#define ALIKE         2u /* a trial fails if it loses more than 1 / ALIKE of what home lost */
#define HARDLY        10u /* bits by which that wait is shorter than paths.lossy_ns */
#define WAIT_LEVELS   6u /* doublings */
/* after this many such waits (at least paths.lossy_ns each) without a search, the count restarts */
#define LOSS_CALM 8u

static bool is_loss(
	const struct hp3_flow *f, const struct hp3_losses *l, const struct hp3_view *v, bool first)
{
	if (f->state == HP3_RFR_RESUMING || (f->flags & HP3_FF_RNR) ||
		(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)))
		return false;
	return first || (l != NULL && hp3_psn_diff(v->psn, l->again) <= 0);
}

static void count_loss(
	const struct hp3_engine *e, const struct hp3_flow *f, struct hp3_losses *l, uint64_t now)
{
	uint64_t sent = (f->stream.nxt - l->nxt) & HP3_PSN_MASK;
	uint64_t borne = sent * e->cfg.loss_permille * HP3_LOSS / 1000;

	if (borne >= l->level) {
		l->level = l->cycles = l->gaps = 0;
		l->since = f->stream.nxt & HP3_PSN_MASK;
	} else {
		l->level -= (uint8_t)borne;
		l->gaps += l->gaps != UINT8_MAX;
	}
	if (l->cycles == 0 || now - l->at >= hp3_monitor_cycle(&f->monitor, &e->cfg.monitor)) {
		l->cycles += l->cycles != UINT8_MAX;
		l->at = now;
	}
	l->level = (uint8_t)hp3_min_u32(l->level + HP3_LOSS, UINT8_MAX);
	l->nxt = f->stream.nxt & HP3_PSN_MASK;
}

static uint64_t wait_of_losses(const struct hp3_engine *e, const struct hp3_losses *l)
{
	uint64_t wait = e->cfg.paths.lossy_ns;

	if (l->searches <= FREE_SEARCHES)
		return wait >> HARDLY;
	return wait << hp3_min_u32(l->searches - FREE_SEARCHES - 1, WAIT_LEVELS);
}

/* First transmissions between two losses, since the bucket was empty. */
static uint32_t gap_of(const struct hp3_flow *f, const struct hp3_losses *l)
{
	return ((f->stream.nxt - l->since) & HP3_PSN_MASK) / hp3_max_u32(l->gaps, 1);
}

static bool trial_fails(
	struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_losses *l, uint64_t now)
{
	return l->home != 0 && hp3_flow_port(f) == l->to && l->to != l->home &&
	       hp3_path_is_lossy(e, f, l->home, now) && gap_of(f, l) < ALIKE * l->gap;
}

static void set_next_search(struct hp3_turn *t, struct hp3_losses *l)
{
	uint64_t most = wait_of_losses(t->e, l);

	l->until = t->now + most - hp3_random(&t->e->rng) % (most / 4 + 1);
}

static void report_loss(struct hp3_turn *t, uint32_t flow, enum hp3_event_type type)
{
	struct hp3_event *event = hp3_event(t, flow, type);

	event->cause = HP3_CAUSE_LOSS;
	hp3_monitor_estimates(&t->e->flows[flow].monitor, &t->e->cfg.monitor, &event->path);
}

/* The old path was not the cause, so it is as good as any other. */
static void end_loss_trial(struct hp3_turn *t, uint32_t flow, struct hp3_losses *l)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_paths *paths = hp3_paths_of(t->e, f->pair);
	int at = hp3_paths_get(paths, l->home, f->rqpn, t->now);

	if (at >= 0)
		hp3_paths_pardon(paths, at, t->now);
	hp3_losses_found(t->e, flow, l->home);
	l->home = 0;
	hp3_search_lossless_path(t, flow, l->to);
}

static void leave_lossy_path(struct hp3_turn *t, uint32_t flow, struct hp3_losses *l, bool failed)
{
	struct hp3_engine *e = t->e;
	struct hp3_flow *f = &e->flows[flow];
	bool may = e->cfg.probing && hp3_may_search(e) && hp3_flow_may_leave(e, f, t->now);
	int at;

	if (may && !hp3_may_leave(e, f, t->now)) { /* others of its pair move: later */
		l->until = t->now + (e->cfg.paths.lossy_ns >> HARDLY);
		return;
	}
	if (t->now >
		l->until + LOSS_CALM * hp3_max_u64(wait_of_losses(e, l), e->cfg.paths.lossy_ns))
		l->searches = 0;
	l->searches += l->searches != UINT8_MAX;
	if (!failed) { /* here trials begin */
		l->home = hp3_flow_port(f);
		l->gap = (uint16_t)hp3_min_u32(gap_of(f, l), UINT16_MAX);
		l->trials = 0;
	}
	l->level = l->cycles = 0;
	set_next_search(t, l);
	e->stats.lossy++;
	report_loss(t, flow, HP3_EVENT_SEVERE);
	if (e->cfg.observe && e->cfg.silent)
		report_loss(t, flow, HP3_EVENT_WOULD);
	if (e->cfg.probing) {
		at = hp3_paths_get(hp3_paths_of(e, f->pair), hp3_flow_port(f), f->rqpn, t->now);
		if (at >= 0)
			hp3_paths_lossy(hp3_paths_of(e, f->pair), at, t->now);
	}
	if (may && failed && ++l->trials >= TRIALS)
		end_loss_trial(t, flow, l);
	else if (may)
		hp3_search_lossless_path(t, flow, 0);
}

/* Home needs the full bucket. A trial, which is only compared with home, needs half of it. */
static void judge_losses(struct hp3_turn *t, uint32_t flow, struct hp3_losses *l)
{
	uint32_t enough = t->e->cfg.loss_repeats * HP3_LOSS;

	if (trial_fails(t->e, &t->e->flows[flow], l, t->now) && 2u * l->level >= enough)
		leave_lossy_path(t, flow, l, true);
	else if (l->level >= enough && t->now >= l->until)
		leave_lossy_path(t, flow, l, false);
}

static void try_again(struct hp3_turn *t, uint32_t flow, struct hp3_losses *l)
{
	const struct hp3_flow *f = &t->e->flows[flow];

	l->tries--;
	if (hp3_path_has_failed(t->e, f, l->to, t->now) ||
		hp3_path_is_lossy(t->e, f, l->to, t->now))
		l->tries = 0;
	else
		hp3_search_lossless_path(t, flow, l->to);
}

void hp3_loss_seen(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v, bool first)
{
	const struct hp3_engine_config *c = &t->e->cfg;
	struct hp3_losses *l = hp3_losses_find(t->e, flow);
	struct hp3_flow *f = &t->e->flows[flow];
	bool loss = is_loss(f, l, v, first);

	if (loss && l == NULL)
		l = hp3_losses_take(t->e, flow, t->now);
	if (l == NULL)
		return;
	l->again = v->psn & HP3_PSN_MASK;
	if (!loss || hp3_stuck_goes_home(t, flow, l) || c->loss_permille == 0)
		return;
	count_loss(t->e, f, l, t->now);
	if (f->state != HP3_RFR_STEADY)
		return;
	if (l->tries != 0)
		try_again(t, flow, l);
	else if (l->cycles >= CYCLES)
		judge_losses(t, flow, l);
}
