/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_TELEMETRY_H
#define HP3D_TELEMETRY_H
/*
 * DPDK telemetry: the counters of `hp3ctl stats`, for tools that use DPDK's protocol.
 *
 *     /hp3/stats          the counters that are not 0, summed over rails and lcores
 *     /hp3/drops          the counters of packets that were not forwarded
 *     /hp3/rail[,NAME]    all rails; the counters of rail NAME
 *     /hp3/lcore[,N]      all workers; the counters of worker N
 *
 * Its callbacks run in a thread of DPDK and read only single counters.
 */
#include "config/config.h"

/*
 * cfg must live as long as the process. 0, or a negative errno after a message; hp3d also runs
 * without telemetry.
 */
int hp3d_telemetry_start(const struct hp3_config *cfg);

#endif
