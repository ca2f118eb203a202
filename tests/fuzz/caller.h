/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_CALLER_H
#define HP3_TESTS_CALLER_H
/*
 * A caller of the engine that keeps the FIFOs of held packets and checks the engine. After every
 * call:
 *
 *  - lists of actions stay within their bound;
 *  - a hold is released or discarded once, by an event that counts the same packets and bytes, and
 *    no packet of a flow passes while packets of it are held; it ends within max_hold;
 *  - held packets and bytes, flows and moves stay within their limits, and add up; a hold is called
 *    full only if it is;
 *  - after cancelling all moves, or after their deadlines, no packet is held and no move is left.
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
	uint32_t probe_ids[IDS], nprobes; /* the latest ones sent */
	struct hp3_act traces[IDS]; /* the same */
	uint32_t ntraces, answered;
};

/* A new engine; the bits of `how` choose enabled features. */
void caller_start(struct caller *c, uint8_t how);
/* Ends all moves, by cancel or time-out; checks that nothing is left. */
void caller_end(struct caller *c, bool by_time);

/* One packet; hp3_find_burst() was called for it, maybe some packets ago. */
void caller_packet(struct caller *c, struct hp3_pkt *pkt, enum hp3_dir dir);
void caller_time(struct caller *c, uint64_t ns);
/* After any other call. */
void caller_acts(struct caller *c, const struct hp3_acts *acts, uint32_t max);

#endif
