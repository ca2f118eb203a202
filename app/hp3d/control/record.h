/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_RECORD_H
#define HP3D_CONTROL_RECORD_H
/*
 * Records events in the audit log and the journal (app/record/record.h). The audit log gets every
 * decision and the events that the decision is based on. It gets no pairings, which change nothing.
 * The journal gets the actions on flows; in `mode observe`, the actions that hp3d would have taken
 * in `mode on`. It also gets changes of the mode, of fail-open rails, of links, and of peers' keys
 * and identities. Records have the same members as the output of `hp3ctl events`.
 */
#include "app/hp3d/control/spells.h"
#include "config/config.h"

/* Records an event. ref: as for hp3d_event_json(). */
void hp3d_record_decision(const struct hp3_config *cfg, const struct hp3d_kept *k, uint64_t ref);

/* The priority of an event type: a syslog(3) priority; HP3_RECORD_QUIET: audit log only; -1: not
 * recorded. */
int hp3d_record_priority(enum hp3_event_type type);

#endif
