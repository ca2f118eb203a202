/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sprays of STELLAR (SIGCOMM 2025): an RNIC of its own makes, which takes packets in any order,
 * sends every packet of a flow on one of stellar.paths source ports. One congestion control for all
 * paths; loss is found by a time-out of stellar.rto_us alone. Which path:
 *
 * stellar-obs      oblivious: at random
 * stellar-rr       round robin
 * stellar-dwrr     round robin in proportion to 1 / smoothed RTT
 * stellar-bestrtt  the least smoothed RTT; paths not measured yet first
 * stellar-mprdma   after MP-RDMA (NSDI 2018): the path whose ACK came back unmarked gets the next
 *                  packet; where there is none, at random
 *
 * RTTs are smoothed by 1/8 (RFC 6298). The paper gives no weights for DWRR and no details of
 * BestRTT; these are ours.
 */
#include "sim/host/host.h"
#include "sim/lb/lb.h"

#define PATHS_MAX 256u

struct stellar {
	uint64_t ports; /* seed of the flow's source ports */
	uint16_t turn; /* round robin; mprdma: number of credits */
	uint32_t rtt[PATHS_MAX]; /* ns, 0: not measured */
	union {
		uint32_t deficit[PATHS_MAX]; /* dwrr */
		uint8_t credit[PATHS_MAX]; /* mprdma: stack of paths */
	};
};

static int start_stellar(struct sim *s)
{
	s->cfg.rnic.recovery = SIM_UNORDERED;
	s->cfg.rnic.rto_us = s->cfg.stellar.rto_us;
	return 0;
}

static struct stellar *stellar_of(struct sim_flow *f)
{
	return (struct stellar *)f->lb;
}

static void start_stellar_flow(struct sim *s, struct sim_flow *f)
{
	stellar_of(f)->ports = hp3_random(&s->rng);
}

static bool use_path(struct sim_flow *f, struct sim_packet *p, uint32_t path)
{
	uint64_t state = stellar_of(f)->ports + path;

	if (p->kind != SIM_DATA)
		return true; /* READ requests are executed in order: they keep to one path */
	p->arg = (uint16_t)path;
	p->sport = hp3_random_port(&state);
	return true;
}

static bool data_obs(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	return use_path(f, p, sim_rand_below(s, s->cfg.stellar.paths));
}

static bool data_rr(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	return use_path(f, p, stellar_of(f)->turn++ % s->cfg.stellar.paths);
}

/* Smooth weighted round robin: each turn every path gains its weight, the richest pays for all. */
static bool data_dwrr(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct stellar *st = stellar_of(f);
	uint32_t n = s->cfg.stellar.paths, best = 0, total = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t weight = st->rtt[i] > 0 ? 100000000 / st->rtt[i] : 10000;

		total += weight;
		st->deficit[i] += weight;
		if (st->deficit[i] > st->deficit[best])
			best = i;
	}
	st->deficit[best] = st->deficit[best] > total ? st->deficit[best] - total : 0;
	return use_path(f, p, best);
}

static bool data_bestrtt(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct stellar *st = stellar_of(f);
	uint32_t n = s->cfg.stellar.paths, best = st->turn++ % n;

	if (st->turn > n)
		for (uint32_t i = 0; i < n; i++)
			if (st->rtt[i] < st->rtt[best])
				best = i;
	return use_path(f, p, best);
}

static bool data_mprdma(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct stellar *st = stellar_of(f);

	if (st->turn > 0)
		return use_path(f, p, st->credit[--st->turn]);
	return use_path(f, p, sim_rand_below(s, s->cfg.stellar.paths));
}

static void acked_rtt(struct sim *s, struct sim_flow *f, const struct sim_packet *ack)
{
	struct stellar *st = stellar_of(f);
	uint32_t now = (uint32_t)((s->now - ack->sent_at) / SIM_NS), *rtt = &st->rtt[ack->arg];

	if (ack->kind != SIM_CNP)
		*rtt = *rtt == 0 ? now : *rtt - *rtt / 8 + now / 8;
}

static void acked_mprdma(struct sim *s, struct sim_flow *f, const struct sim_packet *ack)
{
	struct stellar *st = stellar_of(f);

	if (ack->kind == SIM_ACK && !(ack->flags & SIM_ECHO) && st->turn < PATHS_MAX)
		st->credit[st->turn++] = (uint8_t)ack->arg;
}

#define STELLAR(id, text, what, choose, learn)                                                     \
	const struct sim_lb sim_lb_stellar_##id = {                                                \
		.name = "stellar-" text,                                                           \
		.about = "spraying by RNICs: " what " (SIGCOMM 2025)",                             \
		.flow_bytes = sizeof(struct stellar),                                              \
		.start = start_stellar,                                                            \
		.flow_start = start_stellar_flow,                                                  \
		.data = choose,                                                                    \
		.acked = learn,                                                                    \
	}

STELLAR(obs, "obs", "a random entropy value for each packet", data_obs, NULL);
STELLAR(rr, "rr", "entropy values in turn", data_rr, NULL);
STELLAR(dwrr, "dwrr", "entropy values weighted by RTT", data_dwrr, acked_rtt);
STELLAR(bestrtt, "bestrtt", "the entropy value with the lowest RTT", data_bestrtt, acked_rtt);
STELLAR(mprdma, "mprdma", "the entropy value whose ACK had no mark", data_mprdma, acked_mprdma);
