/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_METRICS_H
#define HP3_APP_FLEET_METRICS_H
/* hp3-fleet's metrics in OpenMetrics 1.0.0. Takes the planner's lock. The caller frees the text;
 * NULL: no memory. */
#include "app/fleet/planner.h"

#define FLEET_METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

char *fleet_metrics(struct fleet_planner *p, size_t *len);

#endif
