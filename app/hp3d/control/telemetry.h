/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_TELEMETRY_H
#define HP3D_TELEMETRY_H
/*
 * DPDK telemetry of the scalars: the same counters as `hp3ctl stats`, for tools that speak DPDK's
 * own protocol.
 *
 *     /hp3/stats          every counter, summed over rails and lcores
 *     /hp3/drops          those that count packets not forwarded
 *     /hp3/rail[,NAME]    the rails; the counters of one
 *     /hp3/lcore[,N]      the workers; the counters of one
 *
 * Its callbacks run in a thread of DPDK's and read single counters only.
 */
#include "config/config.h"

/*
 * cfg must live as long as the process. 0 or a negative errno after a message; a missing telemetry
 * is no reason not to run.
 */
int hp3d_telemetry_start(const struct hp3_config *cfg);

#endif
