/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_PLANNER_H
#define HP3_APP_FLEET_PLANNER_H
/*
 * hp3-fleet run: the core (fleet/fleet.h) on NATS. Reports and keep-alives come in on libnats's
 * threads, plans go out from the main thread, questions are answered by whoever is asked: one lock
 * keeps the core and all of this struct. Nothing is written to disk; who starts knows what hosts
 * report from then on.
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
	struct hp3_fleet_plan plan; /* the latest that was sent, or heard of another planner */
	uint64_t now_ms; /* of the last look */
	uint64_t led_since_ms; /* 0: another one leads */
	uint64_t bad; /* messages that were none, or bore another's name */
	uint64_t other_version;
	uint64_t plans, moves;
	uint64_t namesakes; /* keep-alives of another one with this one's name */
	uint64_t look_us; /* the last look and plan took so long */
	struct fleet_past_move recent[FLEET_RECENT];
	uint64_t n_recent; /* ever; the latest is recent[(n_recent - 1) % FLEET_RECENT] */
};

/* Runs until a signal ends it. An exit code. */
int fleet_run(const struct fleet_config *cfg);

#endif
