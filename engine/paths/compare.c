/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/paths/compare.h"
#include <errno.h>
#include "engine/info.h"
#include "engine/part.h"
#include "engine/paths/probe_id.h"
#include "engine/paths/trace_state.h"

#define PAUSE_NS      1000000u /* between bursts, at least */
#define BUDGET_SHARE  2u /* of the pair's budget: one part of this many */
#define NS_PER_SECOND 1000000000ull

static void clear_comparison(struct hp3_comparing *c)
{
	memset(c, 0, sizeof(*c));
	c->pair = HP3_NO_PAIR;
}

static bool is_comparing(const struct hp3_comparing *c)
{
	return c->pair != HP3_NO_PAIR && c->ended_at == 0;
}

static uint64_t comparison_due(const struct hp3_engine *e)
{
	const struct hp3_comparing *c = e->comparing;

	if (!is_comparing(c))
		return UINT64_MAX;
	return c->end != 0 ? c->end : c->next;
}

void hp3_compare_forget(struct hp3_engine *e, uint32_t pair)
{
	if (e->comparing != NULL && e->comparing->pair == pair)
		clear_comparison(e->comparing);
}

static uint64_t pause_of(const struct hp3_engine *e, const struct hp3_comparing *c)
{
	uint64_t budget = BUDGET_SHARE * 2 * c->is.n * NS_PER_SECOND;

	return hp3_max_u64(PAUSE_NS, budget / hp3_max_u32(e->cfg.round.probes_per_second, 1));
}

static void end_burst(struct hp3_comparing *c, uint64_t now)
{
	c->end = 0;
	if (++c->is.bursts == HP3_COMPARE_BURSTS)
		c->ended_at = now;
}

static void send_burst(struct hp3_turn *t, struct hp3_comparing *c, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	uint32_t n = c->is.n;

	c->nonce = hp3_random_below(&t->e->rng, HP3_COMPARE_NONCE) << HP3_PROBE_NONCE_SHIFT;
	c->is.burst[c->is.bursts] = (struct hp3_compare_burst){0};
	c->open = 0;
	for (uint32_t i = 0; i < 2 * n; i++) {
		struct hp3_act *a = hp3_act(t, HP3_ACT_PROBE, flow);
		uint32_t slot = HP3_COMPARE_SLOT + i / n, k = i % n;

		a->port = c->is.port[k];
		a->op = HP3_PROBE_PEER;
		a->probe_id = c->nonce | slot << HP3_PROBE_SLOT_SHIFT | k;
		a->psn = (f->stream.una - 1) & HP3_PSN_MASK;
		c->open |= (uint16_t)(1u << (i / n * HP3_COMPARE_PORTS + k));
		t->e->stats.probes++;
	}
	c->sent = t->now;
	c->end = t->now + t->e->cfg.round.timeout_ns;
	c->next = t->now + pause_of(t->e, c);
}

static void tick_comparison(struct hp3_turn *t)
{
	struct hp3_comparing *c = t->e->comparing;
	struct hp3_pair *p;
	uint32_t flow;

	if (t->now < comparison_due(t->e))
		return;
	if (c->end != 0)
		end_burst(c, t->now);
	if (c->ended_at != 0 || t->now < c->next)
		return;
	if (t->acts->n + 2u * c->is.n > HP3_ACTS_MAX) {
		t->acts->more = true;
		return;
	}
	p = &t->e->pairs.pairs[c->pair];
	flow = hp3_trace_flow(t->e, c->pair, 0, t->now);
	if (flow == HP3_NO_FLOW) {
		c->ended_at = t->now;
	} else if (hp3_probe_budget_take(
			   &p->budget, &t->e->cfg.round, 2u * c->is.n, 2u * c->is.n, t->now) == 0) {
		c->next = t->now + PAUSE_NS;
	} else {
		send_burst(t, c, flow);
	}
}

bool hp3_compare_reply(struct hp3_engine *e, uint32_t id, bool ce, uint32_t took_ns, uint64_t now)
{
	struct hp3_comparing *c = e->comparing;
	uint32_t slot = hp3_probe_slot(id), k = id & (HP3_COMPARE_PORTS - 1), second;
	struct hp3_compare_burst *b;

	if (c == NULL || slot < HP3_COMPARE_SLOT || !is_comparing(c) || c->end == 0 ||
		id >> HP3_PROBE_NONCE_SHIFT != c->nonce >> HP3_PROBE_NONCE_SHIFT)
		return false;
	second = slot - HP3_COMPARE_SLOT;
	if (!(c->open >> (second * HP3_COMPARE_PORTS + k) & 1))
		return false;
	c->open &= (uint16_t) ~(1u << (second * HP3_COMPARE_PORTS + k));
	b = &c->is.burst[c->is.bursts];
	b->rtt[second][k] = hp3_probe_rtt(now - c->sent, took_ns);
	b->marked[second] |= (uint8_t)((unsigned)ce << k);
	e->pairs.pairs[c->pair].peer_seen = now;
	if (c->open == 0)
		end_burst(c, now);
	return true;
}

/* --- for operators --- */

/*
 * Those of `port` that are allowed, then others that are (hp3_qp_ports()). Returns how many in all.
 */
static uint32_t only_real(const struct hp3_paths *t, uint16_t *to, const uint16_t *port, uint32_t n)
{
	uint32_t got = 0;

	for (uint32_t i = 0; i < n; i++)
		if (t->n_ports == 0 || hp3_port_among(t->ports, t->n_ports, port[i]))
			to[got++] = port[i];
	for (uint32_t i = 0; i < t->n_ports && got < n; i++)
		if (!hp3_port_among(to, got, t->ports[i]))
			to[got++] = t->ports[i];
	return got;
}

int hp3_compare_ask(
	struct hp3_engine *e, uint32_t pair, const uint16_t *port, uint32_t n, uint64_t now)
{
	struct hp3_comparing *c = e->comparing;
	uint16_t real[HP3_COMPARE_PORTS];

	if (c == NULL || !hp3_may_search(e))
		return -EPERM;
	if (pair >= e->cfg.max_pairs || e->pairs.pairs[pair].nflows == 0)
		return -ENOENT;
	if (is_comparing(c))
		return -EBUSY;
	n = hp3_min_u32(n, hp3_min_u32(HP3_COMPARE_PORTS, e->cfg.round.probe_burst / 2u));
	n = only_real(hp3_paths_of(e, pair), real, port, n);
	if (n < 2 || hp3_trace_flow(e, pair, 0, now) == HP3_NO_FLOW)
		return -ENODATA;
	clear_comparison(c);
	c->pair = pair;
	c->next = now;
	c->is.n = (uint8_t)n;
	memcpy(c->is.port, real, n * sizeof(*real));
	return (int)n;
}

int hp3_compare_result(const struct hp3_engine *e, uint32_t pair, uint64_t now,
	struct hp3_compare *result, uint64_t *age_ns)
{
	const struct hp3_comparing *c = e->comparing;

	if (c == NULL || c->pair != pair || pair == HP3_NO_PAIR)
		return -ENODATA;
	*result = c->is;
	*age_ns = c->ended_at != 0 ? now - c->ended_at : 0;
	return c->ended_at != 0 ? 0 : -EBUSY;
}

static void take_comparison(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->comparing, 1);
}

static void init_comparison(struct hp3_engine *e)
{
	clear_comparison(e->comparing);
}

const struct hp3_part hp3_comparisons_part = {.is_on = hp3_is_probing,
	.take = take_comparison,
	.init = init_comparison,
	.tick = tick_comparison,
	.due = comparison_due};
