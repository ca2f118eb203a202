/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Elects the leader among several planners. A leader stays leader while its keep-alives arrive.
 * After takeover_ms without a leader, a planner takes over, and its term is one higher. Candidates
 * are planners whose keep-alives arrived in that time; the first by name takes over. After a
 * partition, two planners may lead. At the first keep-alive between them, the planner with the
 * lower term stops leading; if the terms are equal, the planner that is later by name stops.
 *
 * During a partition, each part may have a leader. Two leaders do no harm: a plan is advice, and
 * hosts follow plans of the highest term.
 *
 * Sans-IO: the caller passes in keep-alives and the time. Times in ms. Names must be unique:
 * hp3_election_heard() reports a keep-alive of another planner with the same name.
 */
#include "fleet/message.h"

#define HP3_ELECTION_PEERS 16u

struct hp3_election {
	char name[HP3_FLEET_NAME];
	uint32_t takeover_ms;
	uint64_t term; /* highest seen */
	uint64_t led_ms; /* last time at which there was a leader */
	bool leads;
	struct {
		char name[HP3_FLEET_NAME];
		uint64_t heard_ms;
	} peer[HP3_ELECTION_PEERS]; /* name "": free */
};

/* Also restarts an election; `name` may be e->name. */
void hp3_election_init(
	struct hp3_election *e, const char *name, uint32_t takeover_ms, uint64_t now_ms);
/* Takes a keep-alive of another planner. False: the keep-alive has this planner's name. */
bool hp3_election_heard(
	struct hp3_election *e, const struct hp3_fleet_keepalive *b, uint64_t now_ms);
/* Call it before each keep-alive. True: this planner leads. */
bool hp3_election_tick(struct hp3_election *e, uint64_t now_ms);
/* The keep-alive to send. */
struct hp3_fleet_keepalive hp3_election_keepalive(const struct hp3_election *e);
