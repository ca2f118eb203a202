/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CONGA (Alizadeh et al., SIGCOMM 2014): flowlets take the path with the least congestion, the
 * greatest of its links' utilisation. Each egress port of a switch estimates its rate: a sum of
 * bytes that decays by alpha every dre_us; packets carry the greatest quantised estimate of their
 * path. The destination leaf stores this metric per path, and returns the metric of one path in
 * each packet of the reverse direction. A metric that was not updated for age_us counts as 0.
 *
 * As in ConWeave's evaluation: gap 100 us, interval 50 us, alpha 0.2, 3 bits, ageing 500 us, and of
 * the paths `samples` neighbouring ones are compared, from a random one on; ties at random.
 */
#include <errno.h>
#include <stdlib.h>
#include "sim/lb/lb.h"
#include "sim/lb/paths.h"

#define NO_PATH UINT16_MAX

struct metric {
	uint64_t heard; /* ps; 0: never */
	uint8_t ce;
};

struct leaf_pair {
	struct metric *to, *from; /* by path: of ours towards it, of its towards us */
};

struct conga {
	struct sim_paths *paths;
	struct leaf_pair *pair; /* here * leaves + there */
	uint32_t *bytes; /* rate estimator of each port */
	uint64_t *decayed; /* ps, number of the interval it is as of */
};

static int start_conga(struct sim *s)
{
	struct sim_paths *paths = sim_paths_new(s);
	struct conga *c;

	if (paths == NULL)
		return -EOPNOTSUPP;
	s->lb_state = c = sim_alloc(1, sizeof(*c));
	c->paths = paths;
	c->pair = sim_alloc((size_t)c->paths->leaves * c->paths->leaves, sizeof(*c->pair));
	c->bytes = sim_alloc(s->topo.n_ports, sizeof(*c->bytes));
	c->decayed = sim_alloc(s->topo.n_ports, sizeof(*c->decayed));
	return 0;
}

static void stop_conga(struct sim *s)
{
	struct conga *c = s->lb_state;

	for (uint32_t i = 0; i < c->paths->leaves * c->paths->leaves; i++) {
		free(c->pair[i].to);
		free(c->pair[i].from);
	}
	sim_paths_free(c->paths);
	free(c->pair);
	free(c->bytes);
	free(c->decayed);
	free(c);
}

/* The estimator as of now: its decay is caught up with when it is looked at. */
static uint32_t estimate_rate(struct sim *s, struct conga *c, uint32_t port)
{
	uint64_t interval = s->now / (s->cfg.conga.dre_us * SIM_US);

	for (; c->decayed[port] < interval && c->bytes[port] > 0; c->decayed[port]++)
		c->bytes[port] = (uint32_t)((uint64_t)c->bytes[port] *
					    (100 - s->cfg.conga.alpha_percent) / 100);
	c->decayed[port] = interval;
	return c->bytes[port];
}

/* Estimate over capacity (rate x interval / alpha), in 2^-bits. */
static uint8_t quantised_rate(struct sim *s, struct conga *c, uint32_t port)
{
	uint64_t bits = (uint64_t)estimate_rate(s, c, port) * 8 << s->cfg.conga.bits;
	uint64_t per_interval = s->port[port].bps / 1000000 * s->cfg.conga.dre_us;
	uint64_t q = bits * s->cfg.conga.alpha_percent / 100 / per_interval;

	return q > UINT8_MAX ? UINT8_MAX : (uint8_t)q;
}

static struct leaf_pair *leaf_pair(struct conga *c, uint32_t here, uint32_t there, uint16_t n)
{
	struct leaf_pair *lp = &c->pair[here * c->paths->leaves + there];

	if (lp->to == NULL) {
		lp->to = sim_alloc(n, sizeof(*lp->to));
		lp->from = sim_alloc(n, sizeof(*lp->from));
	}
	return lp;
}

static bool is_metric_fresh(const struct sim *s, const struct metric *m)
{
	return m->heard != 0 && s->now - m->heard <= s->cfg.conga.age_us * SIM_US;
}

