/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of long flows. A pair whose counts have changed waits in a ring. The peer of each pair
 * gets at most one report per share_advertise_us. A lost report is not repeated; while there are
 * long flows, the next report follows (hp3_longs_refresh()).
 */
#include "engine/paths/paths.h"
#include "engine/part.h"

bool hp3_has_key(const struct hp3_engine *e, const struct hp3_ends *ends)
{
	struct hp3_addressing to = {.ipv6 = ends->ipv6};

	if (e->cfg.unkeyed || e->cfg.key == NULL)
		return !e->cfg.unkeyed;
	memcpy(to.src_ip, ends->local, ends->ipv6 ? 16 : 4);
	memcpy(to.dst_ip, ends->remote, ends->ipv6 ? 16 : 4);
	return hp3_pair_keyed(e->cfg.key, &to);
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

static void tick_advertise(struct hp3_turn *t)
{
	struct hp3_advertise_ring *advertise = &t->e->advertise;
	const uint64_t interval = t->e->cfg.cc.share.advertise_ns;

	if (t->now < advertise->due)
		return;
	while (advertise->n != 0 && t->acts->n < HP3_ACTS_MAX) {
		uint32_t pair = advertise->ring[advertise->head];
		struct hp3_pair *p = &t->e->pairs.pairs[pair];
		bool some;

		if (p->nflows != 0 && t->now < p->advertised_at + interval) {
			advertise->due = p->advertised_at + interval;
			return;
		}
		advertise->head =
			advertise->head + 1 == t->e->cfg.max_pairs ? 0 : advertise->head + 1;
		advertise->n--;
		advertise->waits[pair] = 0;
		if (p->nflows == 0 || p->peer_seen == 0)
			continue;
		some = p->long_out != 0;
		p->advertised_at = t->now;
		/* a report of 0 is sent once */
		if ((some || p->advertised_some || p->long_owed) && hp3_may_search(t->e) &&
			hp3_has_key(t->e, HP3_ENDS(p)))
			hp3_act(t, HP3_ACT_ADVERTISE, p->flows);
		p->advertised_some = some;
		p->long_owed = false;
	}
	advertise->due = advertise->n != 0 ? t->now : UINT64_MAX;
	t->acts->more |= advertise->n != 0;
}

/* Do peers get reports of our flows? */
static bool has_reports(const struct hp3_engine_config *cfg)
{
	return cfg->probing && cfg->cc.share.on;
}

static void take_advertise(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->advertise.ring, e->cfg.max_pairs);
	HP3_TAKE(a, e->advertise.waits, e->cfg.max_pairs);
}

static void init_advertise(struct hp3_engine *e)
{
	e->advertise.due = UINT64_MAX;
	memset(e->advertise.waits, 0, e->cfg.max_pairs);
}

static uint64_t advertise_due(const struct hp3_engine *e)
{
	return e->advertise.due;
}

const struct hp3_part hp3_advertise_part = {.is_on = has_reports,
	.take = take_advertise,
	.init = init_advertise,
	.tick = tick_advertise,
	.due = advertise_due};
