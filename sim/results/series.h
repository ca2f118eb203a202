/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Time series of a run: the data bytes in the switches' queues, sampled every 10 us, and the
 * increases of counters. A series has at most SIM_POINTS points. When a series is full, every two
 * points are merged into one point of twice the time. "core" means ports towards switches, "host"
 * ports towards hosts.
 */
#include <jansson.h>
#include "sim/core/sim.h"

#define SIM_POINTS 512u

struct sim_series;

/* Call this between sim_create() and sim_run(). The caller frees the result by free(). */
struct sim_series *sim_series_start(struct sim *s);
/*
 * {"point_us", "core_max_bytes": [..], "core_mean_bytes", "host_max_bytes", "moves", "marked",
 * "data_bytes"}: for each point, the longest core queue and host queue, the mean of all core
 * queues, and the increase of each counter.
 */
json_t *sim_series_json(const struct sim_series *r);
