/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Mode auto: hp3d compares the paths to a peer before a queue pair uses several paths. Each entropy
 * value (EV), that is, each UDP source port, counts as a path. A comparison is a burst of peer
 * probes, one per EV, on behalf of a flow with an agreement. The result applies to all queue pairs
 * between the two addresses (rfr/spread.h).
 *
 * - The first burst probes HP3_SPRAY_ASKED EVs. Until all probes of this burst are answered or
 *   lost, queue pairs use one path. If paths differ, or if no probe is answered, agreements end,
 *   and no agreement begins for a while.
 * - Further bursts probe the other EVs, as long as large messages leave. Each of these bursts also
 *   probes an EV whose earlier probe was answered, as the reference for the other EVs. A packet
 *   uses an EV only once a probe of that EV was answered.
 * - An EV whose probe was not answered in time is probed again, a second after all EVs were probed.
 *
 * The rounds of probes at the set-up of a queue pair (search/setup.c) also compare EVs.
 *
 * At most HP3_SPRAY_ROUNDS bursts are outstanding at a time. Bursts after the first two take at
 * most half of the address pair's probe budget.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_SPRAY_ASKED  16u /* most probes of a burst */
#define HP3_SPRAY_ROUNDS 32u

struct hp3_turn;
struct hp3_engine;
struct hp3_spray_out;
struct hp3_spray_peer;

struct hp3_spray_round {
	uint64_t sent; /* 0: not sent yet */
	uint64_t due;
	uint64_t addr; /* address key of the peer's record */
	uint32_t vlan; /* of the peer's record */
	uint32_t flow, nonce;
	uint16_t peer; /* index in hp3_spraying.peer */
	uint16_t open; /* probes without an answer yet, one bit each */
	uint8_t n; /* probes; 0: the record is free */
	bool reads; /* the agreement is about READ responses, not requests */
	uint8_t ev[HP3_SPRAY_ASKED];
	uint32_t rtt[HP3_SPRAY_ASKED]; /* ns; 0: no answer */
};

struct hp3_spray_rounds {
	uint64_t due; /* earliest deadline of all rounds */
	struct hp3_spray_round round[HP3_SPRAY_ROUNDS];
};

/* Are peer probes allowed? Otherwise, mode auto sprays nothing. */
bool hp3_spray_rounds_may_ask(const struct hp3_engine *e);
/*
 * Starts a comparison if one is due. Call it when an agreement begins, and when a packet that could
 * take any EV leaves.
 */
void hp3_spray_rounds_want(struct hp3_turn *t, const struct hp3_spray_out *o);
/*
 * May a packet take one of several EVs? Call it only while hp3_spray_rounds_are_over() is false.
 * MAY_NOT: the packet takes the port in use. DIFFER: the packet takes the port in use, because
 * paths differ.
 */
enum hp3_spray_may { HP3_SPRAY_MAY, HP3_SPRAY_MAY_NOT, HP3_SPRAY_DIFFER };
enum hp3_spray_may hp3_spray_rounds_may(struct hp3_turn *t, const struct hp3_spray_out *o);
/* Paths differ, or no probe was answered: discards earlier results. */
void hp3_spray_rounds_differ(struct hp3_spray_peer *peer, uint64_t now);
/*
 * The answer to probe `id`, with the arguments of hp3_probe_timed(). False: not a probe of a
 * comparison.
 */
bool hp3_spray_rounds_reply(struct hp3_engine *e, uint32_t id, uint32_t took_ns, uint64_t now);
