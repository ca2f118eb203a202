/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_EVENTS_H
#define HP3D_EVENTS_H
/*
 * The latest events, numbered from 1 on without gaps, kept for `hp3ctl events`. The oldest makes
 * room for the newest; a reader notices a loss by a gap in the numbers. Control thread only.
 */
#include <jansson.h>
#include "app/flowid.h"
#include "app/hp3d/worker.h"
#include "config/config.h"

/* cfg names the rails and tells how many to keep; it must outlive the events. 0 or -ENOMEM. */
int hp3d_events_init(const struct hp3_config *cfg);
void hp3d_events_free(void);

void hp3d_events_add(const struct hp3d_event *ev);
uint64_t hp3d_events_last(void); /* number of the newest, 0: none yet */

/* Up to `limit` events after number `since`, as an array; *next is what to ask for next. NULL: no
 * memory. */
json_t *hp3d_events_page(uint64_t since, unsigned limit, uint64_t *next);

/* The flow id of what a flow's record says. */
void hp3d_flow_name(const struct hp3_config *cfg, unsigned rail, const struct hp3_flow_info *f,
	char buf[HP3_FLOWID_MAX]);

/* What is known of a path, as it stands in events and flows. */
json_t *hp3d_path_json(const struct hp3_estimates *p);

#endif
