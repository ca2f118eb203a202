/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Totals of a pipe's events: how its moves ended, their causes, and durations. A packet of a flow
 * in steady state changes no total. Totals include events that are lost because the ring to the
 * control thread is full. The pipe's own thread writes; other threads may read single values at any
 * time.
 *
 * Histograms have fixed memory: bucket k counts durations of at most 2^k us that are too long for
 * the bucket before. The last bucket counts all longer durations.
 */
#include "engine/event.h"

#define HP3D_BUCKETS 24u /* buckets that have a bound: 1 us to 8.4 s */

struct hp3d_histogram {
	uint64_t bucket[HP3D_BUCKETS + 1];
	uint64_t sum_ns;
};

/* X(field, help) */
#define HP3D_TIMES(X)                                                                              \
	X(move_drain, "from the last packet on the old path to the proof that this path is empty") \
	X(move_hold, "how long packets were held by a move, or by a message that waited")          \
	X(move_decision,                                                                           \
		"from the request of a move until the new port is in use, searches included")      \
	X(failover_stall, "from the last progress on a path until it is left as dead")             \
	X(probe_rtt, "round trips of the probes that were answered in time")

struct hp3d_tally {
	/* by cause, and by the event that ends a move: SWITCH, IDLE_SWITCH, RECOVER, EPOCH,
	 * FAILOVER */
	uint64_t moves[HP3_EVENT_MAX][HP3_CAUSE_MAX];
	uint64_t observed[HP3_CAUSE_MAX]; /* moves that mode observe did not make */
	uint64_t verdicts[HP3_PAYOFF_MAX];
	uint64_t events[HP3_EVENT_MAX];
#define X(field, help) struct hp3d_histogram field;
	HP3D_TIMES(X)
#undef X
};

/* The bucket of a duration. */
static inline unsigned hp3d_bucket_of(uint64_t ns)
{
	uint64_t us = ns > 0 ? (ns - 1) / 1000 : 0; /* rounded up, less one */
	unsigned k = us > 0 ? 64u - (unsigned)__builtin_clzll(us) : 0;

	return k < HP3D_BUCKETS ? k : HP3D_BUCKETS;
}

void hp3d_tally_event(struct hp3d_tally *t, const struct hp3_event *event);
