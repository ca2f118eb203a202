/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Filters the planner's plans on a host, before the agent passes advice to hp3d. Advice is one move
 * of a plan. Advice that is old, for another process, expired or impossible is dropped, and counted
 * by reason. All other advice meets two conditions. The flow still uses the port from which the
 * plan moves it. This host has reported the new port as another path of the flow. hp3d decides
 * whether to move the flow (engine/search/advised.c). No function of this file blocks.
 *
 * The agent passes advice on only in the first half of the time for which its plan is valid. In the
 * second half, hp3d can move the flow, and the agent can report the move. While a plan is valid,
 * the planner makes no further plan for the same links.
 *
 * Some limits protect hosts from a planner that sends wrong plans. A plan is valid for at most
 * HP3_FLEET_ADVICE_VALID_MS. The agent passes on advice for a flow at most once in
 * HP3_FLEET_ADVICE_HOLD_MS. After a plan with a much too high term or epoch, the plans of other
 * planners count as old, but for at most HP3_FLEET_ADVICE_SILENCE_MS.
 */
#include "fleet/message.h"

#define HP3_FLEET_ADVICE_VALID_MS   10000u
#define HP3_FLEET_ADVICE_HOLD_MS    10000u
#define HP3_FLEET_ADVICE_SILENCE_MS 30000u
#define HP3_FLEET_ADVICE_RETRY_MS   100u
#define HP3_FLEET_ADVICE_RECENT     HP3_FLEET_FLOWS /* most flows with recent advice */

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
	/* of the newest plan; until_ms: when the agent stops passing on its advice */
	uint64_t term, epoch, came_ms, until_ms;
	char planner[HP3_FLEET_NAME];
	/*
	 * the pending moves of this plan for this host; from_ms: earliest time to pass on the move
	 */
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
 * Returns the next move to pass to hp3d, valid until the next call; NULL: there is none. *r: this
 * host's latest report. *flow: index of the move's flow in *r.
 */
const struct hp3_fleet_move *hp3_fleet_advice_next(struct hp3_fleet_advice *a,
	const struct hp3_fleet_report *r, uint64_t now_ms, unsigned *flow);
/*
 * Call this if hp3d is busy with the flow of the last move. hp3_fleet_advice_next() returns this
 * move again after HP3_FLEET_ADVICE_RETRY_MS.
 */
void hp3_fleet_advice_busy(struct hp3_fleet_advice *a, uint64_t now_ms);
/* Is a move pending? */
static inline bool hp3_fleet_advice_waits(const struct hp3_fleet_advice *a)
{
	return a->n != 0;
}
