/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Elects the leader among several planners. A leader stays leader while its keep-alives arrive.
 * After takeover_ms without a leader's keep-alive, another planner becomes leader, and raises the
 * term by one. Candidates are the planners whose keep-alives arrived in the last takeover_ms. The
 * first candidate by name becomes leader.
 *
 * During a partition of the network, each part may have a leader. After the partition, the two
 * leaders receive keep-alives of each other. The leader with the lower term then stops leading; if
 * the terms are equal, the leader that is later by name stops. Two leaders do no harm: a plan is
 * advice, and hosts follow the plans of the highest term.
 *
 * Sans-IO: the caller passes in keep-alives and the time. Times are in ms. Names must be unique:
 * hp3_election_heard() detects a keep-alive of another planner with the same name.
 */
#include "fleet/message.h"

#define HP3_ELECTION_PEERS 16u

struct hp3_election {
	char name[HP3_FLEET_NAME];
	uint32_t takeover_ms;
	uint64_t term; /* highest term seen */
	uint64_t led_ms; /* last time at which there was a leader */
	bool leads;
	struct {
		char name[HP3_FLEET_NAME];
		uint64_t heard_ms;
	} peer[HP3_ELECTION_PEERS]; /* name "": free */
};

/* Starts or restarts an election. `name` may be e->name. */
void hp3_election_init(
	struct hp3_election *e, const char *name, uint32_t takeover_ms, uint64_t now_ms);
/* Processes a keep-alive of another planner. False: the keep-alive has this planner's name. */
bool hp3_election_heard(
	struct hp3_election *e, const struct hp3_fleet_keepalive *b, uint64_t now_ms);
/* Call this before each keep-alive that this planner sends. True: this planner leads. */
bool hp3_election_tick(struct hp3_election *e, uint64_t now_ms);
/* The keep-alive to send. */
struct hp3_fleet_keepalive hp3_election_keepalive(const struct hp3_election *e);
