/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_EVENTS_H
#define HP3D_EVENTS_H
/*
 * The history for `hp3ctl events`. It has two rings, so that frequent fruitless events do not push
 * out decisions. One has decisions and the events that they are based on; the other has samples of
 * fruitless events (spells.h). Both take numbers from one count, 1, 2, 3, ..., which gives one
 * order. An event gets its number just before the decision that is based on it: a reader that
 * continues from the last number it read misses nothing.
 *
 * In each ring, the newest replaces the oldest. Control thread only.
 */
#include <jansson.h>
#include "app/flowid.h"
#include "app/hp3d/pipe/event.h"
#include "config/config.h"

/* cfg has the rails' names and the rings' size; it must outlive the events. 0 or -ENOMEM. */
int hp3d_events_init(const struct hp3_config *cfg);
void hp3d_events_free(void);

/* wall_ns: its time, by the wall clock. Also records decisions in the journal and the audit log
 * (record.h). */
void hp3d_events_add(const struct hp3d_event *e, uint64_t wall_ns);
uint64_t hp3d_events_last(void); /* number of the newest, 0: none yet */

/* Selects events. */
struct hp3d_events_wanted {
	const struct hp3_flowid *flow; /* only of this flow; NULL: of all */
	uint32_t types; /* 1 << enum hp3_event_type; 0: all */
	bool all; /* samples, too */
};

/* Up to `limit` events after number `since`, as an array; *next: `since` of the next page, equal to
 * `since` at the end. NULL: no memory. */
json_t *hp3d_events_page(
	uint64_t since, unsigned limit, const struct hp3d_events_wanted *wanted, uint64_t *next);

/* The number of fruitless rounds of a flow, by cause, as far as kept. NULL: no memory. */
json_t *hp3d_events_fruitless(unsigned rail, unsigned worker, const struct hp3_flow_info *f);

#endif
