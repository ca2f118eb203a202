/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RNICs whose rates follow moves: a rate is saved when sending is suspended, rolled back by fast
 * recovery, raised after a switch (cc/dcqcn.h). No hp3d can do that, for no RNIC has a call to set
 * the rate of one queue pair; the paper assumes it. So it is no part of the engine, and what its
 * events say is enough.
 */
#include "sim/lb/hp3.h"

static void raise_rate(struct sim *s, struct sim_flow *f)
{
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);
	const struct hp3_dcqcn_params *rp = sim_host_rp(s, f);

	if (!x->suspended)
		hp3_dcqcn_take(&x->saved, &f->rp, rp, s->now / SIM_NS);
	hp3_dcqcn_raise(&f->rp, rp, &x->saved, s->now / SIM_NS);
	x->suspended = false;
}

static bool is_clear(const struct hp3_event *round)
{
	for (uint32_t i = 0; i < round->n_probes; i++)
		if (round->probes[i].state == HP3_PROBE_ANSWERED && !round->probes[i].ce)
			return true;
	return false;
}

static void restore_rate(struct sim *s, struct sim_flow *f, const struct hp3_event *event)
{
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);

	if (event->cause == HP3_CAUSE_MESSAGE_START && x->clear)
		raise_rate(s, f);
	else if (x->suspended)
		hp3_dcqcn_rollback(&f->rp, &x->saved, s->now / SIM_NS);
	x->suspended = false;
}

void hp3_sim_rates(struct sim *s, struct sim_flow *f, const struct hp3_event *event)
{
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);

	if (f->read) /* requests have no rate of their own */
		return;
	switch ((enum hp3_event_type)event->type) {
	case HP3_EVENT_SUSPEND:
		hp3_dcqcn_take(&x->saved, &f->rp, sim_host_rp(s, f), s->now / SIM_NS);
		x->suspended = true;
		break;
	case HP3_EVENT_ROUND:
		x->clear = is_clear(event);
		break;
	case HP3_EVENT_SWITCH:
	case HP3_EVENT_IDLE_SWITCH:
	case HP3_EVENT_FAILOVER:
		raise_rate(s, f);
		break;
	case HP3_EVENT_RECOVER:
		restore_rate(s, f, event);
		break;
	case HP3_EVENT_RESUME:
	case HP3_EVENT_EPOCH:
		x->suspended = false;
		break;
	default:
		break;
	}
}
