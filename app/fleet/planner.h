/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3-fleet run: connects the planner's core (fleet/fleet.h) to NATS. Threads of libnats take
 * reports and keep-alives, and the main thread sends plans. Threads of libnats and of the HTTP
 * server answer questions. One lock protects the core and struct fleet_planner. The planner writes
 * nothing to disk: after a start, it has only the reports that arrive from then on.
 */
#include <pthread.h>
#include "app/bus/bus.h"
#include "app/fleet/keys.h"
#include "fleet/election.h"

#define FLEET_SUBJECTS          "hp3." /* all subjects below begin with this */
#define FLEET_SUBJECT_REPORTS   "hp3.report.*"
#define FLEET_SUBJECT_PREFIX    "hp3.report."
#define FLEET_SUBJECT_PLAN      "hp3.plan"
#define FLEET_SUBJECT_KEEPALIVE "hp3.keepalive"
#define FLEET_SUBJECT_ASK       "hp3.ask"
#define FLEET_QUESTION_MAX      512u /* bytes; a longer question gets no answer */
#define FLEET_RECENT            64u

struct fleet_past_move {
	uint64_t wall_ms, epoch;
	struct hp3_fleet_move move;
};

struct fleet_planner {
	const struct fleet_config *cfg;
	pthread_mutex_t lock;
	struct hp3_bus *bus;
	struct hp3_fleet *fleet;
	struct hp3_election election;
	struct hp3_fleet_plan plan; /* the latest plan sent, or received from another planner */
	uint64_t now_ms; /* time of the last hp3_fleet_look() */
	uint64_t led_since_ms; /* 0: this planner does not lead */
	uint64_t bad; /* invalid messages, plus reports whose NATS subject names another host */
	uint64_t other_version; /* messages of another version */
	uint64_t plans, moves; /* plans that this planner sent; moves in these plans */
	uint64_t namesakes; /* keep-alives of another planner with this planner's name */
	uint64_t look_us; /* duration of the last hp3_fleet_look() and hp3_fleet_plan() */
	struct fleet_past_move recent[FLEET_RECENT];
	/* moves in plans sent and received; the latest: recent[(n_recent - 1) % FLEET_RECENT] */
	uint64_t n_recent;
};

/* Runs until a signal ends it. Returns an exit code. */
int fleet_run(const struct fleet_config *cfg);
