/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Shortest paths between leaf switches, for balancers whose source leaf chooses a whole path. The
 * paths are numbered in the order of the next hops. A packet carries the number of its path
 * (sim_packet.path) and the number of switches that have forwarded it (sim_packet.hop). The list of
 * paths for a pair of leaves is made at its first use.
 */
#include "sim/fabric/switch.h"
#include "sim/host/flow.h"

#define SIM_PATH_HOPS 5u /* most switches of a path, without the destination leaf */
#define SIM_PATHS_MAX 1024u

struct sim_path {
	uint32_t port[SIM_PATH_HOPS]; /* numbers of egress ports */
};

struct sim_pair_paths {
	struct sim_path *path;
	uint16_t n; /* 0: list not made yet, or source and destination are the same leaf */
	uint8_t hops;
};

struct sim_paths {
	uint32_t leaves; /* switches with hosts */
	uint32_t *leaf_of; /* by node - hosts: number of the leaf; UINT32_MAX: not a leaf */
	uint32_t *host_of; /* by leaf: one of its hosts */
	struct sim_pair_paths *pair; /* source leaf * leaves + destination leaf */
};

/* Makes lists of paths. NULL: a host has links to several leaves. */
struct sim_paths *sim_paths_new(const struct sim *s);
void sim_paths_free(struct sim_paths *p);

static inline uint32_t sim_paths_leaf(const struct sim *s, const struct sim_paths *p, uint32_t host)
{
	return p->leaf_of[s->topo.leaf[host] - s->topo.hosts];
}

const struct sim_pair_paths *sim_paths_pair(
	struct sim *s, struct sim_paths *p, uint32_t src_leaf, uint32_t dst_leaf);

/* The place of a packet on its path. */
enum sim_place {
	SIM_OTHER, /* not on a numbered path, but forwarded by hash: control, or within one rack */
	SIM_SOURCE, /* at the source leaf */
	SIM_TRANSIT,
	SIM_TARGET, /* at the destination leaf */
};

struct sim_where {
	enum sim_place place;
	uint32_t src, dst; /* leaves */
	const struct sim_pair_paths *paths; /* at SOURCE and TRANSIT */
};

struct sim_where sim_paths_where(struct sim *s, struct sim_paths *p, const struct sim_switch *sw,
	const struct sim_packet *packet);

/* False: routing has withdrawn a link of this path. */
static inline bool sim_path_usable(
	const struct sim *s, const struct sim_pair_paths *pp, uint16_t path)
{
	for (uint8_t i = 0; i < pp->hops; i++)
		if (s->port[pp->path[path].port[i]].withdrawn)
			return false;
	return true;
}

/* A random usable path. After 16 draws of unusable paths, the last drawn one. */
static inline uint16_t sim_paths_draw(struct sim *s, const struct sim_pair_paths *pp)
{
	uint16_t path = 0;

	for (unsigned i = 0; i < 16; i++) {
		path = (uint16_t)sim_rand_below(s, pp->n);
		if (sim_path_usable(s, pp, path))
			break;
	}
	return path;
}

/*
 * The egress port of the packet. At the source leaf and in transit, the port is that of the
 * packet's path, and the function increments p->hop. At all other places, the hash selects the
 * port.
 */
static inline struct sim_port *sim_paths_port(
	struct sim *s, struct sim_switch *sw, const struct sim_where *w, struct sim_packet *p)
{
	if (w->place != SIM_SOURCE && w->place != SIM_TRANSIT)
		return sim_switch_hash_port(s, sw, p);
	return &s->port[w->paths->path[p->path].port[p->hop++]];
}

/*
 * The state of a flow that is split into flowlets. A flowlet is a series of packets without a long
 * gap between them, which take the same path. All members are 0 before the first packet.
 */
struct sim_flowlet {
	uint64_t seen; /* ps, time of the last packet; 0: none yet */
	uint16_t path;
};

/*
 * Call this for each packet of the flow at the source leaf. True: the packet begins a new flowlet,
 * and the caller must set fl->path.
 */
static inline bool sim_flowlet_begins(
	struct sim *s, struct sim_flowlet *fl, const struct sim_pair_paths *pp, uint32_t gap_us)
{
	bool first = fl->seen == 0;
	bool begins =
		first || s->now - fl->seen > gap_us * SIM_US || !sim_path_usable(s, pp, fl->path);

	s->n.moves += begins && !first;
	fl->seen = s->now;
	return begins;
}
