/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * READs. The requester is at the host that receives the data. It has up to rnic.read_depth requests
 * outstanding, in order. After a gap in the responses, a NAK or a time-out, it requests again from
 * the PSN that it expects (IBTA 9.7.5.2.3: an implied NAK). The responder sends the requested data
 * at its own rate, which CNPs of the requester reduce. It stores nothing about data that it has
 * sent.
 */
#include "base/minmax.h"
#include "sim/host/host.h"
#include "sim/lb/lb.h"

#define REQUEST_BYTES 78u /* Ethernet, IPv4, UDP, BTH, RETH, ICRC */
#define NAK_PSN_NONE  UINT32_MAX

static void send_read_request(
	struct sim *s, struct sim_flow *f, const struct sim_message *m, uint32_t from)
{
	struct sim_packet *p = sim_packet_new(s, SIM_READ, REQUEST_BYTES, f, from);

	p->arg_psn = m->bytes - (from - m->first) * s->cfg.rnic.payload_bytes;
	p->sport = f->home;
	s->n.reads++;
	sim_host_arm(s, f);
	if (s->lb->data == NULL || s->lb->data(s, f, p))
		sim_port_queue_data(s, sim_flow_out(s, p, f->dst), p);
}

void sim_read_ask(struct sim *s, struct sim_flow *f)
{
	if (!f->up)
		return;
	while (f->unasked != NULL && f->outstanding < s->cfg.rnic.read_depth) {
		const struct sim_message *m = f->unasked;

		f->unasked = m->next;
		f->outstanding++;
		send_read_request(s, f, m, m->first);
	}
}

void sim_read_up(struct sim *s, struct sim_event *event)
{
	struct sim_flow *f = (struct sim_flow *)event;

	f->waiting = false;
	f->wake.fire = sim_host_wake;
	f->up = true;
	sim_read_ask(s, f);
}

void sim_read_again(struct sim *s, struct sim_flow *f)
{
	const struct sim_message *m = f->oldest;

	for (uint32_t n = f->outstanding; n > 0; n--, m = m->next)
		send_read_request(s, f, m, hp3_max_u32(m->first, f->expected));
}

/* The requester: one implied NAK per gap, again only when nak_us have passed. */
static void nak_read_gap(struct sim *s, struct sim_flow *f)
{
	if (f->nak_psn == f->expected && s->now < f->nak_until)
		return;
	f->nak_psn = f->expected;
	f->nak_until = s->now + s->cfg.rnic.nak_us * SIM_US;
	sim_read_again(s, f);
}

void sim_read_response(struct sim *s, struct sim_port *in, struct sim_packet *p)
{
	struct sim_flow *f = p->flow;

	if (p->flags & SIM_CE)
		sim_notify(s, in, p);
	if (p->psn == f->expected) {
		s->n.delivered++;
		f->expected++;
		while (f->expected < f->packets && sim_bits_has(&f->got, f->expected))
			f->expected++;
		f->nak_psn = NAK_PSN_NONE;
		sim_host_arm(s, f);
		sim_flow_progress(s, f, f->expected);
		if (!f->done)
			sim_read_ask(s, f);
	} else if (p->psn < f->expected || sim_bits_has(&f->got, p->psn)) {
		s->n.duplicates++;
	} else if (s->cfg.rnic.recovery == SIM_UNORDERED) {
		sim_bits_set(&f->got, p->psn);
		s->n.delivered++;
	} else {
		nak_read_gap(s, f);
	}
}

/* The responder. A request behind one that was lost: one NAK, which names what is missing. */
void sim_read_request(struct sim *s, struct sim_port *in, struct sim_packet *p)
{
	struct sim_flow *f = p->flow;
	uint32_t payload = s->cfg.rnic.payload_bytes;

	if (p->psn > f->limit) {
		if (s->now < f->refused_until)
			return;
		f->refused_until = s->now + s->cfg.rnic.nak_us * SIM_US;
		sim_reply(s, in, p, SIM_NAK, f->limit, false);
		return;
	}
	if (p->psn == f->limit)
		f->limit += (p->arg_psn + payload - 1) / payload;
	else if (p->psn < f->nxt) /* again: what was asked for behind it follows, too */
		f->nxt = f->resumed = p->psn;
	sim_host_schedule(s, f);
}
