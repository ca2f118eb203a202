/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * What hp3x measures and decides (hp3x_path.c). A path is a queue pair that keeps its source port
 * and its rail. A pair is all paths from one host to another, for one verb. A library gets no
 * packets: it learns only that a slice has ended. Times are in ps, sizes in bytes, rates in bytes
 * per second.
 */
#include "sim/core/sim.h"
#include "xfer/core/window.h"

/* Limits of a pair and its paths. */
struct hp3x_limits {
	uint32_t slice_bytes;
	bool pair_window; /* rails have windows */
};

#define HP3X_RAILS 8u /* of a host, at most (xfer.rails, fabric.planes) */

/*
 * All paths of a pair on one rail. They share the rail's link, so a window limits them together.
 * (The window of the library has room for all rails.)
 */
struct hp3x_rail {
	struct hp3x_window_limits of; /* most_rate: that of the source host's link */
	struct hp3x_window window;
	uint64_t in_flight; /* of all paths; a slice may always be in flight */
	uint64_t rtt; /* the least of a path */
};

struct hp3x_path {
	struct sim_flow *flow;
	struct hp3x_rail *rail;
	uint64_t rate; /* EWMA over slices; at first the rate of the rail */
	uint64_t rtt; /* least RTT; 0: not measured yet */
	uint64_t in_flight; /* posted, and not ended */
	uint64_t window; /* limit of in_flight; a slice may always be in flight */
	uint64_t ended; /* time when the last slice ended */
};

struct hp3x_pair {
	struct hp3x_limits limits;
	uint32_t first, last; /* demands with unposted bytes: a queue */
	uint64_t waiting; /* unposted bytes of these demands */
	uint32_t turn; /* the path after the last one that was chosen */
	uint32_t rails, n; /* path i is on rail i % rails */
	struct hp3x_rail rail[HP3X_RAILS];
	struct hp3x_path path[];
};

/* A slice that has ended. */
struct hp3x_slice {
	uint32_t bytes;
	uint64_t posted; /* time */
	uint64_t delivered; /* rail->window.delivered at that time */
	uint64_t now;
};

/*
 * Initialises limits, windows and rates. The pair has n paths on `rails` rails, whose rates `line`
 * are set.
 */
void hp3x_pair_init(
	struct hp3x_pair *pair, const struct hp3x_limits *limits, uint32_t rails, uint32_t n);
/* A slice has been posted on the path. */
void hp3x_posted(struct hp3x_pair *pair, struct hp3x_path *p, uint32_t bytes);
/* A slice of the path has ended. */
void hp3x_ended(struct hp3x_pair *pair, struct hp3x_path *p, const struct hp3x_slice *slice);
/* The time after which `bytes` more would have ended on the path. */
uint64_t hp3x_path_finish(const struct hp3x_path *p, uint64_t bytes);
/* True: the window of the path has room for `bytes` more. */
bool hp3x_path_has_room(const struct hp3x_path *p, uint32_t bytes);
/* True: the window of the rail has room for `bytes` more. */
bool hp3x_rail_has_room(
	const struct hp3x_limits *limits, const struct hp3x_rail *rail, uint32_t bytes);
/*
 * The path for the next slice: of the paths that have room, the one with the earliest finish. NULL:
 * the slice waits, because there is no room, or because the paths without room would end all
 * waiting bytes sooner.
 */
struct hp3x_path *hp3x_choose(struct hp3x_pair *pair, uint32_t bytes);
