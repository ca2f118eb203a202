/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_SEVERE_H
#define HP3_APP_FLEET_SEVERE_H
/*
 * Events that cause a report at once: hp3d finds severe congestion or loss on a path, or leaves a
 * dead path. The agent reads hp3d's events at an interval.
 */
#include <stdbool.h>
#include <stdint.h>
#include "app/fleet/hp3d.h"

struct fleet_severe {
	uint32_t every_ms; /* 0: never */
	uint64_t due_ms; /* of the next read */
	json_int_t since; /* number of the last event read; 0: none */
	/* fleet_hp3d.run when `since` was read: a new hp3d numbers its events from 1 again, so
	 * `since` is then invalid */
	unsigned run;
};

/* True: such an event was new in this read. False if the read is not due, in the first read, and in
 * the first read after a reconnection. */
bool fleet_severe(struct fleet_severe *s, struct fleet_hp3d *h, uint64_t now_ms);

#endif
