/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths: each is a FIFO with its own delay, which varies. Some are congested (slower, all their
 * packets are marked). A path may die for a while: it loses its packets, or holds them (PFC) and
 * delivers them late, in order.
 */
#include "world_internal.h"
#include <string.h>

#define STEP_NS   (200 * US)
#define SHORT_LEN 700u
#define PROBE_LEN 74u

uint32_t world_path(const struct world *w, uint16_t port, uint32_t qpn)
{
	struct hp3_tuple t = {.sport = port, .dport = HP3_ROCE_UDP_PORT, .qpn = qpn};

	if (!w->p.model)
		return (uint32_t)(port * 2654435761u >> 16) % w->p.paths;
	memcpy(t.src, w->tx_hdr[0] + 26, 4);
	memcpy(t.dst, w->tx_hdr[0] + 30, 4);
	return sim_model_path(&w->model, &t);
}

/* The first ones: a queue stands on them. */
static bool is_hot(const struct world *w, uint32_t path)
{
	return path < w->p.hot_paths;
}

static bool is_grey(const struct world *w, uint32_t path)
{
	return path < w->p.grey_paths;
}

bool world_swallows(const struct world *w, uint32_t path, uint32_t len)
{
	uint32_t first = w->p.paths - w->p.short_paths + w->short_first;

	return w->p.short_paths != 0 && world_lasts(w) >= SHORT_FROM && len > SHORT_LEN &&
	       (path + w->p.paths - first % w->p.paths) % w->p.paths < w->p.short_paths;
}

static bool is_marked(struct world *w, uint32_t path)
{
	return is_hot(w, path) && (w->p.mark_percent == 0 || rnd(w, 100) < w->p.mark_percent);
}

uint64_t world_arrival(struct world *w, uint32_t path, uint64_t *free)
{
	bool dead = w->now < w->path_dead[path];
	uint64_t t;

	if (chance(w, w->p.loss_ppm + (is_grey(w, path) ? w->p.grey_ppm : 0)) ||
		(dead && !w->p.pause_paths))
		return 0;
	t = w->now + w->path_delay[path] + rnd(w, 2000) + (is_hot(w, path) ? HOT_NS : 0) +
	    w->incast_ns;
	if (dead)
		t += w->path_dead[path] - w->now;
	if (w->p.incast_us != 0 && !w->p.both_ways)
		free = &w->incast_free; /* one queue behind all paths */
	if (t <= *free)
		t = *free + 1; /* one path is a FIFO, each way */
	*free = t;
	return t;
}

void world_into_network(struct world *w, struct pkt *k, uint16_t port)
{
	struct qp *q = &w->qps[k->qp];
	uint32_t path = world_path(w, port, q->rqpn);
	uint64_t t;

	k->port = port;
	k->era = q->era;
	k->ce = is_marked(w, path);
	w->r.on_grey += is_grey(w, path);
	if (!k->probe) {
		world_check_entry(w, k);
		q->in_net++;
	}
	t = world_arrival(w, path, &w->path_free[path]);
	if (w->p.lose_closing && k->lin == q->closing && rnd(w, 3) != 0)
		t = 0;
	if (t != 0 && world_swallows(w, path, k->len)) {
		w->r.too_long++;
		t = 0;
	}
	if (t == 0 || w->now < w->path_dead[path])
		q->hurt = w->now;
	if (t == 0) {
		w->r.lost += !k->probe;
		q->in_net -= !k->probe;
		free(k);
		return;
	}
	world_push(w, (struct event){.t = t, .kind = EVENT_ARRIVE, .qp = k->qp, .pkt = k});
}

uint32_t world_qp_of(const struct world *w, const struct hp3_act *a)
{
	struct hp3_flow_info info = {0};

	hp3_flow_info(w->e, a->flow, w->now, &info);
	return world_qp_at(w, a->flow, info.rqpn);
}

