/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester: what to send next, and what replies and time-outs mean. */
#include "sim/host/host.h"
#include "sim/lb/lb.h"

/* Next hole that counts as lost, if there is one. */
static bool find_hole(struct sim_flow *f)
{
	if (f->hole < f->una)
		f->hole = f->una;
	while (f->hole < f->hole_end && sim_bits_has(&f->sacked, f->hole))
		f->hole++;
	return f->hole < f->hole_end;
}

static bool window_open(const struct sim *s, const struct sim_flow *f, uint32_t next)
{
	uint64_t window = s->cfg.rnic.window_bytes;

	return window == 0 || (uint64_t)(next - f->una) * s->cfg.rnic.payload_bytes < window;
}

static bool has_data(const struct sim *s, struct sim_flow *f)
{
	if (f->done || f->oldest == NULL)
		return false;
	if (f->read) { /* what came meanwhile is not sent again */
		if (f->nxt < f->oldest->first)
			f->nxt = f->oldest->first;
		return f->nxt < f->limit;
	}
	if (s->cfg.rnic.recovery == SIM_IRN)
		return sim_irn_ready(s, f) && window_open(s, f, f->nxt);
	if (s->cfg.rnic.recovery == SIM_UNORDERED && find_hole(f))
		return true;
	return f->nxt < f->limit && window_open(s, f, f->nxt);
}

void sim_host_schedule(struct sim *s, struct sim_flow *f)
{
	struct sim_port *port = f->port;

	if (f->ready || f->waiting || !has_data(s, f))
		return;
	if (f->next_at > s->now && f->next_at > port->busy_until) {
		f->waiting = true;
		sim_at(s, &f->wake, f->next_at);
		return;
	}
	f->ready = true;
	f->next_ready = NULL;
	if (port->ring == NULL)
		port->ring = f;
	else
		port->ring_tail->next_ready = f;
	port->ring_tail = f;
	if (!port->free_pending)
		sim_port_kick(s, port);
}

void sim_host_wake(struct sim *s, struct sim_event *event)
{
	struct sim_flow *f = (struct sim_flow *)event;

	f->waiting = false;
	if (f->done)
		sim_flow_idle(s, f);
	else
		sim_host_schedule(s, f);
}

static void time_flow_out(struct sim *s, struct sim_flow *f)
{
	s->n.timeouts++;
	if (f->read) {
		sim_read_again(s, f);
		return;
	}
	if (s->cfg.rnic.recovery == SIM_GO_BACK_N) {
		f->nxt = f->una;
	} else if (s->cfg.rnic.recovery == SIM_IRN) {
		sim_irn_timeout(f);
	} else {
		f->hole = f->una;
		f->hole_end = f->top;
	}
	if (s->lb->timeout != NULL)
		s->lb->timeout(s, f);
	sim_host_arm(s, f);
	sim_host_schedule(s, f);
}

static bool has_unanswered(const struct sim_flow *f)
{
	return f->read ? f->outstanding > 0 : f->una != f->top;
}

/* The shortest time-out that an answer can be waited for with; ps, 0: none. */
static uint64_t shortest_rto(const struct sim *s)
{
	uint64_t rto = s->cfg.rnic.rto_us * SIM_US, low = s->cfg.rnic.rto_low_us * SIM_US;

	if (s->cfg.rnic.recovery == SIM_IRN && (rto == 0 || low < rto))
		return low;
	return rto;
}

static void check_host_timers(struct sim *s, struct sim_event *event)
{
	struct sim_host *h = (struct sim_host *)((char *)event - offsetof(struct sim_host, timer));
	uint64_t next = UINT64_MAX, soon = s->now + shortest_rto(s);
	struct sim_flow *f;

	TAILQ_FOREACH (f, &h->open, open) {
		if (!has_unanswered(f))
			continue;
		if (f->timer_at <= s->now)
			time_flow_out(s, f);
		if (f->timer_at < next)
			next = f->timer_at;
	}
	h->timer_pending = next != UINT64_MAX;
	if (h->timer_pending)
		sim_at(s, event, next < soon ? next : soon);
}

void sim_host_init(struct sim *s, struct sim_host *h, uint32_t node)
{
	*h = (struct sim_host){.node = node, .timer.fire = check_host_timers};
	TAILQ_INIT(&h->open);
}

void sim_host_arm(struct sim *s, struct sim_flow *f)
{
	struct sim_host *h = &s->host[sim_flow_requester(f)];

	bool irn = s->cfg.rnic.recovery == SIM_IRN && !f->read;
	uint64_t rto = irn ? sim_irn_rto(s, f) : s->cfg.rnic.rto_us * SIM_US;

	f->timer_at = rto > 0 ? s->now + rto : UINT64_MAX;
	if (h->timer_pending || rto == 0)
		return;
	h->timer_pending = true;
	sim_at(s, &h->timer, s->now + shortest_rto(s));
}

