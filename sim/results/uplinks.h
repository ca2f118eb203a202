/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_UPLINKS_H
#define HP3_SIM_RESULTS_UPLINKS_H
/*
 * Load and queues of the leaves' uplinks over a whole run.
 *
 * spread: per leaf (most - least) / mean of the data bytes that its uplinks sent; averaged over the
 * leaves that sent at least a packet per uplink. spread_percent: the same difference over the bytes
 * that an uplink can send from the first start to the last end. Queues of data are sampled every
 * 2 us until the last flow has ended: the mean over samples and uplinks, and the longest.
 */
#include <jansson.h>
#include "sim/core/sim.h"

struct sim_uplinks;

struct sim_uplinks *sim_uplinks_start(struct sim *s);
json_t *sim_uplinks_json(const struct sim *s, const struct sim_uplinks *u);
void sim_uplinks_free(struct sim_uplinks *u);
/* The port leads from a switch that hosts are attached to towards another switch. */
bool sim_is_uplink(const struct sim *s, uint32_t port);

#endif
