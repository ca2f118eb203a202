/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives; the responder: what came in order, what did not, and what the requester is told. */
#include "sim/host/host.h"
#include "sim/lb/lb.h"
#include "sim/results/capture.h"

#define CNP_BYTES 64u

void sim_reply(struct sim *s, struct sim_port *in, const struct sim_packet *cause, uint8_t kind,
	uint32_t psn, bool echo)
{
	uint32_t bytes = kind == SIM_CNP ? CNP_BYTES : s->cfg.rnic.ack_bytes;
	struct sim_packet *p = sim_packet_new(s, kind, bytes, cause->flow, psn);

	p->sent_at = cause->sent_at;
	p->sport = cause->sport;
	p->path = cause->path;
	p->arg = cause->arg;
	p->arg_psn = cause->psn;
	if (echo)
		p->flags |= SIM_ECHO;
	if (kind == SIM_CNP)
		s->n.cnps++;
	else if (kind == SIM_NAK)
		s->n.naks++;
	else
		s->n.acks++;
	if (s->lb->answers != NULL)
		s->lb->answers(s, p->flow, p);
	sim_port_queue_control(s, in, p);
}

static void reply_to_data(
	struct sim *s, struct sim_port *in, const struct sim_packet *data, uint8_t kind, bool echo)
{
	sim_reply(s, in, data, kind, data->flow->expected, echo);
}

/*
 * One NAK per gap, again only when nak_us have passed. It carries the echo of congestion, as the
 * ns-3 models of ConnectX have it: the requester slows down.
 */
static void nak_data_gap(struct sim *s, struct sim_port *in, const struct sim_packet *p)
{
	struct sim_flow *f = p->flow;

	if (f->nak_psn == f->expected && s->now < f->nak_until)
		return;
	f->nak_psn = f->expected;
	f->nak_until = s->now + s->cfg.rnic.nak_us * SIM_US;
	reply_to_data(s, in, p, SIM_NAK, true);
}

static void in_sequence(struct sim *s, struct sim_port *in, const struct sim_packet *p)
{
	struct sim_flow *f = p->flow;

	f->expected++;
	while (f->expected < f->packets && sim_bits_has(&f->got, f->expected))
		f->expected++;
	f->ack_wait++;
	f->echo |= (p->flags & SIM_CE) != 0;
	if (f->ack_wait < s->cfg.rnic.ack_every && !(p->flags & (SIM_LAST | SIM_ACKREQ)) &&
		f->got.words == 0)
		return;
	reply_to_data(s, in, p, s->cfg.rnic.recovery == SIM_IRN ? sim_irn_answer(f) : SIM_ACK,
		f->echo && s->cfg.rnic.feedback == SIM_FEEDBACK_ACK);
	f->ack_wait = 0;
	f->echo = false;
}

static void out_of_sequence(struct sim *s, struct sim_port *in, const struct sim_packet *p)
{
	struct sim_flow *f = p->flow;
	bool echo = (p->flags & SIM_CE) && s->cfg.rnic.feedback == SIM_FEEDBACK_ACK;

	if (s->cfg.rnic.recovery == SIM_GO_BACK_N) {
		nak_data_gap(s, in, p);
		return;
	}
	if (s->cfg.rnic.recovery == SIM_IRN) {
		if (sim_irn_keep(s, f, p->psn))
			reply_to_data(s, in, p, SIM_NAK, true);
		return;
	}
	if (sim_bits_has(&f->got, p->psn)) {
		s->n.duplicates++;
	} else {
		sim_bits_set(&f->got, p->psn);
		s->n.delivered++;
	}
	reply_to_data(s, in, p, SIM_ACK, echo);
}

/* Congestion by a packet of its own: a notification point with its interval. */
void sim_notify(struct sim *s, struct sim_port *in, const struct sim_packet *p)
{
	struct hp3_np_params np = {
		.min_time_between_cnps = s->cfg.rnic.cnp_interval_us, .mode = HP3_NP_CNP};

	if (hp3_np_ce(&p->flow->np, &np, true, s->now / SIM_NS) == HP3_NP_SEND_CNP)
		reply_to_data(s, in, p, SIM_CNP, false);
}

static bool is_psn_missing(const struct sim_flow *f, uint32_t psn)
{
	return psn >= f->expected && !sim_bits_has(&f->got, psn);
}

static void receive_data(struct sim *s, struct sim_port *in, struct sim_packet *p)
{
	struct sim_flow *f = p->flow;

	if (!(p->flags & SIM_AGAIN)) {
		if (p->psn >= f->highest)
			f->highest = p->psn + 1;
		else if (is_psn_missing(f, p->psn)) /* else its repetition has come before */
			s->n.reordered++;
	}
	if (p->flags & SIM_CE)
		s->n.marked++;
	if (f->read) {
		sim_read_response(s, in, p);
		return;
	}
	if ((p->flags & SIM_CE) && s->cfg.rnic.feedback == SIM_FEEDBACK_CNP)
		sim_notify(s, in, p);
	if (p->psn == f->expected) {
		s->n.delivered++;
		in_sequence(s, in, p);
	} else if (p->psn > f->expected) {
		out_of_sequence(s, in, p);
	} else {
		s->n.duplicates++;
		reply_to_data(s, in, p,
			s->cfg.rnic.recovery == SIM_IRN ? sim_irn_answer(f) : SIM_ACK,
			(p->flags & SIM_CE) && s->cfg.rnic.feedback == SIM_FEEDBACK_ACK);
	}
}

void sim_rnic_data(struct sim *s, struct sim_packet *p)
{
	if (p->flow->done)
		s->n.dropped[SIM_DROP_LATE]++;
	else if (p->kind == SIM_DATA)
		receive_data(s, p->to, p);
	else
		sim_read_again(s, p->flow);
	sim_packet_end(s, p);
}

/* For the RNIC; of READs a balancer in the host sees both streams. False: the balancer has it. */
static bool receive_packet(struct sim *s, struct sim_port *in, struct sim_packet *p)
{
	struct sim_flow *f = p->flow;

	if ((p->kind == SIM_DATA || (p->kind == SIM_NAK && f->read)) && s->lb->arrived != NULL &&
		!s->lb->arrived(s, f, p))
		return false;
	if ((f->read || p->kind != SIM_DATA) && s->lb->reply != NULL && !s->lb->reply(s, f, p))
		return true;
	if (p->kind == SIM_DATA)
		receive_data(s, in, p);
	else if (p->kind == SIM_READ)
		sim_read_request(s, in, p);
	else if (p->kind == SIM_NAK && f->read)
		sim_read_again(s, f);
	else
		sim_requester_reply(s, f, p);
	return true;
}

void sim_host_receive(struct sim *s, struct sim_port *in, struct sim_packet *p)
{
	if (s->capture != NULL)
		sim_capture_packet(s, in->node, p);
	if (p->kind == SIM_PFC) {
		sim_port_pfc(s, in, p->psn);
	} else if (p->kind >= SIM_CTRL) {
		if (s->lb->other != NULL)
			s->lb->other(s, &s->host[in->node], p);
	} else if (p->flow->done) {
		s->n.dropped[SIM_DROP_LATE]++;
	} else if (!receive_packet(s, in, p)) {
		return;
	}
	sim_packet_end(s, p);
}
