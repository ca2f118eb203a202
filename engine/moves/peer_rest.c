/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs mode: how often, and for which HOLD, a queue pair may be held (peer_hold.h). */
#include <string.h>
#include "engine/moves/moves.h"
#include "engine/part.h"

/* No rest is longer, in ticks. Ticks wrap after 52 days, so an older `until` may seem to be ahead.
 */
#define LONGEST_REST                                                                               \
	((uint32_t)((uint64_t)HP3_PEER_REST * HP3_PEER_HOLD_LONGEST_NS >> HP3_TICK_SHIFT) + 2u)

static uint32_t tick_of(uint64_t ns)
{
	return (uint32_t)(ns >> HP3_TICK_SHIFT);
}

/* At least one full tick, so holds that end at once are rare, too. */
void hp3_peer_rest_begin(struct hp3_turn *t, const struct hp3_move *m)
{
	uint64_t rest =
		HP3_PEER_REST * hp3_min_u64(t->now - m->peer_hold.asked, HP3_PEER_HOLD_LONGEST_NS);

	t->e->rests[m->flow] = (struct hp3_peer_rest){
		.ended = m->peer_hold.number, .until = tick_of(t->now + rest) + 2u};
}

void hp3_peer_rest_note(struct hp3_engine *e, uint32_t flow, uint32_t number)
{
	e->rests[flow].ended = number;
}

bool hp3_peer_rest_allows(struct hp3_turn *t, uint32_t flow, uint32_t number)
{
	const struct hp3_peer_rest *r = &t->e->rests[flow];
	bool late = r->ended == number;
	uint32_t left = r->until - tick_of(t->now);
	bool rests = left != 0 && left <= LONGEST_REST;

	t->e->stats.peer_holds_late += late;
	t->e->stats.peer_holds_too_soon += !late && rests;
	return !late && !rests;
}

static bool has_rests(const struct hp3_engine_config *cfg)
{
	return cfg->verbs;
}

static void take_rests(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->rests, e->cfg.max_flows);
}

static void init_rests(struct hp3_engine *e)
{
	memset(e->rests, 0, e->cfg.max_flows * sizeof(*e->rests));
}

const struct hp3_part hp3_rests_part = {.is_on = has_rests, .take = take_rests, .init = init_rests};
