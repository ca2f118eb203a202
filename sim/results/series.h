/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_RESULTS_SERIES_H
#define HP3_SIM_RESULTS_SERIES_H
/*
 * Time series: samples of the switches' queues, every 10 us, and differences of counters. At most
 * SIM_POINTS points: when they are full, pairs are merged into points of twice the time. Bytes of a
 * queue are of data. "core": ports towards switches; "host": ports towards hosts.
 */
#include <jansson.h>
#include "sim/core/sim.h"

#define SIM_POINTS 512u

struct sim_series;

/* Between sim_create() and sim_run(). */
struct sim_series *sim_series_start(struct sim *s);
/*
 * {"point_us", "core_max_bytes": [..], "core_mean_bytes", "host_max_bytes", "moves", "marked",
 * "data_bytes"}: per point the longest queue, the mean of all queues, and sums.
 */
json_t *sim_series_json(const struct sim_series *r);
void sim_series_free(struct sim_series *r);

#endif
