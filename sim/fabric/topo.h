/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The fabric without traffic: nodes, links, and routes. A node's route to a host is the group of
 * its ports that lead to the host on a shortest path.
 *
 * Nodes are numbered, hosts first. Topology files have the format of the ns-3 RDMA simulators. The
 * first line counts nodes, switches and links (topo_file.c has its forms), and the second line has
 * the numbers of the switches. Each link has a line `a b rate delay loss`, with values such as
 * "100Gbps" and "1000ns". Lines after the last link are ignored: many files end with a description
 * of their format. Port k of a node is the end of the node's k-th link in the file, links of
 * NVSwitches last.
 *
 * In a file, any number may be that of a switch. The model numbers the nodes anew, hosts first and
 * in the order of their numbers in the file. Input and output have the numbers of the file.
 *
 * The ECMP hash (modulo n) selects one of the n ports of a group. The ports are in the order in
 * which a breadth-first search from the destination finds the next hops. This is usually the order
 * of node numbers.
 */
#include <stdbool.h>
#include <stdint.h>
#include "sim/core/input.h"

#define SIM_NODES_MAX 65536u

struct sim_link {
	uint32_t a, b; /* nodes */
	uint64_t bps;
	uint64_t delay; /* ps */
	uint32_t loss; /* packets lost of 10^9 */
};

struct sim_topo {
	struct sim_input file; /* empty name: the topology was generated */
	uint32_t nodes, hosts, n_links;
	uint32_t nvswitches; /* the highest node numbers: switches of NVLink within a server */
	/* Number in the file by node, and node by number in the file. NULL: the same numbers. */
	uint32_t *number, *node_of;
	struct sim_link *link;
	/* Derived by sim_topo_finish(). Ports of node n: first_port[n] .. first_port[n + 1] - 1. */
	uint32_t n_ports;
	uint32_t *first_port;
	uint32_t *port_link; /* by port */
	uint32_t *peer_port; /* by port */
	uint32_t *owner; /* by port: node */
	/* Next hops from node n to host h: group[route[n * hosts + h]]. */
	uint32_t *route;
	struct sim_group *group;
	uint32_t n_groups;
	uint32_t *leaf; /* by host: the switch at its first port */
	uint8_t tiers; /* tiers of switches: 2: leaf-spine, 3: fat-tree */
	uint64_t max_rtt; /* ps, longest from host 0 to any host, with serialisation of a payload */
};

struct sim_group {
	uint16_t n;
	uint32_t *port; /* numbers of ports */
};

/* Reads a topology file. Returns 0, or a negative errno with a message in err. */
int sim_topo_load(struct sim_topo *t, const char *path, char *err, uint32_t err_size);

/* The number of a node in the topology file. */
uint32_t sim_topo_number(const struct sim_topo *t, uint32_t node);
/* The host with this number in the topology file; UINT32_MAX: there is none. */
uint32_t sim_topo_host(const struct sim_topo *t, uint64_t number);
/* True: an NVSwitch, which carries no RoCE packets of hp3d. */
static inline bool sim_topo_is_nvswitch(const struct sim_topo *t, uint32_t node)
{
	return node >= t->nodes - t->nvswitches;
}
/* True: a switch with links to hosts. */
bool sim_topo_is_leaf(const struct sim_topo *t, uint32_t node);

struct sim_config;
/* Makes the configured topology, and calls sim_topo_finish(). Returns as sim_topo_load() does. */
int sim_topo_make(struct sim_topo *t, const struct sim_config *cfg, char *err, uint32_t err_size);

/*
 * Derives ports, routes and leaves. Returns 0; -EINVAL, with a message in err, if a host cannot
 * reach another host.
 */
int sim_topo_finish(struct sim_topo *t, uint32_t payload_bytes, char *err, uint32_t err_size);
/* Recomputes routes without links whose down[link] is set; unreachable hosts get empty groups. */
void sim_topo_route(struct sim_topo *t, const bool *down);
void sim_topo_free(struct sim_topo *t);

/* The path from one host to another, in one direction. */
struct sim_distance {
	uint64_t delay; /* ps, sum over the links */
	uint64_t serialise; /* ps, sum over the links of the time to send `payload_bytes` */
	uint64_t bps; /* of the slowest link */
	uint32_t links;
};
struct sim_distance sim_topo_distance(
	const struct sim_topo *t, uint32_t src, uint32_t dst, uint32_t payload_bytes);
