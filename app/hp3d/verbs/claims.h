/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Claims: the local queue pairs (address and QPN) that applications have reported. A second claim
 * to a queue pair is refused. The claims are in a hash table, because applications can cause any
 * number of look-ups. The hash has a random seed, because applications choose the keys.
 * Single-threaded.
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

/* Room for `most` claims. Returns 0, or -ENOMEM. */
int hp3d_claims_open(struct hp3d_claims *c, uint32_t most, uint64_t seed);
void hp3d_claims_close(struct hp3d_claims *c);
bool hp3d_claims_has(const struct hp3d_claims *c, const struct hp3_qp_event *qp);
/* No effect if the claim is not new, or if there is no room. */
void hp3d_claims_add(struct hp3d_claims *c, const struct hp3_qp_event *qp);
void hp3d_claims_drop(struct hp3d_claims *c, const struct hp3_qp_event *qp);
