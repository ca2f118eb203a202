/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * All counters of engines and pipes (one rail on one worker) as one list, from the static tables
 * that define them. A read sums over the chosen rails and workers; any thread may read.
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
 *     /hp3/stats          the counters that are not 0, summed over rails and lcores
 *     /hp3/drops          the counters of packets that were not forwarded
 *     /hp3/rail[,NAME]    all rails; the counters of rail NAME
 *     /hp3/lcore[,N]      all workers; the counters of worker N
 *
 * The callbacks for telemetry run in a thread of DPDK and read only single counters.
 */

/*
 * cfg must live as long as the process. Returns 0, or a negative errno after a message; hp3d also
 * runs without telemetry.
 */
int hp3d_telemetry_start(const struct hp3_config *cfg);
