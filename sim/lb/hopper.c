/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hopper (arXiv 2506.08132) measures the mean RTT of a flow in each round. If it is above 1.5 x the
 * base RTT, Hopper probes two random paths. If the RTT of the faster path is below 80 % of the
 * flow's, the flow moves to this path. Its next packet is delayed by the difference of the RTTs, so
 * that it does not overtake earlier packets. The figures are those that readers of the paper give.
 * A probe that is not answered within four base RTTs counts as lost.
 */
#include "sim/host/host.h"
#include "sim/lb/lb.h"
#include "sim/lb/rounds.h"

#define PROBES             2u
#define HOPPER_PROBE_BYTES 64u
#define TRIGGER_PERCENT    150u
#define BETTER_PERCENT     80u
#define LOST_RTTS          4u

struct hopper {
	struct sim_round round;
	uint64_t rtt_sum; /* ps, of this round */
	uint64_t rtt; /* of the last one */
	uint64_t base, asked_at, best_rtt;
	uint16_t best;
	uint8_t awaited;
};

static void start_hopper_flow(struct sim *s, struct sim_flow *f)
{
	struct hopper *h = (struct hopper *)f->lb;
	struct sim_distance d =
		sim_topo_distance(&s->topo, f->src, f->dst, s->cfg.rnic.payload_bytes);

	h->base = 2 * d.delay + d.serialise;
}

static void probe_hopper_ports(struct sim *s, struct sim_flow *f, struct hopper *h)
{
	h->awaited = PROBES;
	h->asked_at = s->now;
	h->best_rtt = UINT64_MAX;
	for (unsigned i = 0; i < PROBES; i++) {
		struct sim_packet *p = sim_packet_new(s, SIM_PROBE, HOPPER_PROBE_BYTES, f, f->nxt);

		p->sport = hp3_random_port(&s->rng);
		s->n.probes++;
		s->n.probe_bytes += HOPPER_PROBE_BYTES;
		sim_port_queue_control(s, f->port, p);
	}
}

static void decide_port(struct sim *s, struct sim_flow *f, struct hopper *h)
{
	h->awaited = 0;
	if (h->best_rtt * 100 >= h->rtt * BETTER_PERCENT)
		return;
	f->sport = h->best;
	s->n.moves++;
	if (f->next_at < s->now + h->rtt - h->best_rtt)
		f->next_at = s->now + h->rtt - h->best_rtt;
}

static void measure_ack(struct sim *s, struct sim_flow *f, const struct sim_packet *ack)
{
	struct hopper *h = (struct hopper *)f->lb;

	if (ack->kind == SIM_CNP)
		return;
	h->rtt_sum += s->now - ack->sent_at;
	if (!sim_round_ack(&h->round, f, ack))
		return;
	h->rtt = h->rtt_sum / h->round.acks;
	h->rtt_sum = 0;
	sim_round_next(&h->round, f);
	if (h->awaited > 0 && s->now - h->asked_at > LOST_RTTS * h->base + h->rtt)
		h->awaited = 0;
	if (h->awaited == 0 && f->nxt < f->packets && h->rtt * 100 > h->base * TRIGGER_PERCENT)
		probe_hopper_ports(s, f, h);
}

/* The responder echoes probes; the requester takes the faster of the answers. */
static void take_hopper_packet(struct sim *s, struct sim_host *host, struct sim_packet *p)
{
	struct sim_flow *f = p->flow;
	struct hopper *h = (struct hopper *)f->lb;
	struct sim_packet *echo;

	if (f->done)
		return;
	if (p->kind == SIM_PROBE) {
		echo = sim_packet_new(s, SIM_PROBE_REPLY, HOPPER_PROBE_BYTES, f, p->psn);
		echo->sent_at = p->sent_at;
		echo->sport = p->sport;
		s->n.probe_bytes += HOPPER_PROBE_BYTES;
		sim_port_queue_control(s, p->to, echo);
		return;
	}
	if (h->awaited == 0 || p->sent_at != h->asked_at)
		return;
	if (s->now - p->sent_at < h->best_rtt) {
		h->best_rtt = s->now - p->sent_at;
		h->best = p->sport;
	}
	if (--h->awaited == 0)
		decide_port(s, f, h);
}

const struct sim_lb sim_lb_hopper = {
	.name = "hopper",
	.about = "moves to a probed path with a lower RTT; in hosts, needs rnic.recovery=irn "
		 "(arXiv 2506.08132)",
	.flow_bytes = sizeof(struct hopper),
	.flow_start = start_hopper_flow,
	.acked = measure_ack,
	.other = take_hopper_packet,
};
