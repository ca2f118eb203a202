/* SPDX-License-Identifier: BSD-3-Clause */
/* Hermes: which path a packet takes (hermes.h). */
#include "sim/lb/hermes.h"
#include <errno.h>
#include <stdlib.h>
#include "sim/lb/lb.h"

#define RATE_WINDOW_US 100u /* bytes of late: half of those of the last 50 us, a quarter ... */

static uint64_t or_else(uint32_t us, uint64_t otherwise)
{
	return us > 0 ? us * SIM_US : otherwise;
}

static int start_hermes(struct sim *s)
{
	uint64_t hop = s->cfg.fabric.kmin_bytes * UINT64_C(8000000) / s->cfg.fabric.core_mbps;
	struct hermes *h = sim_alloc(1, sizeof(*h));

	s->lb_state = h;
	h->paths = sim_paths_new(s);
	if (h->paths == NULL)
		return -EOPNOTSUPP;
	h->row = sim_alloc((size_t)s->topo.hosts * h->paths->leaves, sizeof(struct hermes_path *));
	h->rtt_low = or_else(s->cfg.hermes.rtt_low_us, s->topo.max_rtt + hop / 4);
	h->rtt_high = or_else(s->cfg.hermes.rtt_high_us, s->topo.max_rtt + hop * 3 / 2);
	h->delta_rtt = or_else(s->cfg.hermes.delta_rtt_us, hop);
	hermes_agents(s, h);
	return 0;
}

static void stop_hermes(struct sim *s)
{
	struct hermes *h = s->lb_state;

	if (h->paths != NULL) {
		for (size_t i = 0; i < (size_t)s->topo.hosts * h->paths->leaves; i++)
			free(h->row[i]);
		hermes_agents_free(h);
		sim_paths_free(h->paths);
	}
	free(h->row);
	free(h);
}

static const struct sim_pair_paths *paths_of_flow(
	struct sim *s, const struct hermes *h, struct sim_flow *f)
{
	return sim_paths_pair(s, h->paths, sim_paths_leaf(s, h->paths, f->src),
		sim_paths_leaf(s, h->paths, f->dst));
}

/*
 * Of the paths of a class the one that this host sends least on, of equals one at random; -1: there
 * is none. from: only those notably better than this one.
 */
static int least_used(struct sim *s, struct hermes *h, struct sim_flow *f, enum hermes_class class,
	const struct hermes_path *from)
{
	const struct sim_pair_paths *pp = paths_of_flow(s, h, f);
	struct hermes_path *row = hermes_paths(s, h, f->src, f->dst);
	uint64_t least = UINT64_MAX;
	uint32_t ties = 0;
	int best = -1;

	for (uint16_t i = 0; i < pp->n; i++) {
		uint64_t rate = hermes_rate(s, &row[i].rate, &row[i].rate_at, 0);

		if (hermes_class(s, h, &row[i]) != class || rate > least ||
			!sim_path_usable(s, pp, i) ||
			(from != NULL && !hermes_better(s, h, &row[i], from)))
			continue;
		if (rate < least)
			ties = 0;
		least = rate;
		if (sim_rand_below(s, ++ties) == 0)
			best = i;
	}
	return best;
}

static uint16_t choose_path(struct sim *s, struct hermes *h, struct sim_flow *f)
{
	int path = -1;

	for (enum hermes_class c = HERMES_GOOD; path < 0 && c < HERMES_FAILED; c++)
		path = least_used(s, h, f, c, NULL);
	return path >= 0 ? (uint16_t)path : sim_paths_draw(s, paths_of_flow(s, h, f));
}

/* Long enough, and slow enough, to gain by leaving a congested path? */
static bool may_move(const struct sim *s, const struct sim_flow *f, struct hermes_flow *x)
{
	uint64_t full = f->port->bps / 8 * RATE_WINDOW_US / 1000000;

	return x->sent > s->cfg.hermes.sent_bytes &&
	       hermes_rate(s, &x->rate, &x->rate_at, 0) * 100 < full * s->cfg.hermes.rate_percent;
}

static uint16_t path_of(struct sim *s, struct hermes *h, struct sim_flow *f)
{
	struct hermes_flow *x = hermes_of(f);
	struct hermes_path *row = hermes_paths(s, h, f->src, f->dst), *now = &row[x->path];
	enum hermes_class class = hermes_class(s, h, now);
	int path;

	if (!x->known || x->timed_out || class == HERMES_FAILED ||
		!sim_path_usable(s, paths_of_flow(s, h, f), x->path))
		return choose_path(s, h, f);
	if (class != HERMES_CONGESTED || !may_move(s, f, x))
		return x->path;
	path = least_used(s, h, f, HERMES_GOOD, now);
	if (path < 0)
		path = least_used(s, h, f, HERMES_GRAY, now);
	return path >= 0 ? (uint16_t)path : x->path;
}

static bool set_packet_path(struct sim *s, struct sim_flow *f, struct sim_packet *p)
{
	struct hermes *h = s->lb_state;
	struct hermes_flow *x = hermes_of(f);

	if (p->kind != SIM_DATA || s->topo.leaf[f->src] == s->topo.leaf[f->dst])
		return true;
	p->path = path_of(s, h, f);
	if (!x->known || p->path != x->path) {
		s->n.moves += x->known;
		x->sent = 0;
	}
	x->path = p->path;
	x->known = true;
	x->timed_out = false;
	x->sent += p->bytes;
	hermes_rate(s, &x->rate, &x->rate_at, p->bytes);
	hermes_sent(s, &hermes_paths(s, h, f->src, f->dst)[p->path], p->bytes);
	return true;
}

static void learn_from_ack(struct sim *s, struct sim_flow *f, const struct sim_packet *ack)
{
	struct hermes *h = s->lb_state;
	struct hermes_path *p;

	if (s->topo.leaf[f->src] == s->topo.leaf[f->dst])
		return;
	p = &hermes_paths(s, h, f->src, f->dst)[ack->path];
	hermes_heard(s, p, s->now - ack->sent_at,
		ack->kind == SIM_CNP || (ack->kind == SIM_ACK && (ack->flags & SIM_ECHO)));
	if (ack->kind == SIM_NAK)
		hermes_missed(s, h, p);
}

static void timed_out(struct sim *s, struct sim_flow *f)
{
	struct hermes_flow *x = hermes_of(f);

	x->timed_out = true;
	if (x->known && s->topo.leaf[f->src] != s->topo.leaf[f->dst])
		hermes_timed_out(s, &hermes_paths(s, s->lb_state, f->src, f->dst)[x->path]);
}

static bool route_hermes(
	struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out)
{
	struct hermes *h = s->lb_state;
	struct sim_where w = sim_paths_where(s, h->paths, sw, p);

	*out = sim_paths_port(s, sw, &w, p);
	return true;
}

const struct sim_lb sim_lb_hermes = {
	.name = "hermes",
	.about = "reroutes packets by marks and RTTs of paths; in hosts (SIGCOMM 2017)",
	.flow_bytes = sizeof(struct hermes_flow),
	.start = start_hermes,
	.stop = stop_hermes,
	.route = route_hermes,
	.data = set_packet_path,
	.acked = learn_from_ack,
	.timeout = timed_out,
	.other = hermes_other,
};
