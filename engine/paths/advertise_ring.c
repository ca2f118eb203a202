/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of address pairs for which a report to the peer is due (advertise.c). Each pair has one
 * place.
 */
#include "engine/paths/paths.h"

void hp3_advertise_init(struct hp3_engine *e, uint32_t *ring, uint8_t *waits)
{
	e->advertise = (struct hp3_advertise_ring){.ring = ring, .waits = waits, .due = UINT64_MAX};
	memset(waits, 0, e->cfg.max_pairs);
}

void hp3_advertise_changed(struct hp3_engine *e, uint32_t pair)
{
	struct hp3_advertise_ring *t = &e->advertise;
	uint32_t at = t->head + t->n;

	if (t->ring == NULL || t->waits[pair])
		return;
	t->waits[pair] = 1;
	t->ring[at < e->cfg.max_pairs ? at : at - e->cfg.max_pairs] = pair;
	t->n++;
	t->due = 0;
}

void hp3_advertise_refresh(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	if (now - e->pairs.pairs[pair].advertised_at > e->cfg.load_age_ns / 2)
		hp3_advertise_changed(e, pair);
}
