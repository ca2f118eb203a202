/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The history for `hp3ctl events`. Some events are not decisions: rounds without a better path,
 * severe congestion, searches without a move (spells.h). Such an event is *fruitless* until a
 * decision is based on it. Fruitless events are frequent. So that they do not push out decisions,
 * the history has two rings. The decision ring has decisions and the events that they are based on.
 * The sample ring has samples of fruitless events. Both rings number their entries from one counter
 * (1, 2, 3, ...), which gives one order. In a full ring, a new entry replaces the oldest.
 *
 * When hp3d makes a decision, the events that it is based on get their numbers first. Then the
 * decision gets the next number. So no entry appears later with a lower number. A reader that
 * continues after the last number that it read misses only entries that were replaced meanwhile.
 *
 * Control thread only.
 */
#include <jansson.h>
#include "app/flowid.h"
#include "app/hp3d/control/spells.h"
#include "app/hp3d/pipe/event.h"
#include "config/config.h"

/* entries of hp3d's decision ring; the sample ring has a quarter of this number */
#define HP3D_EVENTS_KEPT 4096u

/* cfg has the rails' names, and must stay valid until hp3d_events_free(). n: entries of the
 * decision ring. Returns 0 or -ENOMEM. */
int hp3d_events_init(const struct hp3_config *cfg, uint32_t n);
void hp3d_events_free(void);

/* Adds an event. wall_ns: time of the event, by the wall clock. Also records decisions in the
 * journal and the audit log (hp3d_record_decision()). */
void hp3d_events_add(const struct hp3d_event *e, uint64_t wall_ns);
uint64_t hp3d_events_last(void); /* number of the newest entry; 0: none yet */

/* Selects events. */
struct hp3d_events_wanted {
	const struct hp3_flowid *flow; /* only events of this flow; NULL: of all flows */
	uint32_t types; /* 1 << enum hp3_event_type; 0: all */
	bool all; /* also samples of fruitless events */
};

/* Up to `limit` events after number `since`, as an array. *next: the `since` for the next page; if
 * there are no more events, the number of the newest entry. NULL: no memory. */
json_t *hp3d_events_page(
	uint64_t since, unsigned limit, const struct hp3d_events_wanted *wanted, uint64_t *next);

/* Fruitless rounds of a flow, by cause, since hp3d has had a record of the flow (spells.h). NULL:
 * no memory. */
json_t *hp3d_events_fruitless(unsigned rail, unsigned worker, const struct hp3_flow_info *f);

/*
 * Records events in the audit log and the journal (app/record/record.h). The audit log gets every
 * decision and the events that the decision is based on. The audit log gets no pairings, because
 * pairings change nothing. The journal gets the actions on flows. In `mode observe`, it gets the
 * actions that hp3d would have taken in `mode on`. The journal also gets changes of the mode, of
 * links, of peers' keys and identities, and of a rail's bypass. Records have the same members as
 * the output of `hp3ctl events`.
 */

/* Records an event. ref: as for hp3d_event_json(). */
void hp3d_record_decision(const struct hp3_config *cfg, const struct hp3d_kept *k, uint64_t ref);

/* The priority of an event type: a syslog(3) priority; HP3_RECORD_QUIET: audit log only; -1: not
 * recorded. */
int hp3d_record_priority(enum hp3_event_type type);
