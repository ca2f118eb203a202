/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The network that a topology file describes, and its routes. The network has switches with
 * numbered ports, hosts, links and addresses. Routes use the links that are up.
 *
 * The switches are numbered in this order: the leaves l1, l2, ..., then the spines s1, s2, ... A
 * leaf has first a port for each of its hosts, then a port for each spine. A spine has a port for
 * each leaf. The link with index i has two lanes, one per direction: lane 2i from end a to end b,
 * and lane 2i + 1 from b to a.
 *
 * Addresses: host j of leaf i has 10.9.i.j, fd00:9:0:i::j and MAC 02:09:00:00:i:j; leaf i has
 * 10.8.1.i, fd00:8:0:1::i, 02:08:00:00:01:i; spine k has 10.8.2.k, fd00:8:0:2::k, 02:08:00:00:02:k.
 *
 * Routes are shortest paths. The ECMP group for a destination leaf has the number of this leaf (0,
 * 1, ...). On a leaf, the group for one of its own hosts has the number `leaves` + the host's port.
 * The members of a group, m[0..n-1], are in the order of ports. Bucket b leads to m[b % n]. If n is
 * a power of two, b % n equals the hash modulo n.
 */
#include <stdbool.h>
#include <stdint.h>
#include "p4-testbed/fabric/topo.h"

#define HP3_NET_SWITCHES (2 * HP3_TOPO_TIER_MAX)
#define HP3_NET_PORTS    (2 * HP3_TOPO_TIER_MAX)
#define HP3_NET_GROUPS   (2 * HP3_TOPO_TIER_MAX)
#define HP3_NET_HOPS     8u

struct hp3_net_addr {
	uint8_t mac[6];
	uint32_t ip4; /* host order */
	uint8_t ip6[16];
};

struct hp3_net_port {
	uint32_t link;
	bool b_end; /* true: end b of the link, which sends on lane 2 * link + 1 */
	bool to_host;
	uint32_t peer; /* index of the switch or host at the other end */
};

struct hp3_net_switch {
	char name[16];
	struct hp3_net_addr addr;
	uint32_t seed;
	bool leaf, time_exceeded;
	uint32_t n_ports;
	struct hp3_net_port port[HP3_NET_PORTS];
	uint64_t group[HP3_NET_GROUPS]; /* members as a bitmap of ports */
};

struct hp3_net_host {
	char name[16];
	struct hp3_net_addr addr;
	uint32_t leaf, port, link;
};

/* A link. End a is the host or, for a link between switches, the leaf. */
struct hp3_net_link {
	char name[16];
	struct hp3_topo_link p;
	bool host;
	uint32_t a, b; /* a: index of the host or leaf; b: index of the leaf or spine */
	uint32_t a_port, b_port;
	bool up;
};

struct hp3_net {
	struct hp3_topo topo;
	struct hp3_net_switch *sw;
	struct hp3_net_host *host;
	struct hp3_net_link *link;
	uint32_t n_switches, n_hosts, n_links;
};

int hp3_net_build(struct hp3_net *net, const struct hp3_topo *topo); /* 0 or -ENOMEM */
void hp3_net_free(struct hp3_net *net);

/* Computes all ECMP groups from the links that are up. */
void hp3_net_route(struct hp3_net *net);

/* The port to which bucket b of a group leads; -1: the group has no members. */
int hp3_net_member(uint64_t group, uint32_t bucket);

/* Number of the group that leads from switch s to a host. */
uint32_t hp3_net_group(const struct hp3_net *net, uint32_t s, uint32_t host);

struct hp3_net_flow {
	bool ipv6;
	uint32_t src, dst; /* hosts */
	uint16_t sport, dport;
	uint8_t protocol;
	uint32_t qpn; /* used only if [hash] qpn is on and dport is that of RoCEv2 */
};

/* The hash that switch s computes for a packet of this flow. */
uint32_t hp3_net_hash(const struct hp3_net *net, uint32_t s, const struct hp3_net_flow *f);

/*
 * Sets hop[] to the switches on the flow's path, in order. Returns the number of switches, or
 * -ENETUNREACH.
 */
int hp3_net_path(
	const struct hp3_net *net, const struct hp3_net_flow *f, uint32_t hop[HP3_NET_HOPS]);
