/* SPDX-License-Identifier: BSD-3-Clause */
/* Actions of the engine: held packets, probes, rates, deadlines. */
#include <string.h>
#include "sim/lb/hp3.h"

#define PROBE_BYTES 96u /* Ethernet, IPv4, UDP, BTH, RETH, ICRC; counts come on top */

struct tick {
	struct sim_event ev;
	uint32_t host;
};

static uint8_t *address(uint8_t *to, uint32_t host)
{
	uint32_t be = __builtin_bswap32(sim_host_address(host));

	memcpy(to, &be, sizeof(be));
	return to;
}

static struct sim_flow *flow_of(struct sim *s, struct hp3_host *h, uint32_t flow)
{
	struct hp3_flow_info info;
	struct sim_flow *f;

	if (hp3_flow_info(h->engine, flow, s->now / SIM_NS, &info) < 0)
		return NULL;
	f = h->qp[info.lqpn & (HP3_SIM_QPS - 1)];
	if (f == NULL)
		return NULL;
	return hp3_sim_flow_of(f)->lqpn == info.lqpn || hp3_sim_flow_of(f)->rqpn == info.lqpn
		       ? f
		       : NULL;
}

static void release(struct sim *s, uint32_t host, struct hp3_host *h, const struct hp3_act *a)
{
	struct sim_packet *p;

	for (uint32_t n = a->count; n > 0 && (p = sim_fifo_take(&h->held[a->slot])) != NULL; n--) {
		if (a->kind == HP3_ACT_DISCARD) {
			sim_packet_drop(s, p, SIM_DROP_SUPERSEDED);
			continue;
		}
		s->n.held_ps += s->now - p->tag.word[0];
		p->sport = a->port;
		if (n == 1 && (a->flags & HP3_SET_ACKREQ))
			p->flags |= SIM_ACKREQ;
		sim_port_queue_data(s, sim_flow_out(s, p, host), p);
	}
}

/* Both kinds of answer bear counts, where there is placement, in a block of their own. */
static uint16_t *new_counts(struct hp3_balancer *b, struct sim_packet *p)
{
	uint16_t *counts = NULL;

	if (b->paths > 0) {
		counts = sim_pool_get(&b->counts);
		p->bytes = (uint16_t)(p->bytes + 2 * b->paths);
	}
	memcpy(&p->tag.word[0], &counts, sizeof(counts));
	return counts;
}

static uint16_t *counts_of(const struct sim_packet *p)
{
	uint16_t *counts;

	memcpy(&counts, &p->tag.word[0], sizeof(counts));
	return counts;
}

static void send_probe(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_act *a)
{
	struct hp3_host *h = &b->host[host];
	struct sim_flow *f = flow_of(s, h, a->flow);
	struct sim_packet *p;
	uint16_t *counts;
	uint8_t local[4], remote[4];

	if (f == NULL || a->op != HP3_PROBE_PEER || host != sim_flow_requester(f))
		return;
	p = sim_packet_new(s, SIM_PROBE, PROBE_BYTES, f, a->probe_id);
	p->sport = a->port;
	counts = new_counts(b, p);
	if (counts != NULL)
		hp3_load_to(h->engine, false, 0, address(local, host),
			address(remote, sim_flow_responder(f)), counts, b->paths);
	s->n.probes++;
	s->n.probe_bytes += p->bytes;
	sim_port_queue_data(s, sim_flow_out(s, p, host), p);
}

static void send_trace(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_act *a)
{
	struct sim_flow *f = flow_of(s, &b->host[host], a->flow);
	struct sim_packet *p;

	if (f == NULL || host != sim_flow_requester(f))
		return;
	p = sim_packet_new(s, SIM_TRACE, PROBE_BYTES, f, a->probe_id);
	p->sport = a->port;
	p->arg = a->op;
	s->n.traces++;
	s->n.probe_bytes += p->bytes;
	sim_port_queue_data(s, sim_flow_out(s, p, host), p);
}

/* The RNIC's rate limiter: the flow's own reaction point. */
static void rate(struct sim *s, struct sim_flow *f, uint8_t op)
{
	struct hp3_sim_flow *x = hp3_sim_flow_of(f);
	const struct hp3_dcqcn_params *rp = sim_host_rp(s, f);

	if (op == HP3_RATE_SAVE)
		hp3_dcqcn_take(&x->saved, &f->rp, rp, s->now / SIM_NS);
	else if (op == HP3_RATE_ROLLBACK)
		hp3_dcqcn_rollback(&f->rp, &x->saved, s->now / SIM_NS);
	else
		hp3_dcqcn_raise(&f->rp, rp, &x->saved, s->now / SIM_NS);
}

static void hand_nak(struct sim *s, struct sim_flow *f, uint32_t psn)
{
	struct sim_packet nak = {.kind = SIM_NAK, .flow = f, .psn = (psn - 1) & HP3_PSN_MASK};

	if (!f->done && f->read)
		sim_read_again(s, f);
	else if (!f->done)
		sim_requester_reply(s, f, &nak);
}

static void count_event(struct sim *s, const struct hp3_event *ev)
{
	if ((ev->type == HP3_EV_SWITCH || ev->type == HP3_EV_FAILOVER ||
		    ev->type == HP3_EV_IDLE_SWITCH) &&
		ev->cause != HP3_CAUSE_SETUP)
		s->n.moves++;
	else if (ev->type == HP3_EV_OUTCOME && ev->outcome == HP3_PAYOFF_WORSE)
		s->n.moves_wasted++;
}

void hp3_sim_carry_out(
	struct sim *s, struct hp3_balancer *b, uint32_t host, const struct hp3_acts *acts)
{
	struct hp3_host *h = &b->host[host];

