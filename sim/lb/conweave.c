/* SPDX-License-Identifier: BSD-3-Clause */
/* ConWeave: the balancer's table, and the source leaf. */
#include <errno.h>
#include <stdlib.h>
#include "sim/lb/conweave.h"
#include "sim/lb/lb.h"

static uint64_t or_by_tiers(const struct sim *s, uint32_t us, uint32_t two, uint32_t three)
{
	if (us == 0)
		us = s->topo.tiers <= 2 ? two : three;
	return us * SIM_US;
}

static int start_conweave(struct sim *s)
{
	struct sim_paths *paths = sim_paths_new(s);
	struct conweave *c;

	if (paths == NULL)
		return -EOPNOTSUPP;
	s->lb_state = c = sim_alloc(1, sizeof(*c));
	c->paths = paths;
	c->marked = sim_alloc((size_t)c->paths->leaves * c->paths->leaves, sizeof(*c->marked));
	sim_pool_init(&c->timers, sizeof(struct sim_event) + sizeof(void *));
	c->reply = s->cfg.conweave.reply_us * SIM_US;
	c->pause = s->cfg.conweave.pause_us * SIM_US;
	c->flush = or_by_tiers(s, s->cfg.conweave.flush_us, 16, 64);
	c->wait = or_by_tiers(s, s->cfg.conweave.wait_us, 200, 600);
	c->expiry = or_by_tiers(s, s->cfg.conweave.expiry_us, 300, 1000);
	return 0;
}

static void stop_conweave(struct sim *s)
{
	struct conweave *c = s->lb_state;

	for (uint32_t i = 0; i < c->paths->leaves * c->paths->leaves; i++)
		free(c->marked[i]);
	free(c->marked);
	sim_pool_free(&c->timers);
	sim_paths_free(c->paths);
	free(c);
}

static uint64_t *marked_paths(struct conweave *c, uint32_t src, uint32_t dst, uint16_t n)
{
	uint64_t **m = &c->marked[src * c->paths->leaves + dst];

	if (*m == NULL)
		*m = sim_alloc(n, sizeof(**m));
	return *m;
}

/* Of two paths the first that is not avoided: true. False: *path is the first, avoided or not. */
static bool draw_path(struct sim *s, struct conweave *c, const struct sim_where *w, uint16_t *path)
{
	const uint64_t *until = marked_paths(c, w->src, w->dst, w->paths->n);
	uint16_t a = sim_paths_draw(s, w->paths), b = sim_paths_draw(s, w->paths);

	*path = until[a] > s->now && until[b] <= s->now ? b : a;
	return until[*path] <= s->now;
}

static uint64_t base_rtt(const struct sim *s, const struct sim_pair_paths *pp)
{
	uint64_t delay = 0;

	for (uint8_t i = 0; i < pp->hops; i++)
		delay += s->port[pp->path[0].port[i]].delay;
	return 2 * delay;
}

/* Gives a data packet its path and tag. */
static void depart_from_conweave_leaf(
	struct sim *s, struct conweave *c, const struct sim_where *w, struct sim_packet *p)
{
	struct conweave_tx *tx = &conweave_of(p->flow)->tx;
	bool expired = !tx->known || tx->active + c->expiry < s->now ||
		       !sim_path_usable(s, w->paths, tx->path);
	bool stabilized = !expired && tx->stabilized, late = false, good;
	uint16_t path, used;

	if (expired || stabilized) {
		tx->stabilized = false;
		tx->reply_at = s->now + base_rtt(s, w->paths) + c->reply;
		tx->epoch++;
		tx->phase = 0;
		tx->tail_at = 0;
	} else if (tx->reply_at < s->now) {
		tx->reply_at = UINT64_MAX;
		tx->tail_at = s->now;
		late = true;
	}
	tx->active = s->now;
	good = draw_path(s, c, w, &path);
	if (!tx->known)
		tx->path = path;
	used = tx->path;
	if ((expired || late) && (good || !sim_path_usable(s, w->paths, tx->path))) {
		s->n.moves += tx->known && path != tx->path;
		tx->path = path;
		if (expired)
			used = path;
	}
	p->path = used;
	p->tag.conweave = (struct sim_tag_conweave){.tx_at = s->now,
		.tail_at = tx->tail_at,
		.epoch = tx->epoch,
		.phase = tx->phase,
		.flag = late                      ? CONWEAVE_TAIL
			: (expired || stabilized) ? CONWEAVE_INIT
						  : CONWEAVE_DATA};
	if (late)
		tx->phase = 1;
	tx->known = true;
}

/* A REPLY or NOTIFY arrived; the caller ends it. */
static void take_control(struct sim *s, struct conweave *c, const struct sim_packet *p)
{
	struct conweave_tx *tx = &conweave_of(p->flow)->tx;
	const struct sim_tag_conweave *tag = &p->tag.conweave;
	uint32_t src = sim_paths_leaf(s, c->paths, p->flow->src);
	uint32_t dst = sim_paths_leaf(s, c->paths, p->flow->dst);

	if (tag->flag == CONWEAVE_NOTIFY) {
		marked_paths(c, src, dst, sim_paths_pair(s, c->paths, src, dst)->n)[p->path] =
			s->now + c->pause;
		return;
	}
	if (tag->epoch != tx->epoch || tag->phase != tx->phase)
		return;
	if (tag->flag == CONWEAVE_INIT && (tx->reply_at == UINT64_MAX || s->now >= tx->reply_at))
		return;
	tx->stabilized = true;
	tx->reply_at = UINT64_MAX;
}

static bool route_conweave(
	struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out)
{
	struct conweave *c = s->lb_state;
	struct sim_where w = sim_paths_where(s, c->paths, sw, p);

	if (p->kind == SIM_CTRL && sw->node == s->topo.leaf[p->flow->src]) {
		take_control(s, c, p);
		sim_packet_end(s, p);
		return false;
	}
	if (w.place == SIM_TARGET && !conweave_arrive(s, c, sw, &w, p))
		return false;
	if (w.place == SIM_SOURCE)
		depart_from_conweave_leaf(s, c, &w, p);
	*out = sim_paths_port(s, sw, &w, p);
	return true;
}

const struct sim_lb sim_lb_conweave = {
	.name = "conweave",
	.about = "reroutes, and puts packets in order at the last switch; in switches (SIGCOMM "
		 "2023)",
	.flow_bytes = sizeof(struct conweave_flow),
	.start = start_conweave,
	.stop = stop_conweave,
	.route = route_conweave,
};
