/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The state that the files of fleet/ share. The file hosts.c stores the latest report of each host,
 * and links.c has the tables of nodes (leaves and hops) and links. The file map.c places flows on
 * links, alarms.c watches links over time, and planner.c moves flows on the map.
 *
 * Nodes and links are numbered in the order in which they first appeared. hp3_fleet_look() may
 * change the numbers (hp3_fleet_make_room()). So the numbers depend on past reports, and no
 * decision may depend on the numbers.
 */
#include "fleet/fleet.h"

#define HP3_FLEET_HISTORY 2048u /* flows in plans of the last hold_ms */
#define HP3_FLEET_NONE    UINT32_MAX

struct hp3_fleet_slot {
	struct hp3_fleet_report r;
	struct hp3_fleet_host seen;
	uint32_t leaf; /* node of its leaf */
	uint32_t other; /* slot of the other instance of the host name, or HP3_FLEET_NONE */
	/*
	 * time of the next report at the mean rate; a report may come up to HP3_FLEET_BURST x
	 * report_ms before this time
	 */
	uint64_t due_ms;
	uint64_t marks_before[HP3_FLEET_FLOWS]; /* marks of its flows when the period began */
	bool used;
	bool listed; /* the slot is in `order` */
};

struct hp3_fleet_node {
	/* leaf: 'l' and its name; hop: 'h', length and address of the switch; the rest is 0 */
	char key[HP3_FLEET_LEAF + 1];
};

/*
 * The leaf of an address. The table is compact, because hp3-fleet looks up the receiver of each
 * flow in it.
 */
struct hp3_fleet_owner {
	struct hp3_fleet_addr addr;
	uint32_t leaf; /* node */
};

struct hp3_fleet_edge {
	uint32_t leaf, hop; /* nodes */
	bool down;
	bool done; /* the current plan has no further move away from this link */
	uint8_t level;
	uint8_t streak; /* periods in a row with too many marks */
	uint32_t alarms; /* a bit for each of the last periods; bit 0: the latest */
	uint32_t flows, severe;
	/* until this time, a valid plan uses the link, so no further plan may use the link */
	uint64_t busy_ms;
	uint64_t load_kbps;
	uint64_t marked_kbps; /* sum of rate x permille */
	/* marks: of the last whole period; period_marks: of the period being evaluated */
	uint64_t marks, period_marks;
};

struct hp3_fleet_placed {
	uint32_t slot, up, down; /* up, down: links, or HP3_FLEET_NONE */
	uint8_t flow;
	bool named; /* the current plan names the flow */
};

struct hp3_fleet_named {
	char host[HP3_FLEET_NAME];
	struct hp3_fleet_key key;
	uint64_t until_ms;
};

struct hp3_fleet {
	struct hp3_fleet_params p;
	struct hp3_fleet_counts counts;
	uint64_t period_end_ms; /* 0: no period yet */
	uint64_t epoch;
	uint32_t n_slots, n_order, n_freed, n_owners, n_nodes, n_links, n_placed;
	uint32_t n_listed; /* value of n_links when flows were listed */
	uint32_t buckets; /* of hosts and addresses; a power of two */
	uint32_t link_buckets; /* of nodes and links; a power of two */
	bool full; /* no room for further nodes or links */
	struct hp3_fleet_slot *slot;
	uint32_t *order; /* slots sorted by name and instance, as of the last hp3_fleet_look() */
	uint32_t *freed; /* slots of hosts that are gone */
	uint32_t *by_name; /* slot of the first instance of a host name */
	struct hp3_fleet_owner *owner;
	uint32_t *by_addr; /* owner of an address */
	struct hp3_fleet_node *node;
	uint32_t *by_node;
	struct hp3_fleet_edge *link;
	uint32_t *by_link;
	struct hp3_fleet_placed *placed;
	uint32_t *first; /* link i has on_link[first[i] .. first[i + 1] - 1] */
	uint32_t *on_link; /* placed flows, link by link, in their order */
	uint32_t *scratch; /* one element per link */
	uint32_t n_named;
	struct hp3_fleet_named named[HP3_FLEET_HISTORY];
};

