/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_WORK_FLOWS_H
#define HP3_SIM_WORK_FLOWS_H
/*
 * Flow traces of the ns-3 RDMA simulators: first line the number of flows, then one line
 * `src dst priority_group size_bytes start_s` per flow, start with up to 12 decimals.
 */
#include "sim/core/sim.h"

/* Adds all flows of the file. 0, or negative errno with a message that names the line. */
int sim_flows_load(struct sim *s, const char *path, char *err, uint32_t err_size);

#endif
