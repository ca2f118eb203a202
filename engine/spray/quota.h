/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_SPRAY_QUOTA_H
#define HP3_ENGINE_SPRAY_QUOTA_H
/*
 * What each peer has of the room that all peers share: agreements, and packets that are held. A
 * peer may take one more while it has less than HP3_QUOTA_ALPHA times what is free: dynamic
 * thresholds, as in switches whose ports share a buffer (Choudhury and Hahne, 1998). A lone peer
 * gets two thirds of the room, and leaves a third to others.
 *
 * A peer is a remote address in a VLAN. The table has a place for each agreement that there can be,
 * and its hash has a key; so no choice of addresses makes it full for others.
 */
#include "engine/ends.h"

#define HP3_QUOTA_ALPHA 2u
#define HP3_NO_QUOTA    UINT16_MAX

struct hp3_quota {
	uint8_t remote[16]; /* IPv4: first four bytes, rest 0 */
	uint64_t bytes; /* held */
	uint32_t packets; /* likewise */
	uint32_t vlan;
	uint16_t next; /* of the same chain, or free */
	uint16_t ins, reads; /* agreements: to resequence; about READs of the peer */
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

#endif
