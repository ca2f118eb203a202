/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_LEAST_H
#define HP3_PPP_LEAST_H
/*
 * The least time from post to completion that a queue pair was seen to take, by what was in its
 * send queue: a work request behind a megabyte takes longer than one alone, on the same path. Sizes
 * are told apart by powers of two. A least time grows by a 64th each second, for paths change.
 *
 * A queue that is as long as never before may be so because work takes longer: what was seen with
 * less in it says how long it should take at most, half as long again for each doubling.
 *
 * Units: nanoseconds, bytes.
 */
#include <stdint.h>

#define HP3_LEAST_SIZES 33u

struct hp3_least {
	uint64_t aged; /* when they last grew */
	uint32_t ns[HP3_LEAST_SIZES]; /* 0: none seen */
};

void hp3_least_init(struct hp3_least *l, uint64_t now);
/* To be called now and then. */
void hp3_least_age(struct hp3_least *l, uint64_t now);
/* One took took_ns (not 0), with so much queued; returns the least, itself included. */
uint32_t hp3_least_seen(struct hp3_least *l, uint32_t queued, uint32_t took_ns);
/* With so much queued; 0: none seen. */
uint32_t hp3_least_of(const struct hp3_least *l, uint32_t queued);

#endif
