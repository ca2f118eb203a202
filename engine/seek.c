/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for a better path when the one in use is severely congested (HP3, "Alternative Path
 * Discovery"), and moves the flow there. Probes go out while traffic flows on: only a flow that has
 * somewhere better to go is ever suspended, so a network that is congested everywhere costs probes
 * within their budget and nothing else.
 */
#include "engine/internal.h"

#define SLOT_SHIFT  3u /* below: number of the probe */
#define NONCE_SHIFT 19u /* above: random */

static struct hp3_paths *paths_of(struct hp3_engine *e, uint32_t pair)
{
	struct hp3_paths *t = &e->paths[pair];

	if (!e->pairs.pairs[pair].paths_ready) {
		hp3_paths_init(t, &e->cfg.paths, hp3_random(&e->rng));
		e->pairs.pairs[pair].paths_ready = true;
	}
	return t;
}

static bool may_seek(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return e->cfg.moves_allowed && !p->pinned && !(f->flags & HP3_FF_RNR) &&
	       p->nmoves < e->cfg.max_concurrent && e->nmoves < e->cfg.max_moves &&
	       hp3_backoff_ready(&f->backoff, now);
}

static void send_probes(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	int i;

	while ((i = hp3_round_send(&m->round, &e->cfg.round, now)) != HP3_NO_PROBE) {
		struct hp3_act *a = hp3_act(acts, HP3_ACT_PROBE, m->flow);

		a->port = m->round.probe[i].port;
		a->slot = e->flows[m->flow].slot;
		a->probe_id = hp3_round_probe_id(&m->round, (uint32_t)i);
		e->stats.probes++;
	}
	hp3_move_deadline(e, m, m->round.deadline);
}

void hp3_seek(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_round_ask ask = {.kind = HP3_PROBE_PEER, .port = hp3_flow_port(f)};
	uint16_t ports[HP3_ROUND_PROBES];
	struct hp3_estimates path;
	struct hp3_round round;
	struct hp3_move *m;

	if (!may_seek(e, f, now))
		return;
	hp3_monitor_estimates(&f->monitor, &e->cfg.monitor, &path);
	ask.rtt_ns = path.rtt_ns;
	ask.candidates = ports;
	ask.n = hp3_paths_candidates(
		paths_of(e, f->pair), f->rqpn, ask.port, ports, e->cfg.candidates, now);
	ask.nonce = (uint32_t)hp3_random(&e->rng) << NONCE_SHIFT | (uint32_t)e->slots[e->nmoves]
									   << SLOT_SHIFT;
	if (hp3_round_start(&round, &e->cfg.round, &e->pairs.pairs[f->pair].budget, &ask, now) < 0)
		return;
	m = hp3_move_slot(e, flow, now);
	m->round = round;
	m->cause = HP3_CAUSE_MONITOR;
	m->n_cycles = (uint8_t)hp3_monitor_evidence(&f->monitor, m->cycles);
	m->seeking = m->sought = true;
	m->to = m->from;
	e->pairs.pairs[f->pair].nmoves++;
	e->stats.rounds++;
	hp3_move_input(e, flow, HP3_RFR_IN_SEEK, now, acts);
	send_probes(e, m, now, acts);
}

static void learn(
	struct hp3_engine *e, uint32_t pair, uint32_t qpn, const struct hp3_probe *p, uint64_t now)
{
	struct hp3_paths *t = paths_of(e, pair);
	int at;

	if (p->state != HP3_PROBE_ANSWERED && p->state != HP3_PROBE_LOST)
		return;
	at = hp3_paths_get(t, p->port, qpn, now);
	if (at < 0)
		return;
	if (p->state == HP3_PROBE_LOST)
		hp3_paths_lost(t, at, now);
	else
		hp3_paths_reply(t, at, p->rtt_ns, p->ce, now);
}

static void report(
	struct hp3_engine *e, const struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	struct hp3_act *a = hp3_act(acts, HP3_ACT_EVENT, m->flow);

	a->event = (struct hp3_event){.t_ns = now,
		.type = HP3_EV_ROUND,
		.cause = m->cause,
		.from = m->from,
		.to = m->to,
		.flow = m->flow,
		.rqpn = f->rqpn,
		.lqpn = f->lqpn,
		.pair = f->pair,
		.wait_ns = now - m->t_ask,
		.outcome = m->round.outcome,
		.n_probes = m->round.n};
	a->event.n_cycles = m->n_cycles;
	memcpy(a->event.cycles, m->cycles, sizeof(a->event.cycles));
	memcpy(a->event.probes, m->round.probe, sizeof(a->event.probes));
}

/* The round has an outcome: go there, or stay and back off. */
static void conclude(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	bool won = m->round.outcome == HP3_ROUND_WINNER;

	for (uint32_t i = 0; i < m->round.n; i++)
		learn(e, f->pair, f->rqpn, &m->round.probe[i], now);
	if (won)
		m->to = m->round.probe[m->round.winner].port;
	m->seeking = false;
	report(e, m, now, acts);
	if (!won) {
		hp3_move_input(e, m->flow, HP3_RFR_IN_NO_BETTER, now, acts);
		return;
	}
	e->stats.rounds_won++;
	hp3_move_start(e, m->flow, now, acts);
}

void hp3_probe_reply(
	struct hp3_engine *e, uint32_t id, bool ce, uint64_t now, struct hp3_acts *acts)
{
	uint32_t slot = (id >> SLOT_SHIFT) & UINT16_MAX;
	struct hp3_move *m = slot < e->cfg.max_moves ? &e->moves[slot] : NULL;

	acts->n = 0;
	if (m == NULL || m->active >= e->nmoves || e->slots[m->active] != slot || !m->seeking ||
		(id & ~(HP3_ROUND_PROBES - 1)) != m->round.id) {
		e->stats.probe_strays++;
		return;
	}
	e->stats.probe_replies++;
	if (hp3_round_reply(&m->round, &e->cfg.round, id, ce, now) != HP3_ROUND_PENDING)
		conclude(e, m, now, acts);
}

void hp3_seek_timeout(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	if (hp3_round_tick(&m->round, &e->cfg.round, now) != HP3_ROUND_PENDING)
		conclude(e, m, now, acts);
	else
		hp3_move_deadline(e, m, m->round.deadline > now ? m->round.deadline : now + 1);
}
