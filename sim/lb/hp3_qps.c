/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs that come up and go, as hp3d's watcher tells its engine of them. */
#include <errno.h>
#include "sim/lb/hp3.h"

#define QUIET_QPN 0xff0000u /* + host: the queue pair that stays */

static void report_qp(struct sim *s, struct hp3_balancer *b, uint32_t local, uint32_t remote,
	struct hp3_qp_event *event)
{
	struct hp3_acts acts = {0};

	event->source = HP3_QP_SOURCE_KERNEL;
	sim_put_address(event->local, local);
	sim_put_address(event->remote, remote);
	if (hp3_qp(b->host[local].engine, event, s->now / SIM_NS, &acts) == -ENOSPC)
		event->lqpn = 0;
	hp3_sim_act(s, b, local, &acts);
}

/* The queue pair that stays: from now on both engines remember the pair. */
static void add_quiet_qp(struct sim *s, struct hp3_balancer *b, uint32_t local, uint32_t remote)
{
	struct hp3_qp_event event = {
		.kind = HP3_QP_UP, .lqpn = QUIET_QPN + remote, .rqpn = QUIET_QPN + local};

	if (b->host[local].absent || b->host[local].met[remote])
		return;
	b->host[local].met[remote] = 1;
	report_qp(s, b, local, remote, &event);
}

/* One space for both ends: what a host responds to must not bear the number of what it asks for. */
static uint32_t next_qpn(struct hp3_host *h)
{
	uint32_t qpn = h->next_qpn;

	h->next_qpn = (qpn + 1) % QUIET_QPN;
	return qpn;
}

/* A QPN of the host that is free, for this flow; 0: more than the engine has room for. */
static uint32_t take_qpn(struct hp3_host *h, struct sim_flow *f)
{
	uint32_t qpn;

	for (uint32_t i = 0; h->qp[h->next_qpn & (HP3_SIM_QPS - 1)] != NULL; i++) {
		if (i == HP3_SIM_QPS)
			return 0;
		h->next_qpn++;
	}
	qpn = next_qpn(h);
	h->qp[qpn & (HP3_SIM_QPS - 1)] = f;
	return qpn;
}

static void give_qpn(struct hp3_host *h, uint32_t qpn)
{
	if (qpn != 0)
		h->qp[qpn & (HP3_SIM_QPS - 1)] = NULL;
}

/* The responder's engine, which sees both streams of READs. It knows no PSN of its own: no probe.
 */
static bool responder_up(
	struct sim *s, struct hp3_balancer *b, struct sim_flow *f, struct hp3_sim_flow *x)
{
	struct hp3_qp_event event = {.kind = HP3_QP_UP, .rqpn = x->lqpn};

	x->rqpn = event.lqpn = take_qpn(&b->host[f->src], f);
	if (x->rqpn == 0)
		return false;
	report_qp(s, b, f->src, f->dst, &event);
	return event.lqpn != 0;
}

/* A queue pair that READs is known to the engines of both ends. */
static bool both_know(const struct hp3_balancer *b, const struct sim_flow *f)
{
	return f->read && !b->host[sim_flow_responder(f)].absent;
}

/* Within a rack there is nothing to choose, but rates may be the engine's. */
static bool is_engines(const struct sim *s, const struct hp3_balancer *b, const struct sim_flow *f)
{
	return !b->host[sim_flow_requester(f)].absent &&
	       (hp3_sim_choice(s, f->src, f->dst) || b->cfg.cc.mode == HP3_CC_DCQCN);
}

void hp3_sim_flow_start(struct sim *s, struct sim_flow *f)
{
	struct hp3_balancer *b = s->lb_state;
	uint32_t here = sim_flow_requester(f), there = sim_flow_responder(f);
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);
	struct hp3_qp_event event = {
		.kind = HP3_QP_UP, .psn = HP3_SIM_FIRST_PSN, .psn_known = !b->cfg.verbs};

	f->own_cc |= b->cfg.cc.mode == HP3_CC_DCQCN && b->host[f->src].absent;
	if (!is_engines(s, b, f))
		return;
	add_quiet_qp(s, b, f->src, f->dst);
	add_quiet_qp(s, b, f->dst, f->src);
	x->lqpn = take_qpn(&b->host[here], f);
	if (x->lqpn == 0)
		return;
	if (!both_know(b, f))
		x->rqpn = next_qpn(&b->host[there]);
	x->managed = !both_know(b, f) || responder_up(s, b, f, x);
	event.lqpn = x->lqpn;
	event.rqpn = x->rqpn;
	if (x->managed)
		report_qp(s, b, here, there, &event);
	if (x->managed && event.lqpn != 0)
		return;
	x->managed = false;
	give_qpn(&b->host[here], x->lqpn);
	if (both_know(b, f))
		give_qpn(&b->host[there], x->rqpn);
}

void hp3_sim_flow_end(struct sim *s, struct sim_flow *f)
{
	struct hp3_balancer *b = s->lb_state;
	uint32_t here = sim_flow_requester(f), there = sim_flow_responder(f);
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);
	struct hp3_qp_event event = {.kind = HP3_QP_DOWN, .lqpn = x->lqpn, .rqpn = x->rqpn};
	struct hp3_qp_event far = {.kind = HP3_QP_DOWN, .lqpn = x->rqpn, .rqpn = x->lqpn};

	if (!x->managed)
		return;
	report_qp(s, b, here, there, &event);
	give_qpn(&b->host[here], x->lqpn);
	if (both_know(b, f) || x->reported)
		report_qp(s, b, there, here, &far);
	if (both_know(b, f))
		give_qpn(&b->host[there], x->rqpn);
	x->managed = false;
}
