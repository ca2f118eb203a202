/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_PLANNER_H
#define HP3_APP_FLEET_PLANNER_H
/*
 * hp3-fleet run: the core (fleet/fleet.h) on NATS. Threads of libnats take reports and keep-alives,
 * the main thread sends plans, and threads of libnats and HTTP answer questions. One lock protects
 * the core and this struct. Nothing is written to disk: a planner that starts has only the reports
 * that arrive from then on.
 */
#include <pthread.h>
#include "app/fleet/keys.h"
#include "fleet/election.h"

#define FLEET_SUBJECTS          "hp3." /* all of these begin so */
#define FLEET_SUBJECT_REPORTS   "hp3.report.*"
#define FLEET_SUBJECT_PREFIX    "hp3.report."
#define FLEET_SUBJECT_PLAN      "hp3.plan"
#define FLEET_SUBJECT_KEEPALIVE "hp3.beat"
#define FLEET_SUBJECT_ASK       "hp3.ask"
#define FLEET_QUESTION_MAX      512u /* bytes; a longer one is not answered */
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
	struct hp3_fleet_plan plan; /* the latest one sent, or received from another planner */
	uint64_t now_ms; /* of the last look */
	uint64_t led_since_ms; /* 0: this planner does not lead */
	uint64_t bad; /* invalid messages, and those with another sender's name */
	uint64_t other_version;
	uint64_t plans, moves;
	uint64_t namesakes; /* keep-alives of another planner with this planner's name */
	uint64_t look_us; /* duration of the last look and plan */
	struct fleet_past_move recent[FLEET_RECENT];
	uint64_t n_recent; /* all moves; the latest is recent[(n_recent - 1) % FLEET_RECENT] */
};

/* Runs until a signal ends it. Returns an exit code. */
int fleet_run(const struct fleet_config *cfg);

#endif
