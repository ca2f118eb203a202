/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Impairments of a lane (one direction of a link). These functions decide which frames to impair;
 * the traffic manager drops, delays and delivers frames. If all keys are 0, frames are not
 * impaired.
 *
 * Shares (ppm) are parts of a million frames. A loss is silent, and drops `loss_burst` frames in a
 * row. Longer bursts are rarer, so that the share of lost frames is always `loss_ppm`. A reordered
 * frame takes `reorder_us` longer, so later frames overtake it. The copy of a duplicated frame
 * arrives directly after the frame. IP datagrams longer than `mtu` are dropped, and no ICMP message
 * is sent. A flapping lane drops all frames in the last `flap_down_ms` of each `flap_ms`; switches
 * do not detect this. ECN marks change on the wire, so later switches receive the changed marks.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(key, unit, most, description): keys of scenarios and of the control socket. */
#define HP3_IMPAIRMENTS(X)                                                                         \
	X(loss_ppm, "ppm", 1000000, "random loss")                                                 \
	X(loss_burst, "frames", 10000, "lost in a row; 0: one")                                    \
	X(duplicate_ppm, "ppm", 1000000, "frames that arrive twice")                               \
	X(reorder_ppm, "ppm", 1000000, "frames that take longer than the next ones")               \
	X(reorder_us, "us", 1000000, "how much longer")                                            \
	X(corrupt_ppm, "ppm", 1000000, "frames of which one bit behind the IP header flips")       \
	X(mtu, "bytes", 65535, "longer IP datagrams are dropped; 0: no limit")                     \
	X(flap_ms, "ms", 3600000, "interval of drops of all frames; 0: never")                     \
	X(flap_down_ms, "ms", 3600000, "length of these drops")

/* Changes of ECN-capable packets. X(symbol, text). */
#define HP3_IMPAIR_ECNS(X)                                                                         \
	X(KEEP, "keep")                                                                            \
	X(CLEAR, "clear") /* CE becomes ECT(0) */                                                  \
	X(SET, "set") /* all become CE */

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
	/* share of flows, chosen by a hash, of which all frames are dropped */
	uint32_t blackhole_percent;
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

/*
 * Call this when a frame enters the lane. Returns the reason to drop the frame (enum hp3_tm_drop),
 * or -1: do not drop it.
 */
int hp3_impair_drop(struct hp3_tm *tm, uint32_t lane, const struct hp3_frame *f);
/* Call this when a frame enters the wire. Returns the frame's additional delay in ns. */
uint64_t hp3_impair_delay(struct hp3_tm *tm, uint32_t lane);
/*
 * Call this when a frame has arrived. Applies bit errors and marks to the frame. Returns a copy of
 * the frame that must be delivered as well, or NULL.
 */
struct hp3_frame *hp3_impair_arrival(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f);
