/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Address pairs: local address, remote address and VLAN of flows. A record has the state that the
 * flows of a pair share: addresses, list of flows, probes. IPv4 packets in steady state do not
 * touch the record. For an IPv6 packet, the engine compares the addresses with the record.
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
	uint32_t nunpaired; /* number of unpaired flows of the pair */
	uint64_t began; /* time when the newest flow of the pair began */
	uint32_t announced[HP3_ANNOUNCERS]; /* number of announced flows, by source (announced.h) */
	/* searches and moves under way, without those by operators, at set-up, and for dead
	 * paths */
	uint32_t nmoves;
	uint32_t nholds; /* verbs mode: queue pairs that are held for moves of the peer */
	struct hp3_probe_budget budget;
	bool paths_ready; /* the pair's path table is initialised */
	/* Does the peer run hp3d? */
	/* true: the peer does not run hp3d, because it answered no peer probe; the engine sends it
	 * no further peer probe before peer_ask */
	bool peer_plain;
	uint8_t peer_silent; /* rounds of probes in a row that the peer did not answer */
	uint64_t peer_seen; /* time when the peer's hp3d last showed that it is alive; 0: never */
	/* peer_plain: time of the next peer probe; else: peer_plain is not set before this time */
	uint64_t peer_ask;
	/* The pair has one dead-path search at a time, for all its flows (search/dead.c). */
	/* slot of the dead-path search; check that the slot still has this search */
	uint16_t watch_slot;
	uint8_t dead_level; /* dead-path searches in a row without a result */
	uint8_t pause; /* longest natural pause of a flow (search/pause.h) */
	uint64_t dead_wait; /* earliest time of the next dead-path search */
	uint64_t heard; /* time when una of a flow last advanced */
	/* time of the last reply to a local QPN without a flow, in units of 2^HP3_TICK_SHIFT ns; 0:
	 * none yet */
	uint32_t unclaimed_at;
	/* Paths that drop long packets silently (search/size.c). */
	/* longest request of a flow without a known path MTU: bytes of the IP datagram */
	uint16_t longest;
	/* a path that drops long packets was found: until this time, all probes are as long as
	 * data */
	uint64_t swallows_until;
	/* the RNIC sent IP fragments: no moves until this time (rule 17); 0: it sent none */
	uint64_t pinned_until;
	/* no challenges before this time: replies to queue pairs without a record may arrive */
	uint64_t untracked_until;
	uint64_t spray_at; /* earliest time of the next ASK about requests */
	uint64_t reads_at; /* earliest time of the next OFFER or ASK about READ responses */
	uint64_t full_at; /* earliest time of the next check for a free place for READ responses */
	uint32_t answered; /* flow whose forced challenge was answered last, or HP3_NO_FLOW */
	uint32_t void_hand; /* next flow to examine (life/void.c), or HP3_NO_FLOW */
	/* a counter; forced challenges that left at a lower value are cancelled (rule 15) */
	uint32_t voids;
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
