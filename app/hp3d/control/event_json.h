/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* A stored event as JSON, in the form that hp3d(8) describes. */
#include <jansson.h>
#include "app/flowid.h"
#include "app/hp3d/control/spells.h"
#include "config/config.h"

/* ref: if the event is an OUTCOME, the number of its move's event; 0: that event is no longer
 * stored. NULL: no memory. */
json_t *hp3d_event_json(const struct hp3_config *cfg, const struct hp3d_kept *k, uint64_t ref);

/* Writes the flow id from a flow's record. */
void hp3d_flow_name(const struct hp3_config *cfg, unsigned rail, const struct hp3_flow_info *f,
	char buf[HP3_FLOWID_MAX]);

/* The estimates of a path, as events and flows show them. */
json_t *hp3d_path_json(const struct hp3_estimates *p);

/* The source of the mode in a MODE event: operator, configuration. */
const char *hp3d_mode_setter(const struct hp3_event *event);

/* True: the event is about hp3d, a rail, a port, or the keys of a peer, and names no flow. */
bool hp3d_event_is_own(const struct hp3_event *event);

extern const char *const hp3d_side_names[2]; /* the ports of a rail, by direction */
