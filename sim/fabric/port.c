/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/fabric/port.h"
#include "sim/fabric/switch.h"
#include "sim/host/host.h"
#include "sim/results/capture.h"

static void deliver_packet(struct sim *s, struct sim_event *event)
{
	struct sim_packet *p = (struct sim_packet *)event;
	struct sim_port *in = p->to;

	if (in->down)
		sim_packet_drop(s, p, SIM_DROP_LINK_DOWN);
	else if (in->loss > 0 && p->kind != SIM_PFC && sim_rand_below(s, 1000000000) < in->loss)
		sim_packet_drop(s, p, SIM_DROP_LOSS);
	else if (in->node >= s->topo.hosts)
		sim_switch_receive(s, in, p);
	else
		sim_host_receive(s, in, p);
}

struct sim_packet *sim_port_take_data(struct sim_port *port)
{
	struct sim_packet *p = sim_fifo_take(&port->data);

	if (p != NULL)
		port->data_bytes -= p->bytes;
	return p;
}

static struct sim_packet *next_packet(struct sim *s, struct sim_port *port)
{
	struct sim_packet *p = sim_fifo_take(&port->control);

	if (p != NULL || sim_port_paused(s, port))
		return p;
	p = sim_port_take_data(port);
	if (port->node < s->topo.hosts)
		return p != NULL ? p : sim_host_next(s, port);
	if (p != NULL)
		sim_switch_leaves(s, port, p);
	return p;
}

static bool has_more(const struct sim *s, const struct sim_port *port)
{
	if (port->control.head != NULL)
		return true;
	if (s->now < port->paused_until && port->busy_until < port->paused_until)
		return false; /* the end of the pause will kick */
	return port->data.head != NULL || port->ring != NULL;
}

static void wait_for_wire(struct sim *s, struct sim_port *port)
{
	if (port->free_pending)
		return;
	port->free_pending = true;
	sim_at(s, &port->free, port->busy_until);
}

static void transmit_packet(struct sim *s, struct sim_port *port, struct sim_packet *p)
{
	uint64_t time = sim_port_time(s, port, p->bytes);

	port->busy_until = s->now + time;
	if (p->kind == SIM_DATA)
		port->sent_bytes += p->bytes;
	if (s->capture != NULL)
		sim_capture_packet(s, port->node, p);
	p->to = port->peer;
	p->event.fire = deliver_packet;
	sim_at(s, &p->event, port->busy_until + port->delay);
	if (has_more(s, port))
		wait_for_wire(s, port);
}

void sim_port_kick(struct sim *s, struct sim_port *port)
{
	struct sim_packet *p;

	if (port->down)
		return;
	if (s->now < port->busy_until) {
		wait_for_wire(s, port);
		return;
	}
	p = next_packet(s, port);
	if (p != NULL)
		transmit_packet(s, port, p);
}

static void wire_free(struct sim *s, struct sim_event *event)
{
	struct sim_port *port =
		(struct sim_port *)((char *)event - offsetof(struct sim_port, free));

	port->free_pending = false;
	sim_port_kick(s, port);
}

static void pause_over(struct sim *s, struct sim_event *event)
{
	struct sim_port *port =
		(struct sim_port *)((char *)event - offsetof(struct sim_port, unpause));

	port->unpause_pending = false;
	if (port->paused_until == 0)
		return;
	if (s->now < port->paused_until) { /* renewed meanwhile */
		port->unpause_pending = true;
		sim_at(s, event, port->paused_until);
		return;
	}
	s->n.pause_ps += s->now - port->paused_since;
	port->paused_until = 0;
	sim_port_kick(s, port);
}

void sim_port_init(struct sim *s, uint32_t number)
{
	const struct sim_topo *t = &s->topo;
	const struct sim_link *l = &t->link[t->port_link[number]];
	struct sim_port *port = &s->port[number];

	*port = (struct sim_port){
		.free.fire = wire_free,
		.unpause.fire = pause_over,
		.renew.fire = sim_switch_renew,
		.peer = &s->port[t->peer_port[number]],
		.delay = l->delay,
		.bps = l->bps,
		.ps_per_kib = 8 * 1024 * SIM_SEC / l->bps,
		.loss = l->loss,
		.number = number,
		.node = t->owner[number],
	};
}

void sim_port_queue_control(struct sim *s, struct sim_port *port, struct sim_packet *p)
{
	sim_fifo_put(&port->control, p);
	sim_port_kick(s, port);
}

void sim_port_queue_data(struct sim *s, struct sim_port *port, struct sim_packet *p)
{
	sim_fifo_put(&port->data, p);
	port->data_bytes += p->bytes;
	sim_port_kick(s, port);
}

void sim_port_pfc(struct sim *s, struct sim_port *port, uint32_t pause_ns)
{
	bool was = port->paused_until != 0;

	if (pause_ns == 0) {
		if (!was)
			return;
		s->n.pause_ps += s->now - port->paused_since;
		port->paused_until = 0;
		sim_port_kick(s, port);
		return;
	}
	if (!was) {
		port->paused_since = s->now;
		s->n.pauses_started++;
	}
	port->paused_until = s->now + pause_ns * SIM_NS;
	if (!port->unpause_pending) {
		port->unpause_pending = true;
		sim_at(s, &port->unpause, port->paused_until);
	}
}

void sim_port_set_down(struct sim *s, struct sim_port *port, bool down)
{
	struct sim_packet *p;

	port->down = down;
	if (!down) {
		sim_port_kick(s, port);
		return;
	}
	while ((p = sim_fifo_take(&port->control)) != NULL)
		sim_packet_drop(s, p, SIM_DROP_LINK_DOWN);
	while ((p = sim_fifo_take(&port->data)) != NULL) {
		port->data_bytes -= p->bytes;
		if (port->node >= s->topo.hosts)
			sim_switch_leaves(s, port, p);
		sim_packet_drop(s, p, SIM_DROP_LINK_DOWN);
	}
}