static uint16_t best_path(struct sim *s, struct conga *c, const struct sim_where *w)
{
	struct leaf_pair *lp = leaf_pair(c, w->src, w->dst, w->paths->n);
	uint16_t n = w->paths->n, samples = (uint16_t)s->cfg.conga.samples, first = 0, ties = 0;
	uint16_t best = sim_paths_draw(s, w->paths);
	uint32_t least = UINT32_MAX;

	if (samples > n)
		samples = n;
	first = (uint16_t)sim_rand_below(s, n - samples + 1u);
	for (uint16_t i = first; i < first + samples; i++) {
		uint32_t ce = quantised_rate(s, c, w->paths->path[i].port[0]);

		if (!sim_path_usable(s, w->paths, i))
			continue;
		if (is_metric_fresh(s, &lp->to[i]) && lp->to[i].ce > ce)
			ce = lp->to[i].ce;
		if (ce < least) {
			least = ce;
			ties = 0;
		}
		if (ce == least && sim_rand_below(s, ++ties) == 0)
			best = i;
	}
	return best;
}

/* One path's metric, drawn from those known, travels back with this packet. */
static void give_feedback(
	struct sim *s, struct conga *c, const struct sim_where *w, struct sim_packet *p)
{
	struct leaf_pair *lp = leaf_pair(c, w->src, w->dst, w->paths->n);
	uint32_t known = 0;

	p->tag.conga.fb_path = NO_PATH;
	for (uint16_t i = 0; i < w->paths->n; i++) {
		if (is_metric_fresh(s, &lp->from[i]) && sim_rand_below(s, ++known) == 0) {
			p->tag.conga.fb_path = i;
			p->tag.conga.fb_ce = lp->from[i].ce;
		}
	}
}

static void depart_from_conga_leaf(
	struct sim *s, struct conga *c, const struct sim_where *w, struct sim_packet *p)
{
	struct sim_flowlet *fl = (struct sim_flowlet *)p->flow->lb;

	give_feedback(s, c, w, p);
	if (sim_flowlet_begins(s, fl, w->paths, s->cfg.conga.gap_us))
		fl->path = best_path(s, c, w);
	p->path = fl->path;
	p->tag.conga.ce = 0;
}

static void arrive_at_leaf(
	struct sim *s, struct conga *c, const struct sim_where *w, struct sim_packet *p)
{
	uint16_t n = sim_paths_pair(s, c->paths, w->dst, w->src)->n;
	struct leaf_pair *lp = leaf_pair(c, w->dst, w->src, n);

	if (p->tag.conga.fb_path != NO_PATH)
		lp->to[p->tag.conga.fb_path] =
			(struct metric){.heard = s->now, .ce = p->tag.conga.fb_ce};
	lp->from[p->path] = (struct metric){.heard = s->now, .ce = p->tag.conga.ce};
}

static bool route_conga(
	struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out)
{
	struct conga *c = s->lb_state;
	struct sim_where w = sim_paths_where(s, c->paths, sw, p);
	uint8_t ce;

	if (w.place == SIM_TARGET)
		arrive_at_leaf(s, c, &w, p);
	if (w.place == SIM_SOURCE)
		depart_from_conga_leaf(s, c, &w, p);
	*out = sim_paths_port(s, sw, &w, p);
	if (w.place == SIM_OTHER || w.place == SIM_TARGET)
		return true;
	estimate_rate(s, c, (*out)->number);
	c->bytes[(*out)->number] += p->bytes;
	ce = quantised_rate(s, c, (*out)->number);
	if (ce > p->tag.conga.ce)
		p->tag.conga.ce = ce;
	return true;
}

const struct sim_lb sim_lb_conga = {
	.name = "conga",
	.about = "flowlets to the least congested path; in switches (SIGCOMM 2014)",
	.flow_bytes = sizeof(struct sim_flowlet),
	.start = start_conga,
	.stop = stop_conga,
	.route = route_conga,
};
