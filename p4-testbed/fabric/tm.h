/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The traffic manager: a discrete event model of the queues, links and pauses of the whole fabric,
 * which follows the real time. It uses no DPDK, does no I/O, and reads no clock: callers pass the
 * time.
 *
 * A lane is one direction of a link. A lane has eight queues that share the lane's buffer; priority
 * 7 is served first. Behind the queues are a serialiser with the lane's rate, and a wire with the
 * lane's delay. Every event has a nominal time. If the process slept too long, it handles the
 * missed events one by one, each at its nominal time. So rates, delays and queue depths are exact.
 * Only frames to a host may be late, by the length of the sleep.
 *
 * Lossless mode (PFC, IEEE 802.1Qbb): for each lane and priority, the model counts the bytes that
 * arrived by the lane and wait in the switch. If the count exceeds `xoff`, the lane's sender gets a
 * message to pause this priority. When the count is at or below `xon`, the sender gets a message to
 * resume. A message takes the lane's delay. If the lane's sender is a host, the model calls
 * pause_host() when the message arrives, and the caller sends PFC frames. The queues of a lane from
 * a host model the queues of the host's NIC. These queues also pause the host when they exceed
 * `xoff`.
 *
 * Invariants: frames of one lane and priority leave in the order in which they arrived, except
 * frames that impair.h delays. Each frame is either delivered once, or dropped once with a named
 * reason. Events happen in order of time. Events of the same time happen in the order in which they
 * were added.
 *
 * Units: nanoseconds and bytes. The length of a frame does not include the FCS; on the wire, a
 * frame takes HP3_TOPO_WIRE more bytes.
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

/* The traffic manager's part of a packet buffer; the caller owns the rest of the buffer. */
struct hp3_frame {
	struct hp3_frame *next;
	uint64_t at; /* for a frame on the wire: when it arrives at the far end */
	uint32_t bytes;
	uint32_t lane_in; /* lane by which the frame arrived at this node, or HP3_TM_NO_LANE */
	uint32_t priority;
};

struct hp3_fifo {
	struct hp3_frame *head, *tail;
};

struct hp3_lane_stats {
	uint64_t packets, bytes; /* frames and bytes put on the wire */
	uint64_t drops[HP3_TM_DROP_MAX];
	uint64_t pauses; /* number of pauses of a priority */
	/*
	 * time in which the far end paused any priority; only pauses that have ended, and that no
	 * PFC frame of a host caused
	 */
	uint64_t paused_ns;
	uint32_t peak_bytes; /* most bytes in all queues together since the last reset */
	uint64_t delayed, duplicated, damaged, remarked; /* frames that impair.h changed */
};

/* Frames on a wire, in order of arrival. */
struct hp3_wire {
	struct hp3_fifo q;
	uint64_t last; /* time of arrival of the last frame */
	bool due; /* an event exists for the arrival of the first frame */
};

struct hp3_lane {
	/* parameters; rate, delay and impairments may change at any time */
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
	uint32_t depth[HP3_TM_PRIORITIES], waiting; /* bytes per queue, and in all queues */
	uint32_t inside[HP3_TM_PRIORITIES]; /* bytes from this lane that wait in the switch */
	uint64_t free_at; /* when the serialiser is free */
	uint64_t pause_until[HP3_TM_PRIORITIES]; /* end of a pause by a PFC frame of a host */
	uint64_t paused_since;
	uint8_t paused; /* bitmap: priorities that the far end has paused */
	uint8_t asked; /* priorities for which this lane's sender was asked to pause */
	uint8_t nic_full; /* lane from a host: priorities whose queues are above xoff */
	uint8_t signaled; /* the priorities in the last call of pause_host() */
	bool dequeue_due;
	struct hp3_lane_stats stats;
};

struct hp3_tm_ops {
	/* The frame has arrived at the lane's far end; the caller owns it again. */
	void (*deliver)(void *arg, uint32_t lane, struct hp3_frame *f);
	void (*drop)(void *arg, uint32_t lane, struct hp3_frame *f, enum hp3_tm_drop why);
	/* The host that sends on this lane must pause these priorities, and no others. */
	void (*pause_host)(void *arg, uint32_t lane, uint8_t priorities);
	/* Hash of the frame's addresses and ports; decides which flows a black hole drops. */
	uint32_t (*flow)(void *arg, const struct hp3_frame *f);
	/* Sets the mark CE of an ECN-capable packet, or clears it; true: the packet changed. */
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
	uint64_t frames; /* number of frames in queues and on wires */
	struct hp3_heap events; /* index: lane; kind: enum tm_kind */
	const struct hp3_tm_ops *ops;
	void *arg;
};

/*
 * Returns 0 or -ENOMEM. Afterwards, all lanes are up. All other parameters of lanes are 0, and the
 * caller sets them.
 */
int hp3_tm_init(
	struct hp3_tm *tm, uint32_t lanes, uint64_t seed, const struct hp3_tm_ops *ops, void *arg);
void hp3_tm_free(struct hp3_tm *tm); /* drops every frame */

/* Puts a frame into a queue at tm->now. The caller has set f->bytes and f->lane_in. */
void hp3_tm_enqueue(struct hp3_tm *tm, uint32_t lane, struct hp3_frame *f, uint32_t priority);

/* Runs all events up to and including time `until`. Afterwards, tm->now is `until`. */
void hp3_tm_run(struct hp3_tm *tm, uint64_t until);

/* Sets a lane down and drops its frames, or sets the lane up. */
void hp3_tm_set_up(struct hp3_tm *tm, uint32_t lane, bool up);

/*
 * Call this when a PFC frame has arrived from the host at this lane's end. Pauses a priority for
 * `ns`; 0: resumes the priority.
 */
void hp3_tm_host_pause(struct hp3_tm *tm, uint32_t lane, uint32_t priority, uint64_t ns);

const char *hp3_tm_drop_name(enum hp3_tm_drop d);
