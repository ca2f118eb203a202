/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_IMBALANCE_H
#define HP3_SIM_RESULTS_IMBALANCE_H
/*
 * Imbalance of uplinks: per leaf switch and window of 100 us, (most - least) / mean of the data
 * bytes that its uplinks sent. The mean is over windows and leaves with at least a packet per
 * uplink, up to the start of the last flow.
 */
#include "sim/core/sim.h"

struct sim_imbalance;

struct sim_imbalance *sim_imbalance_start(struct sim *s);
double sim_imbalance_mean(const struct sim_imbalance *m);
void sim_imbalance_free(struct sim_imbalance *m);

#endif
