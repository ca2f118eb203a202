/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Filters plans on a host before the agent passes advice to hp3d. Old, foreign, expired and
 * impossible advice is dropped, and counted by reason. The remaining advice names an EV that this
 * host has reported as another path of the flow, and a flow that still uses the path in the plan.
 * hp3d decides whether to move the flow (engine/search/advised.c). No function of this module
 * blocks.
 *
 * Advice is passed on in the first half of the time for which its plan is valid. The second half
 * leaves time for hp3d to move the flow, and for the agent to report the move. While a plan is
 * valid, the planner makes no further plan for the same links.
 *
 * A planner may send wrong plans. So a plan is valid for at most HP3_FLEET_ADVICE_VALID_MS, and
 * advice for a flow is passed on at most once in HP3_FLEET_ADVICE_HOLD_MS. If a plan has a much too
 * high term or epoch, plans of other planners count as old, for at most
 * HP3_FLEET_ADVICE_SILENCE_MS.
 */
#include "fleet/message.h"

#define HP3_FLEET_ADVICE_VALID_MS   10000u
#define HP3_FLEET_ADVICE_HOLD_MS    10000u
#define HP3_FLEET_ADVICE_SILENCE_MS 30000u
#define HP3_FLEET_ADVICE_RETRY_MS   100u
#define HP3_FLEET_ADVICE_RECENT     HP3_FLEET_FLOWS /* flows with recent advice */

/* X(field, what it counts) */
#define HP3_FLEET_ADVICE_COUNTS(X)                                                                 \
	X(plans, "plans")                                                                          \
	X(old, "plans older than an earlier one")                                                  \
	X(moves, "moves of this host")                                                             \
	X(before, "of another process of this host")                                               \
	X(expired, "that arrived too late")                                                        \
	X(unknown, "of flows that this host has not reported")                                     \
	X(elsewhere, "of flows that have moved meanwhile")                                         \
	X(not_offered, "to ports that this host has not offered")                                  \
	X(too_soon, "of flows with advice just before")                                            \
	X(asked, "that hp3d was asked about")                                                      \
	X(busy, "times that hp3d was busy with the flow")

struct hp3_fleet_advice_counts {
#define X(field, text) uint64_t field;
	HP3_FLEET_ADVICE_COUNTS(X)
#undef X
};

struct hp3_fleet_advice {
	char host[HP3_FLEET_NAME];
	uint64_t instance;
	/* of the newest plan */
	uint64_t term, epoch, came_ms, until_ms;
	char planner[HP3_FLEET_NAME];
	/* its pending moves of this host, and the earliest time to pass on each */
	uint8_t n;
	struct {
		struct hp3_fleet_move m;
		uint64_t from_ms;
	} move[HP3_FLEET_MOVES];
	struct hp3_fleet_move last; /* result of hp3_fleet_advice_next() */
	uint8_t n_recent;
	struct {
		struct hp3_fleet_key key;
		uint64_t until_ms;
	} recent[HP3_FLEET_ADVICE_RECENT];
	struct hp3_fleet_advice_counts c;
};

void hp3_fleet_advice_init(struct hp3_fleet_advice *a, const char *host, uint64_t instance);
/* Takes a plan that arrived now. */
void hp3_fleet_advice_plan(
	struct hp3_fleet_advice *a, const struct hp3_fleet_plan *p, uint64_t now_ms);
/*
 * The next move to pass to hp3d; *flow: the index of its flow in the latest report. NULL: none.
 * Valid until the next call.
 */
const struct hp3_fleet_move *hp3_fleet_advice_next(struct hp3_fleet_advice *a,
	const struct hp3_fleet_report *r, uint64_t now_ms, unsigned *flow);
/* hp3d is busy with the flow: passes the last move on again after HP3_FLEET_ADVICE_RETRY_MS. */
void hp3_fleet_advice_busy(struct hp3_fleet_advice *a, uint64_t now_ms);
/* Is a move pending? */
static inline bool hp3_fleet_advice_waits(const struct hp3_fleet_advice *a)
{
	return a->n != 0;
}
