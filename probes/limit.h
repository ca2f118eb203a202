/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Token buckets (GCRA, ITU-T I.371). The state of a bucket is one number: the virtual time up to
 * which tokens are spent. A state of 0 is a full bucket. In a period of t seconds, at most burst +
 * rate x t tokens are spent. Times are ns.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/minmax.h"

struct hp3_limit {
	uint32_t rate; /* tokens per second; 0: no tokens, whatever `burst` is */
	uint32_t burst;
};

/* Is a token available? */
static inline bool hp3_limit_ready(const struct hp3_limit *l, uint64_t spent_until, uint64_t now)
{
	uint64_t ahead = spent_until > now ? spent_until - now : 0;

	return l->rate != 0 && l->burst != 0 &&
	       ahead <= (uint64_t)(l->burst - 1) * 1000000000u / l->rate;
}

static inline void hp3_limit_spend(const struct hp3_limit *l, uint64_t *spent_until, uint64_t now)
{
	uint64_t start = hp3_max_u64(*spent_until, now);

	*spent_until = start + (1000000000u + (uint64_t)l->rate - 1) / l->rate;
}

/* Spends a token. False: none is available. */
static inline bool hp3_limit_take(const struct hp3_limit *l, uint64_t *spent_until, uint64_t now)
{
	if (!hp3_limit_ready(l, *spent_until, now))
		return false;
	hp3_limit_spend(l, spent_until, now);
	return true;
}
