/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/flows/announced.h"
#include "base/minmax.h"

#define PAIR_SHARE  64u /* an address pair has one of this many records, */
#define PAIR_LEAST  16u /* ... or this many */
#define SPARE_TRIES 64u /* records examined for one that may be dropped */

static uint32_t quota_of_pair(const struct hp3_engine *e)
{
	return hp3_max_u32(e->cfg.max_flows / PAIR_SHARE, PAIR_LEAST);
}

bool hp3_announced_fits(
	const struct hp3_engine *e, const struct hp3_ends *ends, enum hp3_announcer who)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);

	if (e->nannounced >= (e->cfg.max_flows + 1) / 2)
		return false;
	if (pair == HP3_NO_PAIR)
		return e->pairs.used < (e->cfg.max_pairs + 1) / 2;
	return e->pairs.pairs[pair].announced[who] < quota_of_pair(e);
}

bool hp3_is_announced(const struct hp3_flow *f)
{
	return (f->flags & (HP3_FF_USED | HP3_FF_STARTED | HP3_FF_PAIRED)) == HP3_FF_USED &&
	       f->unsent.who != HP3_FROM_NOBODY;
}

/* The oldest one's `older` is the newest. */
void hp3_announced_add(struct hp3_engine *e, uint32_t flow, enum hp3_announcer who)
{
	struct hp3_unsent *u = &e->flows[flow].unsent;

	*u = (struct hp3_unsent){.older = flow, .newer = HP3_NO_FLOW, .who = (uint32_t)who & 3u};
	if (e->announced == HP3_NO_FLOW) {
		e->announced = flow;
	} else {
		u->older = e->flows[e->announced].unsent.older;
		e->flows[u->older].unsent.newer = flow;
		e->flows[e->announced].unsent.older = flow;
	}
	e->nannounced++;
	e->pairs.pairs[e->flows[flow].pair].announced[who]++;
}

void hp3_announced_end(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_unsent *u = &f->unsent;

	if (!hp3_is_announced(f))
		return;
	e->pairs.pairs[f->pair].announced[u->who]--;
	e->nannounced--;
	if (u->newer != HP3_NO_FLOW)
		e->flows[u->newer].unsent.older = u->older;
	else if (e->announced != flow)
		e->flows[e->announced].unsent.older = u->older;
	if (e->announced == flow)
		e->announced = u->newer;
	else
		e->flows[u->older].unsent.newer = u->newer;
	f->unpaired = (struct hp3_unpaired){0};
	u->who = HP3_FROM_NOBODY;
}

uint32_t hp3_announced_spare(const struct hp3_engine *e, bool alone)
{
	uint32_t n = 0;

	for (uint32_t i = e->announced; i != HP3_NO_FLOW && n < SPARE_TRIES;
		i = e->flows[i].unsent.newer, n++) {
		const struct hp3_flow *f = &e->flows[i];

		if (f->state == HP3_RFR_STEADY && f->slot == HP3_NO_SLOT &&
			(!alone || e->pairs.pairs[f->pair].nflows == 1))
			return i;
	}
	return HP3_NO_FLOW;
}
