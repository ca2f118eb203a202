/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_VERBS_CLAIMS_H
#define HP3D_VERBS_CLAIMS_H
/*
 * The local queue pairs (address and QPN) that applications share with hp3d. This is a hash table,
 * because applications can cause any number of searches. Its hash has a random seed, because
 * applications choose the keys, too. Single-threaded.
 */
#include <stdbool.h>
#include <stdint.h>
#include "engine/engine.h"

struct hp3d_claim {
	uint8_t local[16];
	uint32_t lqpn;
	bool ipv6, taken;
};

struct hp3d_claims {
	struct hp3d_claim *at;
	uint32_t buckets; /* a power of two, at least twice `most` */
	uint32_t n, most;
	uint64_t seed;
};

/* Room for `most` claims. 0, or -ENOMEM. */
int hp3d_claims_open(struct hp3d_claims *c, uint32_t most, uint64_t seed);
void hp3d_claims_close(struct hp3d_claims *c);
bool hp3d_claims_has(const struct hp3d_claims *c, const struct hp3_qp_event *qp);
/* The claim must be new, and there must be room. */
void hp3d_claims_add(struct hp3d_claims *c, const struct hp3_qp_event *qp);
void hp3d_claims_drop(struct hp3d_claims *c, const struct hp3_qp_event *qp);

#endif
