/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PAIRS_H
#define HP3_ENGINE_PAIRS_H
/*
 * Address pairs: the local and the remote end (and VLAN) between which flows run. Holds what flows
 * of a pair share: the addresses themselves, the list of flows. Touched only off the steady path.
 */
#include "engine/ends.h"
#include "engine/flows/flow.h"
#include "ppp/discovery.h"

#define HP3_NO_PAIR UINT32_MAX

struct hp3_pair {
	uint8_t local[16], remote[16]; /* IPv4: first four bytes, rest 0 */
	uint32_t vlan;
	bool ipv6;
	uint32_t hash;
	uint32_t chain; /* next pair of the same hash slot, or free list link */
	uint32_t flows; /* first flow, HP3_NO_FLOW if none */
	uint32_t nflows;
	uint32_t nunpaired; /* of these */
	uint64_t began; /* when the newest one of all that it had */
	uint32_t announced[HP3_ANNOUNCERS]; /* of these: announced.h */
	uint32_t nmoves; /* rounds and moves under way, not counting the operator's */
	struct hp3_probe_budget budget;
	bool paths_ready; /* its path table is initialised */
	/* Does an hp3d stand in front of the peer's RNIC? */
	bool peer_plain; /* nobody answered peer probes: not before peer_ask again */
	uint8_t peer_silent; /* rounds in a row without an answer */
	uint64_t peer_seen; /* its last sign of life; 0: never */
	uint64_t peer_ask; /* plain: when to ask again; else: silence means nothing before */
	/* Is a path dead? One round at a time asks for all flows (seek/dead.c). */
	uint16_t watch_slot; /* that it has, if it is still the watch of this pair */
	uint8_t dead_level; /* such watches in a row that found nothing */
	uint8_t pause; /* longest natural pause of a flow (pause.h) */
	uint64_t dead_wait; /* no further watch before */
	uint64_t heard; /* some flow was seen to make progress */
	/* Paths that swallow long packets (seek/size.c) */
	uint16_t longest; /* of its requests so far: bytes of the IP datagram */
	uint64_t swallows_until; /* one was met: until then no probe is shorter than data */
	uint64_t pinned_until; /* its RNIC sent fragments: immovable (rule 17); 0: never */
	uint64_t untracked_until; /* no inference before: who has no record may be answered */
	/* Placement: reports of our flows to the peer, and the peer's to us (tell.c) */
	bool told_some; /* the last one told of flows */
	uint64_t told_at; /* when the last one left; 0: never */
	uint64_t load_stamp; /* of the last one that came */
	/* Long flows (longs.c): ours to the peer; the peer's to us, and all that come into it, as
	 * it told */
	uint16_t long_out, long_from, peer_in;
	bool long_owed; /* the peer has told of some: it is told how many come in here */
	uint64_t long_at, peer_in_at; /* when it told; 0: never */
	uint64_t rtt_at; /* least_rtt is as of here */
	uint32_t least_rtt; /* of all flows of the pair, ns; 0: unknown */
	uint64_t cnps_spent; /* of the CNPs that may be kept from RNICs */
	uint64_t spray_at; /* its hp3d is not asked to put queue pairs in order before */
	uint64_t reads_at; /* nor is it offered, or taken from it, to put READ responses in order */
	uint64_t full_at; /* no place for READ responses of it is looked for before */
	uint32_t answered; /* the flow whose forced challenge was answered last, or HP3_NO_FLOW */
	uint32_t void_hand; /* flow that is looked at next (life/void.c), or HP3_NO_FLOW */
	uint32_t voids; /* forced challenges that left at a lower number mean nothing (rule 15) */
};

struct hp3_pairs {
	struct hp3_pair *pairs;
	uint32_t *heads;
	uint32_t mask, max, used, free;
	uint64_t key[5];
};

uint32_t hp3_pairs_heads(uint32_t max);
void hp3_pairs_init(
	struct hp3_pairs *t, struct hp3_pair *pairs, uint32_t *heads, uint32_t max, uint64_t seed);
/* Index or HP3_NO_PAIR. */
uint32_t hp3_pairs_find(const struct hp3_pairs *t, const struct hp3_ends *ends);
/* Finds or adds; HP3_NO_PAIR if the table is full. */
uint32_t hp3_pairs_get(struct hp3_pairs *t, const struct hp3_ends *ends);
void hp3_pairs_free(struct hp3_pairs *t, uint32_t index);

#endif
