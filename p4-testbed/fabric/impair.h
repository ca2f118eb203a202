/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTBED_IMPAIR_H
#define HP3_TESTBED_IMPAIR_H
/*
 * What a lane does to frames beyond carrying them: a network that is not well. The traffic manager
 * asks; nothing here drops, delays or delivers by itself. All 0: nothing is done.
 *
 * Shares are of a million frames. A loss is silent and takes `loss_burst` frames in a row, so that
 * the share stays what it is. A frame that is reordered flies `reorder_us` longer, past those
 * behind it. A copy follows its original at once. `mtu` is of IP datagrams; nobody is told. A lane
 * that flaps swallows what comes to it in the last `flap_down_ms` of each `flap_ms`; switches do
 * not notice. Marks change on the wire: switches behind it see what the host would.
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

/* What becomes of ECN-capable packets. X(symbol, text). */
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
	uint32_t blackhole_percent; /* of flows are swallowed, always the same ones */
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

/* A frame comes to the lane: why it is swallowed (enum hp3_tm_drop), or -1. */
int hp3_impair_drop(struct hp3_tm *tm, uint32_t lane, const struct hp3_frame *f);
/* A frame is put on the wire: ns that it flies longer. */
uint64_t hp3_impair_delay(struct hp3_tm *tm, uint32_t lane);
/* A frame has arrived: bits and marks; and its copy, or NULL. */
struct hp3_frame *hp3_impair_arrival(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f);

#endif
