/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_WAYS_H
#define HP3_ENGINE_WAYS_H
/*
 * Long flows counted by way (cc.share_moves): a way is a path between racks, by the name of the
 * switch that all hosts give it (trace.h). What flows of one rack share above their leaf nobody
 * sees from one host, so hosts of a rack tell each other (RACK) how many long flows leave and reach
 * each of them by each way, whenever that has changed, and hosts with long flows between them
 * (TELL) how many go there, and how many come into the whole rack. So who has a flow knows the
 * number on both links of its way, and on those of every other way: the link sum.
 *
 * Invariants: own counts are those of flows that are long now (longs.c) and of what peers told last
 * and not too long ago; a flow is counted on one way, or on none while its name is not known. What
 * others say is advice: who moves by it asks first (seek/counted.c). Where nothing is heard in time
 * of the peer's rack there is no sum.
 */
#include "engine/common.h"

#define HP3_WAYS HP3_LOADS_WAYS /* of one host; further ones are not counted */

/* What one host, or one rack, has on each way. */
struct hp3_ways {
	uint32_t n;
	struct hp3_way_count way[HP3_WAYS];
};

struct hp3_mate {
	uint8_t addr[16];
	bool ipv6;
	uint64_t at, stamp; /* of its newest message; 0: free */
	struct hp3_ways has;
};

/* Of an address pair; `has` as the peer told. */
struct hp3_peer_ways {
	uint64_t at, stamp;
	struct hp3_ways has; /* out: its flows to us; in: into its rack */
	struct hp3_ways ours; /* out: our flows to it, as counted here */
	uint64_t ask_at; /* no way is asked about before (seek/counted.c) */
	uint8_t asked; /* soon one after the other */
};

struct hp3_rack {
	struct hp3_ways own;
	struct hp3_mate mate[HP3_RACK_MATES];
	uint64_t told_at; /* when the last RACK left */
	bool changed; /* ... and something has since */
	struct hp3_peer_ways peer[]; /* by pair */
};

size_t hp3_rack_size(uint32_t pairs);

/* ways.c. A long flow begins or ends, or leaves by another port. */
void hp3_way_enter(struct hp3_engine *e, uint32_t flow);
void hp3_way_leave(struct hp3_engine *e, uint32_t flow);
void hp3_way_moved(struct hp3_engine *e, uint32_t flow);
/* The pair is new, or gone, or its peer fell silent. */
void hp3_ways_forget(struct hp3_engine *e, uint32_t pair);
/*
 * Long flows on both links of the way that this port of the flow's takes, its own among them only
 * if it is counted there; -ENOENT: the way is not known, -ESTALE: what the peer's rack has is not.
 */
int hp3_way_sum(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);

/* rack.c. Counts of this name; n = 0: none. */
struct hp3_way_count hp3_ways_find(const struct hp3_ways *w, uint16_t name);
/* ... of this host and its mates together. */
struct hp3_way_count hp3_rack_has(const struct hp3_engine *e, uint16_t name, uint64_t now);
/* RACK, if it is time. */
void hp3_rack_tick(struct hp3_turn *t);
uint64_t hp3_rack_due(const struct hp3_engine *e);
/* Up to when what was heard counts. */
bool hp3_rack_is_fresh(const struct hp3_engine *e, uint64_t at, uint64_t now);

#endif