void world_send_like_data(struct world *w, uint32_t i, const struct hp3_act *a)
{
	struct qp *q = &w->qps[i];
	struct pkt *k = malloc(sizeof(*k));

	w->r.probes_at_rnic++;
	*k = (struct pkt){.qp = i,
		.epoch = q->epoch,
		.span = 1,
		.lin = linear(q, a->psn, q->una),
		.opcode = HP3_OP_RC_WRITE_ONLY,
		.probe = true,
		.ackreq = true};
	world_into_network(w, k, a->port);
}

/* A packet for the peer's hp3d, which is gone: its RNIC drops it (rule 1). */
void world_send_to_nobody(struct world *w, uint32_t path)
{
	w->r.probes_at_rnic += world_arrival(w, path, &w->path_free[path]) != 0;
}

/*
 * The peer's hp3d answers PEER probes if both ways work. All others, and these where it is gone,
 * reach the RNIC, which answers those that look like data.
 */
void world_send_probe(struct world *w, const struct hp3_act *a)
{
	uint32_t i = world_qp_of(w, a), path = world_path(w, a->port, w->qps[i].rqpn);
	uint64_t t;

	w->r.probes++;
	w->r.probes_as_data += a->pad != 0;
	w->r.probes_standard += a->op == HP3_PROBE_STANDARD;
	if (world_round_is_dead(w, a->flow)) {
		w->r.rounds_dead++;
		if (world_dead_rounds(w, a->flow) > 1)
			VIOLATION(w, "two rounds of an address pair ask for a dead path (rule 28)");
		HARM(w, "queue pair %u: is its path dead?", i);
	}
	world_check_probe(w, i, a);
	if (a->op != HP3_PROBE_PEER) {
		world_send_like_data(w, i, a);
		return;
	}
	if (!w->peer_up) {
		world_send_to_nobody(w, path);
		return;
	}
	t = world_arrival(w, path, &w->path_free[path]);
	if (t == 0 || world_swallows(w, path, PROBE_LEN + a->pad) || w->now < w->back_dead ||
		(w->p.both_ways && t < w->path_dead[path]) ||
		chance(w, w->p.loss_ppm + w->p.reply_loss_ppm))
		return;
	world_push(w, (struct event){.t = t + 20 * US + rnd(w, 1000),
			      .kind = EVENT_PROBE,
			      .gen = a->probe_id,
			      .ours = is_hot(w, path)});
}

/* Rare enough that half of the paths work at any time. */
static bool is_time(struct world *w, uint32_t every_us)
{
	return rnd(w, w->p.every_us ? w->p.every_us / (STEP_NS / US) : every_us) == 0;
}

/* Draws stand in statements of their own: compilers order those within one as they like. */
static void change_delay(struct world *w)
{
	uint64_t delay = (5 + rnd(w, 200)) * US;

	w->path_delay[rnd(w, w->p.paths)] = delay;
}

static void strike(struct world *w, uint32_t dead_us)
{
	uint64_t until = w->now + rnd(w, dead_us) * US;
	uint32_t path = rnd(w, w->p.paths);

	for (uint32_t i = 0; i < w->p.paths; i++) {
		if (i == path || w->p.all_paths)
			w->path_dead[i] = until;
	}
}

void world_paths_change(struct world *w)
{
	uint32_t dead_us = w->p.dead_us ? w->p.dead_us : 3000;

	if (w->p.rtt_us == 0)
		change_delay(w);
	if (w->p.incast_us != 0)
		w->incast_ns = (3 * w->incast_ns + rnd(w, w->p.incast_us) * US) / 4;
	if (w->p.short_paths_move && is_time(w, 100))
		w->short_first = rnd(w, w->p.paths);
	if (w->p.kill_paths && is_time(w, dead_us / 300))
		strike(w, dead_us);
	if (w->p.kill_back && is_time(w, dead_us / 50))
		w->back_dead = w->now + rnd(w, dead_us) * US;
	world_at(w, STEP_NS, EVENT_PATHS, 0, 0);
}
