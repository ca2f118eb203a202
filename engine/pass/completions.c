/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs mode: completions in place of packets. */
#include <errno.h>
#include "engine/pass/pass.h"

/* From now on, the flow's state counts as known, as if hp3d had seen its packets. */
static void begin_verbs_flow(const struct hp3_engine *e, struct hp3_flow *f)
{
	f->flags |= HP3_FF_STARTED;
	f->watch |= HP3_FW_COMPLETIONS;
	if (e->cfg.setup_probing && f->moves == 0) /* its path was never chosen */
		f->watch |= HP3_FW_BEGINS;
	hp3_stream_reset(&f->stream, 0);
}

static void take_ports(
	struct hp3_engine *e, struct hp3_flow *f, const struct hp3_completions *completions)
{
	uint16_t port = completions->port != 0 ? completions->port : completions->home;

	f->home = completions->home;
	if (f->state == HP3_RFR_STEADY)
		hp3_set_port(e, f, port);
}

/* Work requests replace PSNs: posted and not completed means in flight. */
static void take_work(struct hp3_turn *t, uint32_t flow, const struct hp3_completions *completions)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_stream *s = &f->stream;
	uint32_t open;

	s->nxt = hp3_psn_add(s->nxt, completions->posted_wrs & HP3_PSN_MASK);
	s->hi = hp3_psn_add(s->nxt, HP3_PSN_MASK);
	open = (s->nxt - s->una) & HP3_PSN_MASK;
	s->una = hp3_psn_add(s->una, hp3_min_u32(open, completions->done_wrs));
	if (completions->done_wrs != 0)
		f->watch |= HP3_FW_HEARD;
	if (!hp3_stream_idle(s) && t->e->cfg.probing)
		hp3_active_add(t->e, flow, t->now);
}

/* The queue pair has left a dead path, and completes work again. */
static void resume_verbs_flow(
	struct hp3_turn *t, uint32_t flow, const struct hp3_completions *completions)
{
	if (t->e->flows[flow].state == HP3_RFR_RESUMING && completions->done_wrs != 0)
		hp3_move_input(t, flow, HP3_RFR_IN_CAUGHT_UP);
}

/* The first data does not wait for a path search at set-up. */
static void begin_unless_placed(
	struct hp3_turn *t, uint32_t flow, const struct hp3_completions *completions)
{
	struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_move *m = f->slot == HP3_NO_SLOT ? NULL : &t->e->moves[f->slot];
	bool asks = m != NULL && m->search.kind == HP3_SEARCH_SETUP &&
		    m->search.state != HP3_SEARCH_QUIET;

	if (asks && completions->posted_wrs == 0)
		return;
	if (asks)
		hp3_setup_late(t, flow);
	begin_verbs_flow(t->e, f);
}

static void judge_completions(
	struct hp3_turn *t, uint32_t flow, const struct hp3_completions *completions)
{
	struct hp3_flow *f = &t->e->flows[flow];
	bool severe;

	if (t->e->cfg.monitor.cycle_ns == 0 ||
		(completions->done == 0 && completions->took_ns == 0))
		return;
	severe = hp3_monitor_completions(&f->monitor, &t->e->cfg.monitor, completions->took_ns,
		completions->least_ns, (uint32_t)hp3_min_u64(completions->done, UINT32_MAX),
		t->now);
	if (completions->port_cnp && !t->e->cfg.copies)
		hp3_monitor_port_cnp(&f->monitor, &t->e->cfg.monitor);
	if (severe)
		hp3_severe(t, flow);
	else if ((f->flags & HP3_FF_SEVERE) && hp3_monitor_calm(&f->monitor))
		f->flags &= (uint16_t)~HP3_FF_SEVERE;
	if ((f->watch & HP3_FW_BEGINS) && completions->took_ns != 0 && t->e->cfg.probing)
		hp3_search_first_path(t, flow);
}

static int check_verbs_flow(const struct hp3_engine *e, uint32_t flow)
{
	if (flow >= e->cfg.max_flows || !(e->flows[flow].flags & HP3_FF_USED))
		return -ENOENT;
	return e->cfg.verbs && e->flows[flow].pairing == HP3_PAIRING_EVENT ? 0 : -EINVAL;
}

int hp3_completions(struct hp3_engine *e, uint32_t flow, const struct hp3_completions *completions,
	uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	struct hp3_flow *f;
	int err = check_verbs_flow(e, flow);

	acts->n = 0;
	if (err < 0)
		return err;
	f = &e->flows[flow];
	if (!(f->flags & HP3_FF_STARTED))
		begin_unless_placed(&t, flow, completions);
	take_ports(e, f, completions);
	f->last = (uint32_t)(now >> HP3_TICK_SHIFT);
	f->bytes += completions->posted;
	take_work(&t, flow, completions);
	resume_verbs_flow(&t, flow, completions);
	judge_completions(&t, flow, completions);
	return 0;
}

int hp3_qp_ports(
	struct hp3_engine *e, const struct hp3_ends *ends, const uint16_t *ports, uint32_t n)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);
	struct hp3_paths *t;

	if (pair == HP3_NO_PAIR || !e->cfg.probing)
		return -ENOENT;
	t = hp3_paths_of(e, pair);
	t->ports = n != 0 ? ports : NULL;
	t->n_ports = (uint16_t)n;
	return 0;
}

void hp3_qp_place(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_turn t = {e, now, acts};

	acts->n = 0;
	if (check_verbs_flow(e, flow) == 0 && e->cfg.probing && f->state == HP3_RFR_STEADY &&
		!(f->flags & (HP3_FF_STARTED | HP3_FF_MOVED)))
		hp3_setup(&t, flow);
}
