/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_SPINE_PATHS_H
#define HP3_APP_FLEET_SPINE_PATHS_H
/* The known EVs from one host to another, and the spine switches on their paths. They are the EVs
 * in the first host's report: of its flows to the other host, and of other paths to that host. */
#include <jansson.h>
#include "fleet/fleet.h"

/* Rows of "port" (EV) and "hop" (the spine switch's address), each EV once, sorted by switch and
 * EV. EVs whose switch is unknown are left out. Empty if a host is unknown. `question`: "from" and
 * "to", names of hosts. */
json_t *fleet_spine_paths(const struct hp3_fleet *f, const json_t *question);

#endif
