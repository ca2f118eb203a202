/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_FLEET_ADVICE_H
#define HP3_FLEET_ADVICE_H
/*
 * What a host makes of plans before it asks its hp3d: old, foreign, expired and impossible advice
 * goes no further, by reason and counted. What is left is a port that this host itself has offered,
 * for a flow of its own that is still where the planner saw it. Whether to go there is hp3d's to
 * find out (engine/search/advised.c). Calls nothing that waits.
 *
 * Advice is passed on in the first half of the time for which its plan is valid. The planner leaves
 * the links of a plan alone while it is valid: the second half is for the move to be made and
 * reported.
 *
 * Whoever may send plans may send wrong ones. So none is believed for longer than
 * HP3_FLEET_ADVICE_VALID_MS, a flow is named to hp3d once in HP3_FLEET_ADVICE_HOLD_MS, and a plan
 * with a term or epoch out of all reason makes the plans of others old for
 * HP3_FLEET_ADVICE_SILENCE_MS at most.
 */
#include "fleet/message.h"

#define HP3_FLEET_ADVICE_VALID_MS   10000u
#define HP3_FLEET_ADVICE_HOLD_MS    10000u
#define HP3_FLEET_ADVICE_SILENCE_MS 30000u
#define HP3_FLEET_ADVICE_RETRY_MS   100u
#define HP3_FLEET_ADVICE_RECENT     HP3_FLEET_FLOWS /* flows that were named lately */

/* X(field, what it counts) */
#define HP3_FLEET_ADVICE_COUNTS(X)                                                                 \
	X(plans, "plans")                                                                          \
	X(old, "plans older than one before")                                                      \
	X(moves, "moves of this host")                                                             \
	X(before, "of another process of this host")                                               \
	X(expired, "that came too late")                                                           \
	X(unknown, "of flows that this host has not reported")                                     \
	X(elsewhere, "of flows that are elsewhere by now")                                         \
	X(not_offered, "to ports that this host has not offered")                                  \
	X(too_soon, "of flows that were named just before")                                        \
	X(asked, "that hp3d was asked about")                                                      \
	X(busy, "times that it was busy with the flow")

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
	/* its moves of this host that are not dealt with, and when each may be asked about */
	uint8_t n;
	struct {
		struct hp3_fleet_move m;
		uint64_t from_ms;
	} move[HP3_FLEET_MOVES];
	struct hp3_fleet_move last; /* that was handed out */
	uint8_t n_recent;
	struct {
		struct hp3_fleet_key key;
		uint64_t until_ms;
	} recent[HP3_FLEET_ADVICE_RECENT];
	struct hp3_fleet_advice_counts c;
};

void hp3_fleet_advice_init(struct hp3_fleet_advice *a, const char *host, uint64_t instance);
/* A plan came now. */
void hp3_fleet_advice_plan(
	struct hp3_fleet_advice *a, const struct hp3_fleet_plan *p, uint64_t now_ms);
/*
 * The next move to ask hp3d about, and which flow of the latest report it is; NULL: none. Good
 * until the next call.
 */
const struct hp3_fleet_move *hp3_fleet_advice_next(struct hp3_fleet_advice *a,
	const struct hp3_fleet_report *r, uint64_t now_ms, unsigned *flow);
/* hp3d has something else under way for the flow of the last one: once more a little later. */
void hp3_fleet_advice_busy(struct hp3_fleet_advice *a, uint64_t now_ms);
/* Is one of them waiting for its time? */
static inline bool hp3_fleet_advice_waits(const struct hp3_fleet_advice *a)
{
	return a->n != 0;
}

#endif
