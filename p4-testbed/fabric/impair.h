/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTBED_IMPAIR_H
#define HP3_TESTBED_IMPAIR_H
/*
 * Impairments of a lane. These functions only decide; the traffic manager drops, delays and
 * delivers. All 0: no impairment.
 *
 * Shares are of a million frames. A loss is silent and takes `loss_burst` frames in a row; the
 * share of lost frames stays the same. A reordered frame takes `reorder_us` longer, so later frames
 * overtake it. A copy follows its original at once. `mtu` limits IP datagrams; longer ones are
 * dropped without ICMP. A flapping lane drops all frames in the last `flap_down_ms` of each
 * `flap_ms`; switches do not detect it. Marks change on the wire: later switches see the change.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(key, unit, most, what it is): keys of scenarios and of the control socket. */
#define HP3_IMPAIRMENTS(X)                                                                         \
	X(loss_ppm, "ppm", 1000000, "random loss")                                                 \
	X(loss_burst, "frames", 10000, "lost in a row each time; 0: one")                          \
	X(duplicate_ppm, "ppm", 1000000, "frames that arrive twice")                               \
	X(reorder_ppm, "ppm", 1000000, "frames that fly longer than those behind them")            \
	X(reorder_us, "us", 1000000, "how much longer")                                            \
	X(corrupt_ppm, "ppm", 1000000, "frames of which one bit behind the IP header flips")       \
	X(mtu, "bytes", 65535, "longer IP datagrams are swallowed; 0: none is")                    \
	X(flap_ms, "ms", 3600000, "swallows everything once in so long; 0: never")                 \
	X(flap_down_ms, "ms", 3600000, "for so long each time")

/* Changes of ECN-capable packets. X(symbol, text). */
#define HP3_IMPAIR_ECNS(X)                                                                         \
	X(KEEP, "keep")                                                                            \
	X(CLEAR, "clear") /* CE becomes ECT(0) */                                                  \
	X(SET, "set") /* all are CE */

enum hp3_impair_ecn {
#define X(sym, text) HP3_IMPAIR_ECN_##sym,
	HP3_IMPAIR_ECNS(X)
#undef X
		HP3_IMPAIR_ECN_MAX
};

struct hp3_impair {
#define X(key, unit, most, help) uint32_t key;
	HP3_IMPAIRMENTS(X)
#undef X
	enum hp3_impair_ecn ecn;
	uint32_t blackhole_percent; /* of flows are dropped, always the same ones */
};

struct hp3_impair_key {
	const char *name;
	uint32_t most;
	size_t offset;
};

extern const struct hp3_impair_key hp3_impair_keys[];
extern const size_t hp3_impair_n_keys;
extern const char *const hp3_impair_ecns[]; /* by enum; ends with NULL */

struct hp3_tm;
struct hp3_frame;

/* A frame enters the lane: the reason to drop it (enum hp3_tm_drop), or -1. */
int hp3_impair_drop(struct hp3_tm *tm, uint32_t lane, const struct hp3_frame *f);
/* A frame enters the wire: ns that it takes longer. */
uint64_t hp3_impair_delay(struct hp3_tm *tm, uint32_t lane);
/* A frame has arrived: applies bit errors and marks; returns its copy, or NULL. */
struct hp3_frame *hp3_impair_arrival(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f);

#endif
