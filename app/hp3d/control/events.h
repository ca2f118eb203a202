/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_EVENTS_H
#define HP3D_EVENTS_H
/*
 * The history for `hp3ctl events`. Two rings, so that nothing that a flow does over and over pushes
 * out what was decided: decisions with what they rest on, and samples of what led to nothing (see
 * spells.h). Both number what they keep from the same count, 1, 2, 3, ..., so that they merge into
 * one order. An event on which a decision comes to rest gets a number then, right before it: a
 * reader who goes on from the last number that he saw misses nothing.
 *
 * In each ring the oldest makes room for the newest. Control thread only.
 */
#include <jansson.h>
#include "app/flowid.h"
#include "app/hp3d/pipe/event.h"
#include "config/config.h"

/* cfg names the rails and tells how many to keep; it must outlive the events. 0 or -ENOMEM. */
int hp3d_events_init(const struct hp3_config *cfg);
void hp3d_events_free(void);

/* wall_ns: when it was, by the wall clock. Decisions are told to the journal and the audit log, too
 * (tell.h). */
void hp3d_events_add(const struct hp3d_event *e, uint64_t wall_ns);
uint64_t hp3d_events_last(void); /* number of the newest, 0: none yet */

/* Which ones. */
struct hp3d_events_wanted {
	const struct hp3_flowid *flow; /* of this flow only; NULL: of all */
	uint32_t types; /* 1 << enum hp3_event_type; 0: all */
	bool all; /* samples, too */
};

/* Up to `limit` decisions after number `since` as an array; *next is what to ask for next, until it
 * is what was asked for. NULL: no memory. */
json_t *hp3d_events_page(
	uint64_t since, unsigned limit, const struct hp3d_events_wanted *wanted, uint64_t *next);

/* How many rounds of a flow found nothing, by cause, as far as it is remembered. NULL: no memory.
 */
json_t *hp3d_events_fruitless(unsigned rail, unsigned worker, const struct hp3_flow_info *f);

#endif
