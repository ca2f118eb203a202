/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/advice.h"
#include <string.h>
#include "base/minmax.h"

void hp3_fleet_advice_init(struct hp3_fleet_advice *a, const char *host, uint64_t instance)
{
	*a = (struct hp3_fleet_advice){.instance = instance};
	strncpy(a->host, host, sizeof(a->host) - 1);
}

static bool is_newer(
	const struct hp3_fleet_advice *a, const struct hp3_fleet_plan *p, uint64_t now_ms)
{
	if (a->c.plans == a->c.old || now_ms - a->came_ms >= HP3_FLEET_ADVICE_SILENCE_MS)
		return true;
	return p->term != a->term ? p->term > a->term : p->epoch > a->epoch;
}

static void add_move(struct hp3_fleet_advice *a, const struct hp3_fleet_move *m, uint64_t from_ms)
{
	a->move[a->n].m = *m;
	a->move[a->n++].from_ms = from_ms;
}

/* Moves the first pending move that is due to `last`. False: none is due. */
static bool take_move(struct hp3_fleet_advice *a, uint64_t now_ms)
{
	for (unsigned i = 0; i < a->n; i++) {
		if (now_ms < a->move[i].from_ms)
			continue;
		a->last = a->move[i].m;
		memmove(&a->move[i], &a->move[i + 1], (--a->n - i) * sizeof(a->move[0]));
		return true;
	}
	return false;
}

void hp3_fleet_advice_plan(
	struct hp3_fleet_advice *a, const struct hp3_fleet_plan *p, uint64_t now_ms)
{
	bool newer = is_newer(a, p, now_ms);

	a->c.plans++;
	a->c.old += !newer;
	if (!newer)
		return;
	a->c.expired += a->n;
	a->term = p->term;
	a->epoch = p->epoch;
	a->came_ms = now_ms;
	a->until_ms = now_ms + hp3_min_u32(p->valid_ms, HP3_FLEET_ADVICE_VALID_MS) / 2;
	a->n = 0;
	memcpy(a->planner, p->planner, sizeof(a->planner));
	for (unsigned i = 0; i < p->n_moves; i++)
		if (strcmp(p->move[i].host, a->host) == 0)
			add_move(a, &p->move[i], 0);
	a->c.moves += a->n;
}

static const struct hp3_fleet_flow *find_flow(
	const struct hp3_fleet_report *r, const struct hp3_fleet_key *key, unsigned *flow)
{
	for (*flow = 0; *flow < r->n_flows; ++*flow)
		if (hp3_fleet_key_cmp(&r->flow[*flow].key, key) == 0)
			return &r->flow[*flow];
	return NULL;
}

static bool is_offered(const struct hp3_fleet_flow *f, uint16_t port)
{
	for (unsigned i = 0; i < f->n_alts; i++)
		if (f->alt[i].port == port)
			return true;
	return false;
}

/* Drops expired entries of `recent`; false: the flow has recent advice, or there is no room. */
static bool may_be_named(
	struct hp3_fleet_advice *a, const struct hp3_fleet_key *key, uint64_t now_ms)
{
	for (unsigned i = 0; i < a->n_recent;) {
		if (a->recent[i].until_ms <= now_ms)
			a->recent[i] = a->recent[--a->n_recent];
		else if (hp3_fleet_key_cmp(&a->recent[i++].key, key) == 0)
			return false;
	}
	return a->n_recent < HP3_FLEET_ADVICE_RECENT;
}

/* The counter of the reason not to pass the move on; NULL: no reason. */
static uint64_t *objection_to_move(struct hp3_fleet_advice *a, const struct hp3_fleet_move *m,
	const struct hp3_fleet_report *r, uint64_t now_ms, unsigned *flow)
{
	const struct hp3_fleet_flow *f = find_flow(r, &m->key, flow);

	if (m->instance != a->instance)
		return &a->c.before;
	if (now_ms >= a->until_ms)
		return &a->c.expired;
	if (f == NULL)
		return &a->c.unknown;
	if (f->port != m->from_port)
		return &a->c.elsewhere;
	if (!is_offered(f, m->to_port))
		return &a->c.not_offered;
	return may_be_named(a, &m->key, now_ms) ? NULL : &a->c.too_soon;
}

const struct hp3_fleet_move *hp3_fleet_advice_next(struct hp3_fleet_advice *a,
	const struct hp3_fleet_report *r, uint64_t now_ms, unsigned *flow)
{
	while (take_move(a, now_ms)) {
		uint64_t *why_not = objection_to_move(a, &a->last, r, now_ms, flow);

		if (why_not == NULL) {
			a->recent[a->n_recent].key = a->last.key;
			a->recent[a->n_recent++].until_ms = now_ms + HP3_FLEET_ADVICE_HOLD_MS;
			a->c.asked++;
			return &a->last;
		}
		++*why_not;
	}
	return NULL;
}

void hp3_fleet_advice_busy(struct hp3_fleet_advice *a, uint64_t now_ms)
{
	a->c.asked--;
	a->c.busy++;
	a->n_recent--; /* the last one */
	add_move(a, &a->last, now_ms + HP3_FLEET_ADVICE_RETRY_MS);
}
