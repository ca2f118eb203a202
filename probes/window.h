/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_WINDOW_H
#define HP3_PROBES_WINDOW_H
/*
 * Which probes were answered already: a fixed-size cache of their hashes, in sets of one cache
 * line. A probe is remembered for as long as its time would be accepted, that is while it differs
 * from the clock by no more than `span`; after that its place is free.
 *
 * Invariant: nothing is forgotten early. A set that is full refuses the newcomer, so no flood can
 * wash a probe out to replay it. The hash has to be keyed with a secret of this host, because
 * senders choose what is hashed. Then sets fill up evenly: with 8 places per set and a third of all
 * places taken, less than one probe in a hundred finds its set full
 * (tests/unit/test_probe_window.c).
 *
 * The last HP3_WINDOW_RESERVED places of a set are for known sources.
 *
 * Units: seconds, of the wall clock.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_WINDOW_WAYS     8u
#define HP3_WINDOW_RESERVED 4u

struct hp3_window {
	uint64_t *place; /* sets x ways: upper 40 bits hash, lower 24 bits time; 0: never used */
	uint32_t sets; /* a power of two */
	uint32_t span;
};

/* Place for a new probe; -EEXIST: seen before; -ENOSPC: no room in its set. */
int64_t hp3_window_look(const struct hp3_window *w, uint64_t hash, uint64_t clock, bool known);

/* The probe of this hash and time takes the place. */
void hp3_window_keep(struct hp3_window *w, int64_t place, uint64_t hash, uint64_t time);

#endif