/* sort.c */

/* A strict order of numbers: true if a comes before b. */
typedef bool hp3_fleet_before(const void *arg, uint32_t a, uint32_t b);
/* Sorts n numbers in n log n steps, without further memory. */
void hp3_fleet_sort(uint32_t *v, uint32_t n, hp3_fleet_before *before, const void *arg);
/*
 * Makes a heap of n numbers: v[0] is the last one in the order `before`. hp3_fleet_heap_drop()
 * removes v[0].
 */
void hp3_fleet_heap(uint32_t *v, uint32_t n, hp3_fleet_before *before, const void *arg);
void hp3_fleet_heap_drop(uint32_t *v, uint32_t *n, hp3_fleet_before *before, const void *arg);

/*
 * hosts.c: removes hosts that are gone, sorts the other hosts, and marks hosts that have the same
 * name (twins).
 */
void hp3_fleet_settle_hosts(struct hp3_fleet *f, uint64_t now_ms);

/* map.c */
void hp3_fleet_draw(struct hp3_fleet *f);
/* by 1: adds the flow to the link; by -1: removes the flow from the link. */
void hp3_fleet_count_on(struct hp3_fleet_edge *l, const struct hp3_fleet_flow *flow, int by);

/* links.c */

/*
 * Removes unused nodes and links if the tables are filling. A link is unused if it had no flow at
 * the last hp3_fleet_look(), and has no marks, no alarms and no valid plan. A node is unused if it
 * has no link.
 */
void hp3_fleet_make_room(struct hp3_fleet *f, uint64_t now_ms);
uint32_t hp3_fleet_leaf_of(struct hp3_fleet *f, const char *leaf);
/*
 * hp3_fleet_find_...() returns HP3_FLEET_NONE if the node or link is unknown. hp3_fleet_..._of()
 * adds an unknown node or link, and returns HP3_FLEET_NONE if there is no room.
 */
uint32_t hp3_fleet_find_hop(const struct hp3_fleet *f, const struct hp3_fleet_addr *hop);
uint32_t hp3_fleet_hop_of(struct hp3_fleet *f, const struct hp3_fleet_addr *hop);
uint32_t hp3_fleet_link_of(struct hp3_fleet *f, bool down, uint32_t leaf, uint32_t hop);
uint32_t hp3_fleet_find_link(const struct hp3_fleet *f, bool down, uint32_t leaf, uint32_t hop);
/* A strict order of links by their names: true if a comes before b. */
bool hp3_fleet_link_before(const struct hp3_fleet *f, uint32_t a, uint32_t b);

/* alarms.c: if a period has ended, evaluates this period. */
void hp3_fleet_alarms(struct hp3_fleet *f, uint64_t now_ms);

/* The best flow to move away from a link (choose.c, for the planner). */
struct hp3_fleet_choice {
	uint32_t placed;
	unsigned alt;
	uint32_t up, down; /* links of the new path; HP3_FLEET_NONE: no flow uses this link yet */
	uint64_t after; /* load of the fuller one of `up` and `down`, with the flow */
	uint64_t worst; /* maximum of `after` and the load of the old link without the flow */
};

const struct hp3_fleet_flow *hp3_fleet_flow_of(
	const struct hp3_fleet *f, const struct hp3_fleet_placed *at);
/* Load of a link; 0 for HP3_FLEET_NONE. */
uint64_t hp3_fleet_load(const struct hp3_fleet *f, uint32_t link);
/* True: a plan that is still valid uses the link. */
bool hp3_fleet_is_busy(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms);
bool hp3_fleet_is_hot(const struct hp3_fleet *f, uint32_t link);
/* `placed` is HP3_FLEET_NONE if no flow can leave the link. */
struct hp3_fleet_choice hp3_fleet_choose(const struct hp3_fleet *f, uint32_t link, uint64_t now_ms);
