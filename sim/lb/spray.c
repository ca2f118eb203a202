/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Balancers in switches that decide packet by packet, at every switch with a choice; ACKs keep to
 * the hash.
 *
 * rps: random packet spraying (Dixit et al., INFOCOM 2013). ar: adaptive routing, the shortest
 * queue of all, ties at random. drill: DRILL(d, m) (Ghorbani et al., SIGCOMM 2017) with d = 2, m =
 * 1: the shortest queue of two drawn at random and the one that was best last time, remembered per
 * destination.
 */
#include <stdlib.h>
#include "sim/host/flow.h"
#include "sim/lb/lb.h"

/* The ports among which the packet has a choice; NULL: there is none, and *out is the hash's port.
 */
static const struct sim_group *choice_of_packet(
	struct sim *s, struct sim_switch *sw, const struct sim_packet *p, struct sim_port **out)
{
	const struct sim_topo *t = &s->topo;

	if (p->kind == SIM_DATA) {
		const struct sim_group *g = &t->group[t->route[sw->node * t->hosts + p->flow->dst]];

		if (g->n > 1)
			return g;
	}
	*out = sim_switch_hash_port(s, sw, p);
	return NULL;
}

static uint32_t queued_bytes(const struct sim *s, uint32_t port)
{
	return s->port[port].data_bytes;
}

static bool route_rps(
	struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out)
{
	const struct sim_group *g = choice_of_packet(s, sw, p, out);

	if (g != NULL)
		*out = &s->port[g->port[sim_rand_below(s, g->n)]];
	return true;
}

static bool route_ar(
	struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out)
{
	const struct sim_group *g = choice_of_packet(s, sw, p, out);
	uint32_t least = UINT32_MAX, best = 0, ties = 0;

	if (g == NULL)
		return true;
	for (uint16_t i = 0; i < g->n; i++) {
		if (queued_bytes(s, g->port[i]) < least) {
			least = queued_bytes(s, g->port[i]);
			ties = 0;
		}
		if (queued_bytes(s, g->port[i]) == least && sim_rand_below(s, ++ties) == 0)
			best = g->port[i];
	}
	*out = &s->port[best];
	return true;
}

/* Remembered port by switch and destination; UINT32_MAX: none yet. */
static int start_drill(struct sim *s)
{
	const struct sim_topo *t = &s->topo;
	size_t n = (size_t)(t->nodes - t->hosts) * t->hosts;
	uint32_t *memory = sim_alloc(n, sizeof(*memory));

	for (size_t i = 0; i < n; i++)
		memory[i] = UINT32_MAX;
	s->lb_state = memory;
	return 0;
}

static void stop_drill(struct sim *s)
{
	free(s->lb_state);
}

static bool route_drill(
	struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out)
{
	const struct sim_group *g = choice_of_packet(s, sw, p, out);
	uint32_t *best, a, b;

	if (g == NULL)
		return true;
	best = (uint32_t *)s->lb_state + (sw->node - s->topo.hosts) * s->topo.hosts + p->flow->dst;
	a = sim_rand_below(s, g->n);
	b = (a + 1 + sim_rand_below(s, g->n - 1u)) % g->n;
	if (*best == UINT32_MAX || queued_bytes(s, g->port[a]) < queued_bytes(s, *best))
		*best = g->port[a];
	if (queued_bytes(s, g->port[b]) < queued_bytes(s, *best))
		*best = g->port[b];
	*out = &s->port[*best];
	return true;
}

const struct sim_lb sim_lb_rps = {.name = "rps",
	.about = "a random path for each packet; in switches (INFOCOM 2013)",
	.route = route_rps};
const struct sim_lb sim_lb_ar = {.name = "ar",
	.about = "the shortest queue for each packet; in switches",
	.route = route_ar};
const struct sim_lb sim_lb_drill = {.name = "drill",
	.about = "the shorter of two random queues and the last one; in switches (SIGCOMM 2017)",
	.start = start_drill,
	.stop = stop_drill,
	.route = route_drill};
