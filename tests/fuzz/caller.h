/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A caller of the engine that stores held packets in FIFOs and checks the engine. It checks after
 * every call:
 *
 *  - lists of actions are not longer than their limit; - the held packets of a flow are released or
 *    discarded once, with an event that has the same counts of packets and bytes; while packets of
 *    a flow are held, no other packet of this flow is forwarded; packets are held for at most
 *    max_hold; - counts of held packets and bytes, flows and moves are within their limits, and add
 *    up; the engine reports a hold as full only if it is full; - after all moves were cancelled, or
 *    reached their deadlines, no packet is held and no move is in progress.
 *
 * A violation ends the process by abort().
 */
#include <stdlib.h>
#include "engine/engine.h"
#include "ppp/depth.h"

#define US       1000ull
#define SLOTS    4u
#define FLOWS    12u
#define IDS      8u
#define HELD     3u
#define PATHS    4u
#define ACTS_MAX 16u /* only hp3_tick() needs more (engine.h) */

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

struct caller {
	uint32_t turn; /* alternates between single packets and bursts */
	struct hp3_engine_config cfg;
	struct hp3_engine *e;
	uint64_t now;
	struct caller_hold {
		uint32_t n, number[HELD], len[HELD];
		uint64_t bytes, since[HELD];
	} hold[FLOWS];
	uint64_t events;
	uint32_t probe_ids[IDS], nprobes; /* ids of the latest probes sent */
	struct hp3_act traces[IDS]; /* the latest traces sent */
	uint32_t ntraces, answered;
};

/* Makes a new engine; the bits of `how` choose which features are enabled. */
void caller_start(struct caller *c, uint8_t how);
/* Ends all moves, by cancel or time-out; checks that no packet is held and no move is in
 * progress. */
void caller_end(struct caller *c, bool by_time);

/* Handles one packet, for which hp3_find_burst() was called before (other packets may be in
 * between). */
void caller_packet(struct caller *c, struct hp3_pkt *pkt, enum hp3_dir dir);
void caller_time(struct caller *c, uint64_t ns);
/* Handles the actions of any other call. */
void caller_acts(struct caller *c, const struct hp3_acts *acts, uint32_t max);