	for (uint32_t i = 0; i < acts->n; i++) {
		const struct hp3_act *a = &acts->act[i];
		struct sim_flow *f;

		switch (a->kind) {
		case HP3_ACT_RELEASE:
		case HP3_ACT_DISCARD:
			release(s, host, h, a);
			break;
		case HP3_ACT_PROBE:
			send_probe(s, b, host, a);
			break;
		case HP3_ACT_TRACE:
			send_trace(s, b, host, a);
			break;
		case HP3_ACT_EVENT:
			count_event(s, &a->event);
			break;
		case HP3_ACT_RATE:
			f = flow_of(s, h, a->flow);
			if (f != NULL && !f->read) /* requests have no rate of their own */
				rate(s, f, a->op);
			break;
		case HP3_ACT_NAK:
			f = flow_of(s, h, a->flow);
			if (f != NULL)
				hand_nak(s, f, a->psn);
			break;
		default:
			break;
		}
	}
}

static void tick(struct sim *s, struct sim_event *ev)
{
	struct tick *t = (struct tick *)ev;
	struct hp3_balancer *b = s->lb_state;
	uint32_t host = t->host;
	struct hp3_acts acts = {0};

	sim_pool_put(&b->ticks, t);
	if (b->host[host].tick_at != s->now)
		return; /* an earlier one took its place */
	b->host[host].tick_at = 0;
	do {
		acts.n = 0;
		hp3_tick(b->host[host].engine, s->now / SIM_NS, &acts);
		hp3_sim_carry_out(s, b, host, &acts);
	} while (acts.more);
	hp3_sim_wake(s, b, host);
}

void hp3_sim_wake(struct sim *s, struct hp3_balancer *b, uint32_t host)
{
	struct hp3_host *h = &b->host[host];
	uint64_t due = hp3_engine_due(h->engine);
	struct tick *t;

	if (due > UINT64_MAX / SIM_NS)
		return;
	due *= SIM_NS;
	if (due <= s->now)
		due = s->now + SIM_NS;
	if (h->tick_at != 0 && h->tick_at <= due)
		return;
	t = sim_pool_get(&b->ticks);
	t->ev.fire = tick;
	t->host = host;
	h->tick_at = due;
	sim_at(s, &t->ev, due);
}

/* The peer's hp3d answers a probe: mark, and its inbound flows. */
static void answer(struct sim *s, struct hp3_balancer *b, struct sim_packet *probe, uint16_t *told)
{
	struct sim_flow *f = probe->flow;
	struct hp3_host *h = &b->host[sim_flow_responder(f)];
	uint64_t now = s->now / SIM_NS;
	uint8_t local[4], remote[4];
	struct sim_packet *p;
	uint16_t *counts;

	address(local, sim_flow_responder(f));
	address(remote, sim_flow_requester(f));
	hp3_peer_seen(h->engine, false, 0, local, remote, now);
	p = sim_packet_new(s, SIM_PROBE_REPLY, PROBE_BYTES, f, probe->psn);
	p->flags |= probe->flags & SIM_CE ? SIM_ECHO : 0;
	counts = new_counts(b, p);
	if (counts != NULL) {
		hp3_load_from(h->engine, false, 0, local, remote, told, b->paths, now);
		memset(counts, 0, b->paths * sizeof(*counts));
		hp3_load_in(h->engine, counts, b->paths);
	}
	s->n.probe_bytes += p->bytes;
	sim_port_queue_control(s, probe->to, p);
}

/* The TTL was more than the way: the peer's hp3d answers. */
static void reached(struct sim *s, const struct sim_packet *trace)
{
	struct sim_packet *p =
		sim_packet_new(s, SIM_TRACE_REPLY, PROBE_BYTES, trace->flow, trace->psn);

	p->arg_psn = 0;
	s->n.probe_bytes += p->bytes;
	sim_port_queue_control(s, trace->to, p);
}

static void hop_told(struct sim *s, struct hp3_host *h, const struct sim_packet *p)
{
	uint32_t hop = __builtin_bswap32(0x0a000000u + p->arg_psn);

	s->n.hops_told += p->arg_psn != 0;
	s->n.probe_bytes += p->arg_psn != 0 ? p->bytes : 0;
	hp3_hop_told(h->engine, p->psn, p->arg_psn != 0 ? HP3_TRACE_HOP : HP3_TRACE_REACHED, false,
		&hop, s->now / SIM_NS);
}

void hp3_sim_other(struct sim *s, struct sim_host *host, struct sim_packet *p)
{
	struct hp3_balancer *b = s->lb_state;
	struct hp3_host *h = &b->host[host->node];
	struct hp3_acts acts = {0};
	uint16_t *counts;

	if (p->kind == SIM_TRACE) {
		reached(s, p);
		return;
	}
	if (p->kind == SIM_TRACE_REPLY) {
		hop_told(s, h, p);
		hp3_sim_wake(s, b, host->node);
		return;
	}
	counts = counts_of(p);
	if (p->kind == SIM_PROBE) {
		answer(s, b, p, counts);
	} else if (p->kind == SIM_PROBE_REPLY) {
		if (counts != NULL)
			hp3_load_told_by(h->engine, p->psn, counts, b->paths, s->now / SIM_NS);
		hp3_probe_reply(h->engine, p->psn, p->flags & SIM_ECHO, s->now / SIM_NS, &acts);
		hp3_sim_carry_out(s, b, host->node, &acts);
		hp3_sim_wake(s, b, host->node);
	}
	if (counts != NULL)
		sim_pool_put(&b->counts, counts);
}
