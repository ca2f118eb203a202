/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The share of each peer in the resources that all peers share: places for agreements, and room for
 * held packets. A peer may take one more place (or byte) while it has less than HP3_QUOTA_ALPHA
 * times the free places (or bytes). This is a dynamic threshold, as in switches whose ports share a
 * buffer (Choudhury and Hahne, 1998). If only one peer asks, that peer gets two thirds of the
 * total, and a third stays free for others.
 *
 * hp3d does not revoke an agreement. So each further peer that takes its full share leaves a third
 * of the free places, until none is left. To prevent this, an eighth of the places is reserved for
 * first agreements. A peer that already has an agreement gets no reserved place. A peer without an
 * agreement gets any free place. So with n reserved places, n peers can always get a first
 * agreement, however many agreements other peers have.
 *
 * A peer is a remote address, whatever its VLANs: a host with the key can choose VLANs. The table
 * has a record for each possible agreement, and its hash is keyed. So no choice of addresses fills
 * the table or a chain.
 */
#include "engine/ends.h"

#define HP3_QUOTA_ALPHA 2u
#define HP3_QUOTA_FIRST 8u /* one of this many places is reserved for first agreements */
#define HP3_NO_QUOTA    UINT16_MAX

struct hp3_quota {
	uint8_t remote[16]; /* IPv4: first four bytes, rest 0 */
	uint64_t bytes; /* held */
	uint32_t packets; /* held */
	uint16_t next; /* next record of the same chain, or of the free list */
	uint16_t ins, outs; /* agreements: as the receiver; as the sender */
	/* numbers of agreements about READ responses, which ins and outs include */
	uint16_t read_ins, read_outs;
	bool ipv6;
};

struct hp3_quotas {
	struct hp3_quota *peer;
	uint16_t *heads;
	uint32_t mask; /* number of heads - 1 */
	uint16_t free;
	uint64_t key[3];
};

/* `n` records; `heads`: a power of two. */
void hp3_quota_init(struct hp3_quotas *q, uint32_t n, uint32_t heads, uint64_t seed);
/* The record of the peer; HP3_NO_QUOTA: the peer has no agreement and no held packet. */
uint16_t hp3_quota_find(const struct hp3_quotas *q, const struct hp3_ends *ends);
/*
 * The record of the peer, or a new record. The caller then increments a count of the record. The
 * table has a record for each possible agreement, so a record is free.
 */
uint16_t hp3_quota_get(struct hp3_quotas *q, const struct hp3_ends *ends);
/* The caller has decremented a count. If `ins` and `outs` are 0, the record becomes free. */
void hp3_quota_put(struct hp3_quotas *q, uint16_t i);

/* May a peer that has `used` places or bytes take `more` of the `free` places or bytes? */
static inline bool hp3_quota_allows(uint64_t used, uint64_t more, uint64_t free)
{
	return used + more <= HP3_QUOTA_ALPHA * free;
}

/* May a peer with `used` agreements have one more, if `free` of all `places` are free? */
static inline bool hp3_quota_allows_agreement(uint32_t used, uint32_t free, uint32_t places)
{
	uint32_t kept = places / HP3_QUOTA_FIRST;

	if (used == 0)
		return free != 0;
	return free > kept && hp3_quota_allows(used, 1, free - kept);
}
