/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/fabric/switch.h"
#include "probes/limit.h"
#include "sim/host/flow.h"
#include "sim/lb/lb.h"

#define PFC_BYTES  64u
#define ICMP_BYTES 70u /* Ethernet, IPv4, ICMP, and of the packet IPv4 and 8 bytes */

struct sim_port *sim_switch_hash_port(
	struct sim *s, struct sim_switch *sw, const struct sim_packet *p)
{
	const struct sim_topo *t = &s->topo;
	const struct sim_group *g = &t->group[t->route[sw->node * t->hosts + sim_packet_target(p)]];

	if (g->n <= 1)
		return g->n == 0 ? NULL : &s->port[g->port[0]];
	return &s->port[g->port[sim_flow_hash(s, p, sw->node) % g->n]];
}

static void send_pfc(struct sim *s, struct sim_port *port, uint32_t pause_ns)
{
	struct sim_packet *p = sim_packet_new(s, SIM_PFC, PFC_BYTES, NULL, pause_ns);

	if (pause_ns > 0)
		s->n.pauses++;
	port->pausing_until = pause_ns > 0 ? s->now + pause_ns * SIM_NS : 0;
	if (pause_ns > 0 && s->cfg.fabric.pause_renew == SIM_ON && !port->renew_pending) {
		port->renew_pending = true;
		sim_at(s, &port->renew, s->now + pause_ns * SIM_NS / 2);
	}
	sim_port_queue_control(s, port, p);
}

void sim_switch_renew(struct sim *s, struct sim_event *event)
{
	struct sim_port *port =
		(struct sim_port *)((char *)event - offsetof(struct sim_port, renew));

	port->renew_pending = false;
	if (port->pausing_until != 0 && sim_mmu_must_pause(s, sim_switch_of(s, port), port))
		send_pfc(s, port, s->cfg.fabric.pause_us * 1000);
}

static void maybe_resume(struct sim *s, struct sim_switch *sw, struct sim_port *in)
{
	if (s->now < in->pausing_until && sim_mmu_may_resume(s, sw, in))
		send_pfc(s, in, 0);
}

void sim_switch_send(
	struct sim *s, struct sim_switch *sw, struct sim_port *out, struct sim_packet *p)
{
	struct sim_port *in = p->to;
	enum sim_drop reason;

	if (out == NULL || out->down) {
		sim_packet_drop(s, p, out == NULL ? SIM_DROP_NO_ROUTE : SIM_DROP_LINK_DOWN);
		return;
	}
	if (out->hole > 0 && p->flow != NULL && p->kind == SIM_DATA &&
		sim_flow_hash(s, p, ~out->number) % 10000 < out->hole) {
		sim_packet_drop(s, p, SIM_DROP_BLACK_HOLE);
		return;
	}
	s->n.hops++;
	if (!sim_packet_with_data(p)) {
		sim_port_queue_control(s, out, p);
		return;
	}
	if (!sim_mmu_admit(s, sw, in, out, p->bytes, &reason)) {
		sim_packet_drop(s, p, reason);
		return;
	}
	if (s->cfg.fabric.pfc == SIM_ON) {
		if (sim_mmu_must_pause(s, sw, in))
			send_pfc(s, in, s->cfg.fabric.pause_us * 1000);
		else
			maybe_resume(s, sw, in);
	}
	sim_port_queue_data(s, out, p);
}

void sim_switch_leaves(struct sim *s, struct sim_port *out, struct sim_packet *p)
{
	struct sim_switch *sw = sim_switch_of(s, out);
	struct sim_port *in = p->to;

	sim_mmu_release(s, sw, in, out, p->bytes);
	if (sim_mmu_marks(s, out))
		p->flags |= SIM_CE;
	if (in->pausing_until != 0)
		maybe_resume(s, sw, in);
}

/* The TTL of a trace has ended here: says so, if it has not said so too often. */
static void time_exceeded(struct sim *s, struct sim_switch *sw, struct sim_packet *p)
{
	const struct hp3_limit limit = {.rate = s->cfg.fabric.icmp_per_second, .burst = 10};
	struct sim_packet *icmp;

	if (!hp3_limit_ready(&limit, sw->icmp_spent, s->now / SIM_NS)) {
		sim_packet_drop(s, p, SIM_DROP_ICMP_LIMIT);
		return;
	}
	hp3_limit_spend(&limit, &sw->icmp_spent, s->now / SIM_NS);
	icmp = sim_packet_new(s, SIM_TRACE_REPLY, ICMP_BYTES, p->flow, p->psn);
	icmp->arg_psn = sw->node;
	sim_switch_send(s, sw, sim_switch_hash_port(s, sw, icmp), icmp);
	sim_packet_end(s, p);
}

void sim_switch_receive(struct sim *s, struct sim_port *in, struct sim_packet *p)
{
	struct sim_switch *sw = sim_switch_of(s, in);
	struct sim_port *out;

	if (p->kind == SIM_PFC) {
		sim_port_pfc(s, in, p->psn);
		sim_packet_end(s, p);
		return;
	}
	if (p->kind == SIM_TRACE && --p->arg == 0) {
		time_exceeded(s, sw, p);
		return;
	}
	if (s->lb->route != NULL) {
		if (!s->lb->route(s, sw, p, &out))
			return;
	} else {
		out = sim_switch_hash_port(s, sw, p);
	}
	sim_switch_send(s, sw, out, p);
}
