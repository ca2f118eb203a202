/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3x: a library in applications splits messages over several queue pairs (xfer/core/core.h). Each
 * link of a host is a rail: an RNIC. A host has xfer.paths queue pairs on each rail to another
 * host, per verb. Each queue pair has its own source port, and so keeps one path. The first message
 * between the hosts opens the queue pairs, and all later messages share them. The library cuts a
 * message into slices. Slices wait in one queue, in the order of their messages, until
 * hp3x_choose() has a path for the next one. A message ends when all its slices have ended.
 *
 * Not modelled: control messages, and paths that fail. If a path loses packets, its slices wait
 * until the RNIC has retransmitted them.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "sim/host/host.h"
#include "sim/lb/hp3x.h"
#include "sim/lb/lb.h"

#define MOST_SLICES 4096u /* of a message (HP3X_MOST_PAGES) */
#define NO_DEMAND   UINT32_MAX

/* The message of a demand. */
struct op {
	uint64_t unposted, open; /* bytes not posted yet; bytes that have not ended */
	uint32_t slice; /* bytes of a slice */
	uint32_t next; /* the next demand in the queue of the pair */
};

struct hp3x {
	struct hp3x_pair ***pair; /* [src][2 * dst + read]; NULL: none yet */
	struct op *op; /* by demand */
	uint32_t cap;
};

/* True: a host has as many links as xfer.rails. */
static bool has_rails(const struct sim *s)
{
	uint32_t most = 0;

	for (uint32_t h = 0; h < s->topo.hosts; h++)
		most = hp3_max_u32(most, s->topo.first_port[h + 1] - s->topo.first_port[h]);
	return s->cfg.xfer.rails <= most;
}

static int start_hp3x(struct sim *s)
{
	struct hp3x *x;

	if (!has_rails(s))
		return -ERANGE;
	x = sim_alloc(1, sizeof(*x));
	x->pair = sim_alloc(s->topo.hosts, sizeof(*x->pair));
	s->lb_state = x;
	return 0;
}

static void stop_hp3x(struct sim *s)
{
	struct hp3x *x = s->lb_state;

	for (uint32_t src = 0; src < s->topo.hosts; src++) {
		for (uint32_t i = 0; x->pair[src] != NULL && i < 2 * s->topo.hosts; i++)
			free(x->pair[src][i]);
		free(x->pair[src]);
	}
	free(x->pair);
	free(x->op);
	free(x);
}

/* Rails to the other host of a demand: all of them, but at most xfer.rails. */
static uint32_t rails_of(const struct sim *s, uint32_t demand)
{
	uint32_t links = sim_flow_links(s, s->demand[demand].src, s->demand[demand].dst);
	uint32_t most = s->cfg.xfer.rails > 0 ? s->cfg.xfer.rails : HP3X_RAILS;

	return hp3_min_u32(links, most);
}

static struct hp3x_pair *open_pair(struct sim *s, uint32_t demand)
{
	uint32_t rails = rails_of(s, demand), n = rails * s->cfg.xfer.paths;
	struct hp3x_pair *pair = sim_alloc(1, sizeof(*pair) + n * sizeof(pair->path[0]));
	struct hp3x_limits limits = {.slice_bytes = s->cfg.xfer.slice_bytes,
		.pair_window = s->cfg.xfer.pair_window == SIM_ON};

	pair->first = NO_DEMAND;
	for (uint32_t i = 0; i < n; i++) {
		pair->path[i].flow = sim_flow_open(s, demand, i % rails);
		pair->rail[i % rails].of = (struct hp3x_window_limits){.second = SIM_SEC,
			.most_rate = pair->path[i].flow->port->bps / 8,
			.percent = s->cfg.xfer.window_percent};
	}
	hp3x_pair_init(pair, &limits, rails, n);
	return pair;
}

static struct hp3x_pair **pair_of(struct sim *s, uint32_t src, uint32_t dst, bool read)
{
	struct hp3x *x = s->lb_state;

	if (x->pair[src] == NULL)
		x->pair[src] = sim_alloc(2 * (size_t)s->topo.hosts, sizeof(*x->pair[src]));
	return &x->pair[src][2 * dst + read];
}

static void add_op(struct sim *s, struct hp3x_pair *pair, uint32_t demand)
{
	struct hp3x *x = s->lb_state;
	uint64_t bytes = hp3_max_u64(s->demand[demand].bytes, 1);

	if (demand >= x->cap) {
		x->cap = s->cap_demands;
		x->op = sim_realloc(x->op, x->cap * sizeof(*x->op));
	}
	x->op[demand] = (struct op){.unposted = bytes,
		.open = bytes,
		.slice = hp3_max_u32(s->cfg.xfer.slice_bytes,
			(uint32_t)((bytes + MOST_SLICES - 1) / MOST_SLICES)),
		.next = NO_DEMAND};
	pair->waiting += bytes;
	if (pair->first == NO_DEMAND)
		pair->first = demand;
	else
		x->op[pair->last].next = demand;
	pair->last = demand;
}

static void post_slice(
	struct sim *s, struct hp3x_pair *pair, struct hp3x_path *path, uint32_t bytes)
{
	struct hp3x *x = s->lb_state;
	uint32_t demand = pair->first;
	struct op *op = &x->op[demand];

	op->unposted -= bytes;
	if (op->unposted == 0)
		pair->first = op->next;
	hp3x_posted(pair, path, bytes);
	sim_flow_post(s, path->flow, demand, bytes);
	path->flow->newest->mark = path->rail->window.delivered;
}

static void post_slices(struct sim *s, struct hp3x_pair *pair)
{
	struct hp3x *x = s->lb_state;

	while (pair->first != NO_DEMAND) {
		const struct op *op = &x->op[pair->first];
		uint32_t bytes = (uint32_t)hp3_min_u64(op->unposted, op->slice);
		struct hp3x_path *path = hp3x_choose(pair, bytes);

		if (path == NULL)
			return;
		post_slice(s, pair, path, bytes);
	}
}

static void split_message(struct sim *s, uint32_t demand)
{
	const struct sim_demand *d = &s->demand[demand];
	struct hp3x_pair **pair = pair_of(s, d->src, d->dst, d->read);

	if (*pair == NULL)
		*pair = open_pair(s, demand);
	add_op(s, *pair, demand);
	post_slices(s, *pair);
}

static struct hp3x_path *path_of(struct hp3x_pair *pair, const struct sim_flow *f)
{
	struct hp3x_path *p = pair->path;

	while (p->flow != f)
		p++;
	return p;
}

static void end_slice(struct sim *s, struct sim_flow *f, const struct sim_message *part)
{
	struct hp3x *x = s->lb_state;
	struct hp3x_pair *pair = *pair_of(s, f->src, f->dst, f->read);
	struct hp3x_slice slice = {.bytes = part->bytes,
		.posted = hp3_max_u64(part->posted, f->up_at),
		.delivered = part->mark,
		.now = s->now};

	hp3x_ended(pair, path_of(pair, f), &slice);
	x->op[part->demand].open -= part->bytes;
	if (x->op[part->demand].open == 0)
		sim_flow_demand_done(s, f, part->demand);
	post_slices(s, pair);
}

const struct sim_lb sim_lb_hp3x = {
	.name = "hp3x",
	.about = "splits messages over queue pairs that keep their paths; in a library (libhp3x)",
	.start = start_hp3x,
	.stop = stop_hp3x,
	.split = split_message,
	.part_done = end_slice,
};
