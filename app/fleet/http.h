/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_HTTP_H
#define HP3_APP_FLEET_HTTP_H
/*
 * For people and Prometheus, on this host alone: / is a page without anything from elsewhere
 * (page.html), /state.json what it shows, /metrics in OpenMetrics. Nothing can be changed here.
 */
#include "app/fleet/planner.h"

/* 0, also where listen= is empty; a negative errno after a message that names the fix. */
int fleet_http_start(struct fleet_planner *p);
void fleet_http_stop(void); /* harmless if not started */

#endif
