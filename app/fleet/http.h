/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_HTTP_H
#define HP3_APP_FLEET_HTTP_H
/*
 * The HTTP server of hp3-fleet run, read only. / is a page without external resources (page.html),
 * and /state.json has its data. /metrics has the metrics in OpenMetrics.
 */
#include "app/fleet/planner.h"

/* 0, also if listen= is empty; a negative errno after a message that names the fix. */
int fleet_http_start(struct fleet_planner *p);
void fleet_http_stop(void); /* harmless if not started */

#endif
