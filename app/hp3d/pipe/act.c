/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out the engine's actions besides its verdicts: releases or drops held packets, reports
 * events, sends hp3d's own packets. Also keeps packet buffers free: held packets must not keep hp3d
 * from receiving. Like pipe.c, this is in the data path, but not every burst
 * needs it.
 */
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/internal.h"
#include "roce/icrc.h"

#define SPARE 8u /* this part of a pool is never held */

/* Held packets are rewritten when they leave: their port is not known before. */
static void release_held(struct hp3d_pipe *p, const struct hp3_act *a)
{
	uint32_t i = a->held;
	struct hp3_view v;

	for (uint32_t n = a->count; n > 0; n--, i = hp3_held_next(p->engine, i)) {
		struct rte_mbuf *m = p->held[i];
		void *frame = rte_pktmbuf_mtod(m, void *);
		bool ackreq = n == 1 && (a->flags & HP3_SET_ACKREQ);

		hp3_parse(frame, rte_pktmbuf_data_len(m), &v);
		if (v.sport != a->port || ackreq) {
			hp3_set_sport_ackreq(
				frame, &v, a->port, ackreq || (v.flags & HP3_VF_ACKREQ));
			p->c.changed++;
		}
		p->c.released++;
		if (p->bond != NULL) /* the RNIC's bond may have changed the member since */
			m->port = hp3d_bond_of_flow(p->bond, a->flow);
		hp3d_pipe_emit(p, HP3_DIR_TX, m);
	}
}

void hp3d_pipe_deliver(struct hp3d_pipe *p, uint32_t held, uint32_t count)
{
	p->c.delivered += count;
	for (uint32_t n = count; n > 0; n--, held = hp3_held_next(p->engine, held))
		hp3d_pipe_emit(p, HP3_DIR_RX, p->held[held]);
}

/* Allocates a buffer, but only when a packet was lost. */
static void show_held(struct hp3d_pipe *p, const struct hp3_act *a)
{
	struct rte_mbuf *held = p->held[a->held];
	struct rte_mbuf *copy = rte_pktmbuf_copy(held, held->pool, 0, UINT32_MAX);

	if (copy == NULL)
		return;
	p->c.shown++;
	hp3d_pipe_emit(p, HP3_DIR_RX, copy);
}

static void discard_held(struct hp3d_pipe *p, const struct hp3_act *a)
{
	uint32_t i = a->held;

	p->c.drop_discarded += a->count;
	for (uint32_t n = a->count; n > 0; n--, i = hp3_held_next(p->engine, i))
		rte_pktmbuf_free(p->held[i]);
}

static void count_fruitless(struct hp3d_pipe_counters *c, enum hp3_cause cause)
{
	c->rounds_fruitless++;
	c->fruitless_cnp += cause == HP3_CAUSE_CNP;
	c->fruitless_ecn += cause == HP3_CAUSE_ECN;
	c->fruitless_rtt += cause == HP3_CAUSE_RTT;
	c->fruitless_dead += cause == HP3_CAUSE_DEAD;
	c->fruitless_setup += cause == HP3_CAUSE_SETUP;
	c->fruitless_message_start += cause == HP3_CAUSE_MESSAGE_START;
	c->fruitless_advice += cause == HP3_CAUSE_ADVICE;
}

static void report_event(struct hp3d_pipe *p, const struct hp3_event *event)
{
	struct hp3d_event out = {.event = *event, .rail = p->rail, .worker = p->worker};

	hp3d_tally_event(&p->tally, event);
	if (hp3_event_is_fruitless(event))
		count_fruitless(&p->c, (enum hp3_cause)event->cause);
	if (p->on_event == NULL)
		return;
	if (hp3_flow_info(p->engine, event->flow, event->t_ns, &out.flow) < 0 &&
		p->leaving.flow == event->flow)
		out.flow = p->leaving;
	p->on_event(p->event_ctx, &out);
}

static void send_own_packet(struct hp3d_pipe *p, const struct hp3_act *a, uint64_t now)
{
	enum hp3_dir dir;
	struct rte_mbuf *m;

	if (p->agent == NULL)
		return;
	m = hp3d_agent_make(p->agent, p->engine, a, now, &dir);
	if (m != NULL)
		hp3d_pipe_emit_own(p, dir, m, a->kind == HP3_ACT_AGREE ? HP3_NO_FLOW : a->flow);
}

void hp3d_pipe_act(struct hp3d_pipe *p, const struct hp3_act *a, uint64_t now)
{
	switch ((enum hp3_act_kind)a->kind) {
	case HP3_ACT_RELEASE:
		release_held(p, a);
		break;
	case HP3_ACT_DISCARD:
		discard_held(p, a);
		break;
	case HP3_ACT_DELIVER:
		hp3d_pipe_deliver(p, a->held, a->count);
		break;
	case HP3_ACT_SHOW:
		show_held(p, a);
		break;
	case HP3_ACT_EVENT:
		report_event(p, &a->event);
		break;
	case HP3_ACT_SUSPEND:
	case HP3_ACT_MOVE:
	case HP3_ACT_RESUME:
		if (p->actuate != NULL)
			p->actuate(p->actuate_ctx, a);
		break;
	case HP3_ACT_PROBE:
	case HP3_ACT_NAK:
	case HP3_ACT_CNP:
	case HP3_ACT_CNP_OWED:
	case HP3_ACT_REPORT:
	case HP3_ACT_SOLICIT_ACK:
	case HP3_ACT_AGREE:
	case HP3_ACT_TRACE:
		send_own_packet(p, a, now);
		break;
	}
}

void hp3d_pipe_buffers(struct hp3d_pipe *p, struct rte_mempool *pool, unsigned sharers)
{
	p->pool = pool;
	p->sharers = sharers;
}

/* rte_mempool_avail_count() would walk the caches of all lcores, which this lcore cannot use. */
void hp3d_pipe_make_room(struct hp3d_pipe *p)
{
	const struct rte_mempool_cache *own;
	uint32_t n, spare;

	p->unroomed = 0;
	if (p->pool == NULL)
		return;
	own = rte_mempool_default_cache(p->pool, rte_lcore_id());
	n = rte_mempool_get_ops(p->pool->ops_index)->get_count(p->pool) +
	    (own != NULL ? own->len : 0);
	spare = p->pool->size / SPARE;
	hp3_hold_room(p->engine, n > spare ? (n - spare) / p->sharers : 0);
}
