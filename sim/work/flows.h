/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_WORK_FLOWS_H
#define HP3_SIM_WORK_FLOWS_H
/*
 * Flow traces in the format of the ns-3 RDMA simulators. The first line has the number of flows.
 * Then each flow has a line `src dst priority_group size_bytes start_s`; start_s may have up to 12
 * decimals.
 */
#include "sim/core/sim.h"

/* Adds all flows of the file. 0, or negative errno with a message that names the line. */
int sim_flows_load(struct sim *s, const char *path, char *err, uint32_t err_size);

#endif
