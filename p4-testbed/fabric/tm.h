/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTBED_TM_H
#define HP3_TESTBED_TM_H
/*
 * The traffic manager: queues, links and pauses of the whole fabric, as a discrete event model that
 * is kept in step with the clock. No DPDK, no I/O, no clock of its own.
 *
 * A lane is one direction of a link: eight queues (priority 7 first) that share the lane's buffer,
 * a serialiser of the lane's rate, and the wire, which takes the lane's delay. Every frame has a
 * nominal time, to which the model keeps even where the process runs late: a process that slept a
 * little too long catches up event by event, so rates, delays and queue depths are exact, and only
 * what reaches a host may be late by the sleep.
 *
 * Lossless (PFC, IEEE 802.1Qbb): bytes that came in by a lane and wait behind a switch are charged
 * to that lane and priority. Above `xoff` the lane's sender is told to pause this priority, at or
 * below `xon` to go on; the message takes the lane's delay. A lane whose sender is a host reports
 * changes by pause_host(): then real PFC frames are for the caller to send. Such a lane's own
 * queues stand for the NIC's: they report the host as well when they exceed `xoff`.
 *
 * Invariants: frames of one lane and priority leave in the order in which they came, but for those
 * that impair.h has fly longer; a frame is delivered or dropped with a named reason, exactly once;
 * the events of a run happen in order of time, ties in the order in which they were made.
 *
 * Units: nanoseconds, bytes (a frame without FCS; on the wire it takes HP3_TOPO_WIRE more).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "p4-testbed/fabric/impair.h"

#define HP3_TM_PRIORITIES 8u
#define HP3_TM_WIRES      2u /* for frames in order, and for those that fly longer */
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
	uint64_t at; /* arrival at the far end, once on the wire */
	uint32_t bytes;
	uint32_t lane_in; /* by which it came into the node where it waits, or HP3_TM_NO_LANE */
	uint32_t priority;
};

struct hp3_fifo {
	struct hp3_frame *head, *tail;
};

struct hp3_lane_stats {
	uint64_t packets, bytes; /* put on the wire */
	uint64_t drops[HP3_TM_DROP_MAX];
	uint64_t pauses; /* how often a priority was stopped */
	uint64_t paused_ns; /* how long any was, finished stops only */
	uint32_t peak_bytes; /* deepest queue since the reader reset it */
	uint64_t delayed, duplicated, damaged, remarked; /* as impair.h has it */
};

/* Frames that fly, in the order in which they arrive. */
struct hp3_wire {
	struct hp3_fifo q;
	uint64_t last; /* arrival of the latest */
	bool due; /* there is an event for the first one */
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
	uint32_t to_lose; /* frames that are left of a burst of losses */
	uint32_t depth[HP3_TM_PRIORITIES], waiting; /* bytes per queue and in all */
	uint32_t inside[HP3_TM_PRIORITIES]; /* bytes that came by this lane and wait behind it */
	uint64_t free_at; /* serialiser */
	uint64_t pause_until[HP3_TM_PRIORITIES]; /* PFC frames of a host have a time */
	uint64_t paused_since;
	uint8_t paused; /* by the far end, bit per priority */
	uint8_t asked; /* pauses that we asked of this lane's sender */
	uint8_t nic_full; /* queues of a host's lane above xoff */
	uint8_t signaled; /* what the host was told last */
	bool dequeue_due;
	struct hp3_lane_stats stats;
};

struct hp3_tm_event {
	uint64_t at, seq;
	uint32_t lane;
	uint16_t kind, what;
};

struct hp3_tm_ops {
	/* The frame is at the lane's far end; it is the caller's again. */
	void (*deliver)(void *arg, uint32_t lane, struct hp3_frame *f);
	void (*drop)(void *arg, uint32_t lane, struct hp3_frame *f, enum hp3_tm_drop why);
	/* The host that sends on this lane has to stop exactly these priorities. */
	void (*pause_host)(void *arg, uint32_t lane, uint8_t priorities);
	/* Hash of the frame's addresses and ports: which flows a black hole takes. */
	uint32_t (*flow)(void *arg, const struct hp3_frame *f);
	/* An ECN-capable packet is marked CE, or its mark is cleared; was anything changed? */
	bool (*remark)(void *arg, struct hp3_frame *f, bool ce);
	/* One bit flips, which one says `random`. */
	void (*damage)(void *arg, struct hp3_frame *f, uint32_t random);
	/* Another one with the same content; NULL: no buffer is left. */
	struct hp3_frame *(*copy)(void *arg, const struct hp3_frame *f);
};

struct hp3_tm {
	struct hp3_lane *lane;
	uint32_t n_lanes;
	bool lossless;
	uint32_t xoff, xon;
	uint64_t now, rng;
	uint64_t seq, frames; /* inside, waiting or on wires */
	struct hp3_tm_event *heap;
	size_t n_heap, cap_heap;
	const struct hp3_tm_ops *ops;
	void *arg;
};

int hp3_tm_init(struct hp3_tm *tm, uint32_t lanes, uint64_t seed, const struct hp3_tm_ops *ops,
	void *arg); /* 0 or -ENOMEM; lanes are zero and up, the caller fills in the rest */
void hp3_tm_free(struct hp3_tm *tm); /* drops every frame */

/* At tm->now: f->bytes and f->lane_in are set. */
void hp3_tm_enqueue(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f, uint32_t priority);

/* Every event up to and including `until`; afterwards tm->now = until. */
void hp3_tm_run(struct hp3_tm *tm, uint64_t until);

/* Takes a lane down with all that waits and flies, or up again. */
void hp3_tm_set_up(struct hp3_tm *tm, uint32_t lane, bool up);

/* A PFC frame from the host that this lane leads to: stop a priority for so long (0: go on). */
void hp3_tm_host_pause(struct hp3_tm *tm, uint32_t lane, uint32_t priority, uint64_t ns);

const char *hp3_tm_drop_name(enum hp3_tm_drop d);

#endif
