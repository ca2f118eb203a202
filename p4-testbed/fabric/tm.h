/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The traffic manager: queues, links and pauses of the whole fabric, as a discrete event model that
 * follows the clock. It uses no DPDK, does no I/O, and reads no clock: callers pass the time.
 *
 * A lane is one direction of a link: eight queues (priority 7 is served first) that share the
 * lane's buffer, a serialiser with the lane's rate, and a wire with the lane's delay. Every frame
 * has a nominal time. After a process slept too long, it handles the events of this time one by
 * one, so rates, delays and queue depths are exact. Only frames to a host may be late, by the
 * length of the sleep.
 *
 * Lossless (PFC, IEEE 802.1Qbb): bytes that arrived by a lane and wait in the switch are counted
 * for this lane and their priority. If the count exceeds `xoff`, the lane's sender gets a message
 * to pause this priority. When the count is at or below `xon`, the sender gets a message to resume.
 * A message takes the lane's delay. If the lane's sender is a host, pause_host() is called when the
 * message arrives, and the caller sends PFC frames. The queues of a host's lane model the queues of
 * its NIC: they also pause the host when they exceed `xoff`.
 *
 * Invariants: frames of one lane and priority leave in the order in which they arrived, except
 * those that impair.h delays. A frame is delivered, or dropped with a named reason, exactly once.
 * Events happen in order of time, ties in the order in which they were added.
 *
 * Units: nanoseconds, bytes (a frame without FCS; on the wire it takes HP3_TOPO_WIRE more).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/heap.h"
#include "p4-testbed/fabric/impair.h"

#define HP3_TM_PRIORITIES 8u
#define HP3_TM_WIRES      2u /* one for frames in order, one for delayed frames */
#define HP3_TM_NO_LANE    UINT32_MAX
#define HP3_TM_NEVER      UINT64_MAX

/* Why a lane drops a frame. X(symbol, text). */
#define HP3_TM_DROPS(X)                                                                            \
	X(FULL, "queue-full")                                                                      \
	X(DOWN, "link-down")                                                                       \
	X(BLACKHOLE, "blackhole")                                                                  \
	X(FLAP, "flap")                                                                            \
	X(TOO_BIG, "too-big")                                                                      \
	X(RANDOM, "random-loss")

enum hp3_tm_drop {
#define X(sym, text) HP3_TM_DROP_##sym,
	HP3_TM_DROPS(X)
#undef X
		HP3_TM_DROP_MAX
};

/* The part of a packet buffer that the traffic manager needs; the caller owns the rest. */
struct hp3_frame {
	struct hp3_frame *next;
	uint64_t at; /* once on the wire: when it arrives at the far end */
	uint32_t bytes;
	uint32_t lane_in; /* by which it arrived at this node, or HP3_TM_NO_LANE */
	uint32_t priority;
};

struct hp3_fifo {
	struct hp3_frame *head, *tail;
};

struct hp3_lane_stats {
	uint64_t packets, bytes; /* put on the wire */
	uint64_t drops[HP3_TM_DROP_MAX];
	uint64_t pauses; /* how often a priority was paused */
	/* time in which the far end paused any priority; ended pauses only, and none that a host's
	 * PFC frame caused */
	uint64_t paused_ns;
	uint32_t peak_bytes; /* most bytes in all queues together since the reader reset it */
	uint64_t delayed, duplicated, damaged, remarked; /* by impair.h */
};

/* Frames on a wire, in order of arrival. */
struct hp3_wire {
	struct hp3_fifo q;
	uint64_t last; /* arrival of the last frame */
	bool due; /* an event exists for the arrival of the first frame */
};

struct hp3_lane {
	/* set-up; rate, delay and impairments may change at any time */
	uint64_t rate_bps, delay_ns;
	uint32_t buffer_bytes;
	bool from_host;
	bool up;
	struct hp3_impair impair;
	uint64_t flaps_since; /* when impair.flap_ms was set */
	/* state */
	struct hp3_fifo queue[HP3_TM_PRIORITIES];
	struct hp3_wire wire[HP3_TM_WIRES];
	uint32_t to_lose; /* frames of the current burst of losses still to drop */
	uint32_t depth[HP3_TM_PRIORITIES], waiting; /* bytes per queue and in all */
	uint32_t inside[HP3_TM_PRIORITIES]; /* bytes from this lane that wait in the switch */
	uint64_t free_at; /* when the serialiser is free */
	uint64_t pause_until[HP3_TM_PRIORITIES]; /* a host's PFC frame pauses for a limited time */
	uint64_t paused_since;
	uint8_t paused; /* by the far end, bit per priority */
	uint8_t asked; /* priorities for which this lane's sender was asked to pause */
	uint8_t nic_full; /* host's lane: priorities whose queues are above xoff */
	uint8_t signaled; /* priorities in the last call of pause_host() */
	bool dequeue_due;
	struct hp3_lane_stats stats;
};

struct hp3_tm_ops {
	/* The frame has arrived at the lane's far end; the caller owns it again. */
	void (*deliver)(void *arg, uint32_t lane, struct hp3_frame *f);
	void (*drop)(void *arg, uint32_t lane, struct hp3_frame *f, enum hp3_tm_drop why);
	/* The host that sends on this lane has to stop exactly these priorities. */
	void (*pause_host)(void *arg, uint32_t lane, uint8_t priorities);
	/* Hash of the frame's addresses and ports; decides which flows a black hole drops. */
	uint32_t (*flow)(void *arg, const struct hp3_frame *f);
	/* Marks an ECN-capable packet CE, or clears its mark; true: it changed. */
	bool (*remark)(void *arg, struct hp3_frame *f, bool ce);
	/* Flips one bit, chosen by `random`. */
	void (*damage)(void *arg, struct hp3_frame *f, uint32_t random);
	/* A copy; NULL: no buffer is left. */
	struct hp3_frame *(*copy)(void *arg, const struct hp3_frame *f);
};

struct hp3_tm {
	struct hp3_lane *lane;
	uint32_t n_lanes;
	bool lossless;
	uint32_t xoff, xon;
	uint64_t now, rng;
	uint64_t frames; /* how many wait or are on wires */
	struct hp3_heap events; /* index: lane; kind: enum tm_kind */
	const struct hp3_tm_ops *ops;
	void *arg;
};

int hp3_tm_init(struct hp3_tm *tm, uint32_t lanes, uint64_t seed, const struct hp3_tm_ops *ops,
	void *arg); /* 0 or -ENOMEM; lanes are up and otherwise zero: the caller sets them */
void hp3_tm_free(struct hp3_tm *tm); /* drops every frame */

/* Puts a frame into a queue at tm->now. The caller has set f->bytes and f->lane_in. */
void hp3_tm_enqueue(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f, uint32_t priority);

/* Runs every event up to and including `until`; afterwards tm->now = until. */
void hp3_tm_run(struct hp3_tm *tm, uint64_t until);

/* Takes a lane down and drops its frames; or takes it up again. */
void hp3_tm_set_up(struct hp3_tm *tm, uint32_t lane, bool up);

/* A PFC frame has arrived from the host at this lane's end: pauses a priority for `ns` (0: resumes
 * it). */
void hp3_tm_host_pause(struct hp3_tm *tm, uint32_t lane, uint32_t priority, uint64_t ns);

const char *hp3_tm_drop_name(enum hp3_tm_drop d);