/* When the next packet may follow one of `bytes`. */
static void pace_flow(struct sim *s, struct sim_flow *f, uint32_t bytes)
{
	uint64_t rate;

	if (!f->own_cc) {
		f->next_at = s->now + sim_port_time(s, f->port, bytes);
		return;
	}
	hp3_dcqcn_sent(&f->rp, sim_host_rp(s, f), bytes, s->now / SIM_NS);
	rate = hp3_dcqcn_rate(&f->rp);
	f->next_at = s->now + (rate == f->port->bps ? sim_port_time(s, f->port, bytes)
						    : bytes * 8 * SIM_SEC / rate);
}

static uint32_t next_psn(const struct sim *s, struct sim_flow *f)
{
	if (!f->read && s->cfg.rnic.recovery == SIM_UNORDERED && find_hole(f))
		return f->hole++;
	return f->nxt++;
}

/* By which port of several? The flow's next packets are asked for there. */
static bool other_port(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	const struct sim_topo *t = &s->topo;
	struct sim_port *out;

	if (t->first_port[f->src + 1] - t->first_port[f->src] == 1)
		return false;
	out = sim_flow_out(s, p, f->src);
	if (out == f->port)
		return false;
	f->port = out;
	sim_port_queue_data(s, out, p);
	return true;
}

static struct sim_packet *make_data(struct sim *s, struct sim_flow *f)
{
	uint32_t psn = next_psn(s, f);
	const struct sim_message *m = sim_flow_message(f, psn);
	uint32_t bytes = sim_message_payload(s, m, psn) + s->cfg.rnic.header_bytes;
	struct sim_packet *p = sim_packet_new(s, SIM_DATA, bytes, f, psn);

	p->sport = f->sport;
	p->arg_psn = m->bytes;
	if (psn == m->first || (f->read && psn == f->resumed))
		p->flags |= SIM_FIRST;
	if (psn + 1 == m->end)
		p->flags |= SIM_LAST;
	s->n.data++;
	s->n.data_bytes += bytes;
	if (psn < f->top) {
		p->flags |= SIM_AGAIN;
		s->n.again++;
		s->n.again_bytes += bytes;
	} else {
		f->top = psn + 1;
	}
	pace_flow(s, f, bytes);
	if (!f->read)
		sim_host_arm(s, f);
	if (s->lb->data != NULL && !s->lb->data(s, f, p))
		return NULL;
	return other_port(s, f, p) ? NULL : p;
}

struct sim_packet *sim_host_next(struct sim *s, struct sim_port *port)
{
	struct sim_flow *f;
	struct sim_packet *p = NULL;

	while (p == NULL && (f = port->ring) != NULL) {
		port->ring = f->next_ready;
		f->ready = false;
		if (f->done) {
			sim_flow_idle(s, f);
		} else if (has_data(s, f)) {
			p = make_data(s, f);
			if (p == NULL)
				sim_host_schedule(s, f);
			if (p == NULL && port->data.head != NULL)
				return sim_port_take_data(port); /* the balancer let others go */
		}
	}
	if (p != NULL) {
		port->busy_until = s->now + sim_port_time(s, port, p->bytes);
		sim_host_schedule(s, p->flow);
	}
	return p;
}

/* Unordered: an ACK names the packet that caused it. */
static void note_named_packet(struct sim_flow *f, uint32_t psn)
{
	if (psn >= f->una && psn < f->top)
		sim_bits_set(&f->sacked, psn);
}

/*
 * A CNP. The RNICs modelled look for CNPs at fixed times, one rate_reduce_monitor_period apart from
 * the first CNP on, and reduce then: a CNP waits for the next look, the first one included. (The
 * reaction point by itself reduces at once when its period has passed.)
 */
static void take_cnp(struct sim *s, struct sim_flow *f)
{
	struct hp3_dcqcn_params rp = *sim_host_rp(s, f);
	uint64_t now = s->now / SIM_NS, period = rp.rate_reduce_monitor_period * UINT64_C(1000);
	bool first = f->rp.reduce_at == 0;

	hp3_dcqcn_advance(&f->rp, &rp, now);
	if (first) {
		rp.rate_to_set_on_first_cnp = rp.rpg_max_rate;
		hp3_dcqcn_cnp(&f->rp, &rp, now);
	} else if (now >= f->rp.reduce_at) {
		f->rp.reduce_at += ((now - f->rp.reduce_at) / period + 1) * period;
	}
	hp3_dcqcn_cnp(&f->rp, &rp, now);
}

void sim_requester_reply(struct sim *s, struct sim_flow *f, const struct sim_packet *p)
{
	if (p->kind != SIM_CNP) {
		if (p->psn > f->una)
			f->una = p->psn;
		if (f->nxt < f->una)
			f->nxt = f->una;
		if (s->cfg.rnic.recovery == SIM_IRN)
			sim_irn_reply(f, p);
		else if (s->cfg.rnic.recovery == SIM_UNORDERED)
			note_named_packet(f, p->arg_psn);
		else if (p->kind == SIM_NAK)
			f->nxt = f->una;
		if (f->una < f->top)
			sim_host_arm(s, f);
	}
	if (s->lb->acked != NULL)
		s->lb->acked(s, f, p);
	if (!f->read)
		sim_flow_progress(s, f, f->una);
	if (f->done)
		return;
	if (f->own_cc && (p->kind == SIM_CNP || (p->flags & SIM_ECHO)))
		take_cnp(s, f);
	sim_host_schedule(s, f);
}
