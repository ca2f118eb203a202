/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_SPINE_PATHS_H
#define HP3_APP_FLEET_SPINE_PATHS_H
/* The ports by which one host reaches another, and the switches that they lead by: those of all its
 * flows to that host, and of the other paths that it offers for them. */
#include <jansson.h>
#include "fleet/fleet.h"

/* Rows of "port" and "hop", a port once, by switch and port; none where a host or a spine path is
 * not known. `question`: "from" and "to", names of hosts. */
json_t *fleet_spine_paths(const struct hp3_fleet *f, const json_t *question);

#endif
