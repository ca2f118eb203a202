/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_SEVERE_H
#define HP3_APP_FLEET_SEVERE_H
/*
 * What is not to wait for the next report: hp3d has found a path severely congested or lossy, or
 * has left a dead one. hp3d is asked for its events every so often.
 */
#include <stdbool.h>
#include <stdint.h>
#include "app/fleet/hp3d.h"

struct fleet_severe {
	uint32_t every_ms; /* 0: nothing is asked */
	uint64_t due_ms; /* when it is to be asked again */
	json_int_t since; /* events up to here are known; 0: none */
	unsigned run; /* hp3d that numbered them: fleet_hp3d.run */
};

/* Something of the kind since the last time, within hp3d's memory of events. Not where it is not
 * due, nor at the first time, nor of what was before an hp3d that began anew. */
bool fleet_severe(struct fleet_severe *s, struct fleet_hp3d *h, uint64_t now_ms);

#endif
