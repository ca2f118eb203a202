/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_UPLINKS_H
#define HP3_SIM_RESULTS_UPLINKS_H
/*
 * How even the uplinks of the leaves were used over a whole run, and how much waited there.
 *
 * spread: per leaf (most - least) / mean of the data bytes that its uplinks sent; averaged over the
 * leaves that sent a packet per uplink or more. spread_percent: the same difference over what an
 * uplink can send from the first start to the last end. Queues are data, looked at every 2 us until
 * the last flow has ended: the mean over looks and uplinks, and the longest.
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
