/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_RECORD_H
#define HP3D_CONTROL_RECORD_H
/*
 * Records events in the audit log and the journal (app/record/record.h). The log gets every
 * decision and the events that it is based on, except pairings, which change nothing. The journal
 * gets the actions on flows; in mode observe, those that mode on would have taken. Both have the
 * members that `hp3ctl events` shows.
 */
#include "app/hp3d/control/spells.h"
#include "config/config.h"

/* ref: as for hp3d_event_json(). */
void hp3d_record_decision(const struct hp3_config *cfg, const struct hp3d_kept *k, uint64_t ref);

/* The priority of an event type: of syslog(3); HP3_RECORD_QUIET: only for the log; -1: not
 * recorded.
 */
int hp3d_record_priority(enum hp3_event_type type);

#endif
