/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PAIRS_H
#define HP3_ENGINE_PAIRS_H
/*
 * Address pairs: local and remote address and VLAN, between which flows run. State that the flows
 * of a pair share: addresses, list of flows, probes. Packets in steady state do not touch it.
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
	uint32_t chain; /* next pair of the same hash chain, or of the free list */
	uint32_t flows; /* first flow, HP3_NO_FLOW if none */
	uint32_t nflows;
	uint32_t nunpaired; /* of these */
	uint64_t began; /* when its newest flow began */
	uint32_t announced[HP3_ANNOUNCERS]; /* flows that are announced, by source (announced.h) */
	uint32_t nmoves; /* searches and moves under way, without operators' moves */
	struct hp3_probe_budget budget;
	bool paths_ready; /* its path table is initialised */
	/* Does the peer run hp3d? */
	bool peer_plain; /* no: it answered no peer probe; not asked again before peer_ask */
	uint8_t peer_silent; /* rounds in a row without an answer */
	uint64_t peer_seen; /* when it last showed that it is alive; 0: never */
	/* peer_plain: when to ask again; else: lost probes do not count before */
	uint64_t peer_ask;
	/* Dead-path search: one at a time, for all flows of the pair (search/dead.c). */
	uint16_t watch_slot; /* its slot, if that still has this search */
	uint8_t dead_level; /* such searches in a row without a result */
	uint8_t pause; /* longest natural pause of a flow (search/pause.h) */
	uint64_t dead_wait; /* earliest time of the next such search */
	uint64_t heard; /* when a flow last made progress */
	/* Paths that drop long packets silently (search/size.c). */
	uint16_t longest; /* longest request so far: bytes of the IP datagram */
	uint64_t swallows_until; /* one was found: until then all probes are as long as data */
	/* the RNIC sent IP fragments: no moves until then (rule 17); 0: never */
	uint64_t pinned_until;
	/* no challenges before: queue pairs without a record may be answered */
	uint64_t untracked_until;
	/* Placement: reports of our flows to the peer, and the peer's to us (advertise.c). */
	bool advertised_some; /* the last report had counts other than 0 */
	uint64_t advertised_at; /* when the last report left; 0: never */
	uint64_t load_stamp; /* of the last report received */
	/* Long flows (longs.c): ours to the peer; the peer's to us; all that the peer receives, as
	 * it advertised. */
	uint16_t long_out, long_from, peer_in;
	bool long_owed; /* the peer has advertised long flows: a report with our count is due */
	uint64_t long_at, peer_in_at; /* when the peer advertised these; 0: never */
	uint64_t rtt_at; /* least_rtt is as of this time */
	uint32_t least_rtt; /* ns, of all flows of the pair; 0: unknown */
	uint64_t cnps_spent; /* budget of CNPs that may be withheld from RNICs */
	uint64_t spray_at; /* earliest time of the next ASK about requests */
	uint64_t reads_at; /* earliest time of the next OFFER or ASK about READ responses */
	uint64_t full_at; /* earliest time of the next look-up of a place for READ responses */
	uint32_t answered; /* flow whose forced challenge was answered last, or HP3_NO_FLOW */
	uint32_t void_hand; /* next flow to examine (life/void.c), or HP3_NO_FLOW */
	uint32_t voids; /* forced challenges that left with a lower number are void (rule 15) */
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
/* Index, or HP3_NO_PAIR. */
uint32_t hp3_pairs_find(const struct hp3_pairs *t, const struct hp3_ends *ends);
/* Finds or adds the pair; HP3_NO_PAIR if the table is full. */
uint32_t hp3_pairs_get(struct hp3_pairs *t, const struct hp3_ends *ends);
void hp3_pairs_free(struct hp3_pairs *t, uint32_t index);

#endif
