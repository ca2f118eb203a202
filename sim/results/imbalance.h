/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_IMBALANCE_H
#define HP3_SIM_RESULTS_IMBALANCE_H
/*
 * Imbalance of uplinks. For each leaf switch and window of 100 us: (most - least) / mean of the
 * data bytes that each uplink sent. The result is the mean over leaves and windows. Windows in
 * which the leaf sent less than 1,000 bytes per uplink (mean) do not count. Windows after the start
 * of the last flow do not count.
 */
#include "sim/core/sim.h"

struct sim_imbalance;

struct sim_imbalance *sim_imbalance_start(struct sim *s);
double sim_imbalance_mean(const struct sim_imbalance *m);
void sim_imbalance_free(struct sim_imbalance *m);

#endif
