/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_SPRAY_QUOTA_H
#define HP3_ENGINE_SPRAY_QUOTA_H
/*
 * What each peer has of the room that all peers share: agreements, and packets that are held. A
 * peer may take one more while it has less than HP3_QUOTA_ALPHA times what is free: dynamic
 * thresholds, as in switches whose ports share a buffer (Choudhury and Hahne, 1998). A lone peer
 * gets two thirds of the room, and leaves a third to others.
 *
 * An agreement is not taken back, so each further peer that takes all that it may leaves a third of
 * the free places, until none is left. So an eighth of the places is for first agreements: a peer
 * that has one gets another one from the rest alone. A peer without an agreement gets one wherever
 * a place is free. As many such peers as that eighth has places get one each, however many others
 * take all that they may.
 *
 * A peer is a remote address, in whatever VLANs: a host that has the key chooses these. The table
 * has a place for each agreement that there can be, and its hash has a key; so no choice of
 * addresses makes it full for others.
 */
#include "engine/ends.h"

#define HP3_QUOTA_ALPHA 2u
#define HP3_QUOTA_FIRST 8u /* one place of so many is for first agreements */
#define HP3_NO_QUOTA    UINT16_MAX

struct hp3_quota {
	uint8_t remote[16]; /* IPv4: first four bytes, rest 0 */
	uint64_t bytes; /* held */
	uint32_t packets; /* likewise */
	uint16_t next; /* of the same chain, or free */
	uint16_t ins, outs; /* agreements: to resequence; to spray */
	uint16_t read_ins, read_outs; /* ... of these, about READ responses */
	bool ipv6;
};

struct hp3_quotas {
	struct hp3_quota *peer;
	uint16_t *heads;
	uint32_t mask; /* of heads */
	uint16_t free;
	uint64_t key[3];
};

/* `n` peers; heads: a power of two. */
void hp3_quota_init(struct hp3_quotas *q, uint32_t n, uint32_t heads, uint64_t seed);
/* The peer's; HP3_NO_QUOTA: it has nothing. */
uint16_t hp3_quota_find(const struct hp3_quotas *q, const struct hp3_ends *ends);
/* ... of which the caller counts something then; there is a place. */
uint16_t hp3_quota_get(struct hp3_quotas *q, const struct hp3_ends *ends);
/* The caller has counted something of it less: it may have nothing any more. */
void hp3_quota_put(struct hp3_quotas *q, uint16_t i);

/* May who has `used` take `more` of what is free? */
static inline bool hp3_quota_allows(uint64_t used, uint64_t more, uint64_t free)
{
	return used + more <= HP3_QUOTA_ALPHA * free;
}

/* May a peer with `used` agreements have one more, where `free` of `places` are free? */
static inline bool hp3_quota_allows_agreement(uint32_t used, uint32_t free, uint32_t places)
{
	uint32_t kept = places / HP3_QUOTA_FIRST;

#ifdef HP3_BREAK_QUOTA_FIRST
	kept = 0;
#endif
	if (used == 0)
		return free != 0;
	return free > kept && hp3_quota_allows(used, 1, free - kept);
}

#endif
