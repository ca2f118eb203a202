/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Load and queues of the leaves' uplinks over a whole run.
 *
 * spread: for each leaf, (most - least) / mean of the data bytes that its uplinks sent. The result
 * is the average over leaves that have several uplinks and sent at least 1,000 bytes per uplink.
 *
 * spread_percent: (most - least), in percent of the bytes that an uplink can send from the start of
 * the first flow to the end of the last flow. The result is the average over the same leaves.
 *
 * queue_mean_bytes, queue_max_bytes: data queued at an uplink, sampled every 2 us until the last
 * flow has ended. The mean is over all samples and uplinks.
 */
#include <jansson.h>
#include "sim/core/sim.h"

struct sim_uplinks;

struct sim_uplinks *sim_uplinks_start(struct sim *s);
json_t *sim_uplinks_json(const struct sim *s, const struct sim_uplinks *u);
void sim_uplinks_free(struct sim_uplinks *u);
/* True: the port connects a leaf (a switch with hosts) to another switch. */
bool sim_is_uplink(const struct sim *s, uint32_t port);

/*
 * Imbalance of uplinks: for each leaf switch and window of 100 us, (most - least) / mean of the
 * data bytes that the uplinks sent. The result is the mean over leaves and windows. Windows in
 * which the leaf sent fewer than 1,000 bytes per uplink (mean) do not count. Windows after the
 * start of the last flow do not count.
 */
struct sim_imbalance;

struct sim_imbalance *sim_imbalance_start(struct sim *s);
double sim_imbalance_mean(const struct sim_imbalance *m);
void sim_imbalance_free(struct sim_imbalance *m);
