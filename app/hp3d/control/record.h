/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_RECORD_H
#define HP3D_CONTROL_RECORD_H
/*
 * What of the history goes to the audit log and the journal (app/record/record.h): to the log every
 * decision with what it rests on, but pairings, which change nothing; to the journal what was done
 * to a flow, and in mode observe what would have been. Both have the members that `hp3ctl events`
 * shows.
 */
#include "app/hp3d/control/spells.h"
#include "config/config.h"

/* ref: as for hp3d_event_json(). */
void hp3d_record_decision(const struct hp3_config *cfg, const struct hp3d_kept *k, uint64_t ref);

/* The priority of a type of event there: one of syslog(3), HP3_RECORD_QUIET: the log alone, -1: it
 * is not told. */
int hp3d_record_priority(enum hp3_event_type type);

#endif
