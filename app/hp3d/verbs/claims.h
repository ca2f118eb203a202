/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Claims: the local queue pairs (address and QPN) that applications have reported. A second claim
 * to a queue pair is refused. Single-threaded.
 */
#include <stdbool.h>
#include <stdint.h>
#include "app/hp3d/verbs/counts.h"
#include "engine/engine.h"

struct hp3d_claims {
	struct hp3d_counts table; /* 1: claimed */
	uint32_t n, most;
};

/* Room for `most` claims. Returns 0, or -ENOMEM. */
int hp3d_claims_open(struct hp3d_claims *c, uint32_t most, uint64_t seed);
bool hp3d_claims_has(const struct hp3d_claims *c, const struct hp3_qp_event *qp);
/* No effect if the claim is not new, or if there is no room. */
void hp3d_claims_add(struct hp3d_claims *c, const struct hp3_qp_event *qp);
void hp3d_claims_drop(struct hp3d_claims *c, const struct hp3_qp_event *qp);
