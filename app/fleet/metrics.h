/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_METRICS_H
#define HP3_APP_FLEET_METRICS_H
/* What hp3-fleet counts, as OpenMetrics 1.0.0; takes the planner's lock. Text to be freed; NULL: no
 * memory. */
#include "app/fleet/planner.h"

#define FLEET_METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

char *fleet_metrics(struct fleet_planner *p, size_t *len);

#endif
