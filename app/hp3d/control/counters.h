/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * All counters of pipes and of their engines as one list, from the static tables that define them.
 * A pipe is one rail on one worker. A read sums over the chosen rails and workers. Any thread may
 * read.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "config/config.h"

#define HP3D_ALL UINT32_MAX /* every rail, every worker */

struct hp3d_counter {
	const char *name, *help;
	bool drop; /* counts packets that were not forwarded */
};

unsigned hp3d_counter_count(void);
struct hp3d_counter hp3d_counter(unsigned i);
uint64_t hp3d_counter_sum(unsigned i, unsigned rails, unsigned rail, unsigned worker);

/* The structs of a pipe that have counters. */
enum hp3d_part {
	HP3D_PART_ENGINE, /* struct hp3_stats */
	HP3D_PART_PROBES, /* struct hp3_probe_stats */
	HP3D_PART_AGENT, /* struct hp3d_agent_counters */
	HP3D_PART_KEYS, /* struct hp3_keying_stats */
	HP3D_PART_PIPE, /* struct hp3d_pipe_counters */
	HP3D_PART_TALLY /* struct hp3d_tally */
};

/* The counter at `offset` of a rail's pipes, summed over all workers. */
uint64_t hp3d_part_sum(unsigned rail, enum hp3d_part part, size_t offset);

/*
 * DPDK telemetry: the counters of `hp3ctl stats`, for tools that use DPDK's protocol.
 *
 *     /hp3/stats         counters, summed over rails and workers
 *     /hp3/drops         counters of packets that were not forwarded, summed in the same way
 *     /hp3/rail          names of all rails
 *     /hp3/rail,NAME     counters of rail NAME
 *     /hp3/lcore         numbers of all workers
 *     /hp3/lcore,N       counters of worker N
 *
 * Only /hp3/drops has counters that are 0. A thread of DPDK answers these commands. So the answers
 * use nothing of a pipe except its counters (worker.h).
 */

/* cfg must live as long as the process. Returns 0, or a negative errno after a message; hp3d also
 * runs without telemetry. */
int hp3d_telemetry_start(const struct hp3_config *cfg);
