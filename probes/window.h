/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Replay window of probes: a table of fixed size with the hashes of answered probes. The window
 * consists of sets of places; a set is one cache line. A probe stays in the window while its time
 * differs from the clock by at most `span`. Afterwards, the probe's place is free. If the source
 * has a key, the responder accepts the probe only while its time differs from the clock by at most
 * `span`. If the source has no key, the time of a probe is the time of its arrival.
 *
 * Invariant: no probe leaves the window early. If a set is full, a new probe is refused. So an
 * attacker cannot flush a probe from the window in order to replay it.
 *
 * Senders choose the bytes that are hashed, so the hash must use a secret key of this host. Sets
 * then fill evenly. Example with 8 places per set: if a third of all places is in use, fewer than
 * one probe in a hundred finds its set full (tests/unit/test_probe_window.c).
 *
 * The last HP3_WINDOW_RESERVED free places of a set are reserved for known sources.
 *
 * Times are seconds of the wall clock.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_WINDOW_WAYS     8u
#define HP3_WINDOW_RESERVED 4u

struct hp3_window {
	uint64_t *place; /* sets x ways; upper 40 bits: hash, lower 24 bits: time; 0: never used */
	uint32_t sets; /* a power of two */
	uint32_t span;
};

/*
 * Returns the place for a new probe; -EEXIST: the probe was answered before; -ENOSPC: the probe's
 * set has no room. `known`: the source is known (responder.h).
 */
int64_t hp3_window_look(const struct hp3_window *w, uint64_t hash, uint64_t clock, bool known);

/* Records the probe of this hash and time in the place. */
void hp3_window_keep(struct hp3_window *w, int64_t place, uint64_t hash, uint64_t time);
