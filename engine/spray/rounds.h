/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_SPRAY_ROUNDS_H
#define HP3_ENGINE_SPRAY_ROUNDS_H
/*
 * Mode auto: lanes to a peer are compared before a queue pair takes several of them. A comparison
 * is a burst of peer probes, a lane each, in the name of a flow with an agreement. What it finds
 * counts for all queue pairs between the two addresses (rfr/spread.h).
 *
 * - The first burst asks HP3_SPRAY_ASKED lanes. Until then queue pairs keep to their paths. If it
 *   finds that paths differ, or if nobody answers, agreements end, and none begins for a while.
 * - Further bursts ask the other lanes, as long as large messages leave. Each asks a lane that has
 *   answered, too: the others are held against that one. A lane is used once it has answered.
 * - Lanes that did not answer in time are asked again a second later.
 *
 * Rounds of probes for a path at set-up (seek/setup.c) compare lanes, too.
 *
 * Bounded: HP3_SPRAY_ROUNDS bursts at a time, which take half of the pair's budget of probes, but
 * for the first two.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_SPRAY_ASKED  16u /* of a burst, at most */
#define HP3_SPRAY_ROUNDS 32u

struct hp3_turn;
struct hp3_engine;
struct hp3_spray_out;
struct hp3_spray_peer;

struct hp3_spray_round {
	uint64_t sent; /* 0: it has not left yet */
	uint64_t due;
	uint64_t addr; /* of the peer's record */
	uint32_t vlan; /* likewise */
	uint32_t flow, nonce;
	uint16_t peer; /* in hp3_spraying.peer */
	uint16_t open; /* probes without an answer, a bit each */
	uint8_t n; /* 0: it is free */
	bool reads; /* of the flow's agreements, the one about READ responses */
	uint8_t lane[HP3_SPRAY_ASKED];
	uint32_t rtt[HP3_SPRAY_ASKED]; /* ns; 0: no answer */
};

struct hp3_spray_rounds {
	uint64_t due; /* of the first round */
	struct hp3_spray_round round[HP3_SPRAY_ROUNDS];
};

/* Probes may ask: else mode auto sprays nothing. */
bool hp3_spray_rounds_may_ask(const struct hp3_engine *e);
/* An agreement begins, or a packet that might take a lane leaves: a comparison, if one is due. */
void hp3_spray_rounds_want(struct hp3_turn *t, const struct hp3_spray_out *o);
/* May a packet take one of several lanes? No: it keeps to its path. DIFFER: paths do. */
enum hp3_spray_may { HP3_SPRAY_MAY, HP3_SPRAY_MAY_NOT, HP3_SPRAY_DIFFER };
enum hp3_spray_may hp3_spray_rounds_may(struct hp3_turn *t, const struct hp3_spray_out *o);
/* Paths differ, or nobody said that they do not: what was found before means nothing. */
void hp3_spray_rounds_differ(struct hp3_spray_peer *peer, uint64_t now);
void hp3_spray_rounds_tick(struct hp3_turn *t);
uint64_t hp3_spray_rounds_due(const struct hp3_engine *e);
/* The answer to probe `id`, as of hp3_probe_timed(); false: it is none of these. */
bool hp3_spray_rounds_reply(struct hp3_engine *e, uint32_t id, uint32_t took_ns, uint64_t now);

#endif
