/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What errands share: where a pair's paths are known, which probes its peer answers, and a round
 * from its first probe to what is learnt from it. Whom to ask and what to make of it:
 * congested.c, dead.c, setup.c, wake.c.
 */
#include "engine/seek/seek.h"

#define SILENT_NEVER 4u /* rounds without an answer: nobody there, if nobody ever answered */
#define SILENT_ONCE  8u /* ... if somebody did, long ago: it may be starting anew */
#define SILENT_PART  10u /* of the time to the next question: so much they span at least */
#define NAK_AHEAD    2u /* PSNs beyond the expected one */

enum hp3_probe_kind hp3_probe_kind_of(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[pair];

	switch ((enum hp3_probe_choice)e->cfg.probes) {
	case HP3_PROBES_PEER:
		return HP3_PROBE_PEER;
	case HP3_PROBES_STANDARD:
		return HP3_PROBE_STANDARD;
	case HP3_PROBES_NAK:
		return HP3_PROBE_NAK;
	default:
		return p->peer_plain && now < p->peer_ask ? HP3_PROBE_STANDARD : HP3_PROBE_PEER;
	}
}

/* Who answers peer probes, and who does not (probes = auto)? */
static void note_peer(struct hp3_engine *e, uint32_t pair, const struct hp3_round *r, uint64_t now)
{
	struct hp3_pair *p = &e->pairs.pairs[pair];

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->probe[i].state == HP3_PROBE_ANSWERED || r->probe[i].state == HP3_PROBE_LATE)
			return; /* hp3_probe_reply() has noted it */
	}
	if (p->peer_silent == 0)
		p->peer_ask = now + e->cfg.peer_ns / SILENT_PART;
	if (p->peer_silent < UINT8_MAX)
		p->peer_silent++;
	if (p->peer_silent >= (p->peer_seen != 0 ? SILENT_ONCE : SILENT_NEVER) &&
		now >= p->peer_ask && (p->peer_seen == 0 || now - p->peer_seen >= e->cfg.peer_ns)) {
		p->peer_plain = true;
		p->peer_ask = now + e->cfg.peer_ns;
	}
}

static uint32_t probe_psn(const struct hp3_flow *f, const struct hp3_move *m)
{
	switch ((enum hp3_probe_kind)m->errand.round.kind) {
	case HP3_PROBE_STANDARD:
		return m->closing.psn;
	case HP3_PROBE_NAK:
		return hp3_psn_add(m->closing.psn, 1 + NAK_AHEAD);
	default:
		return (f->stream.una - 1) & HP3_PSN_MASK;
	}
}

static uint32_t probe_nonce(struct hp3_engine *e, uint16_t slot)
{
	return (uint32_t)hp3_random(&e->rng) << HP3_PROBE_NONCE_SHIFT |
	       (uint32_t)slot << HP3_PROBE_SLOT_SHIFT;
}

struct hp3_round_ask hp3_round_ask(
	struct hp3_engine *e, const struct hp3_move *m, enum hp3_probe_kind kind)
{
	return (struct hp3_round_ask){.kind = kind,
		.port = m->from,
		.rtt_ns = m->errand.before.rtt_ns,
		.nonce = probe_nonce(e, e->flows[m->flow].slot)};
}

bool hp3_round_begin(struct hp3_engine *e, struct hp3_move *m, const struct hp3_round_ask *ask,
	uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[m->flow];

	if (hp3_round_start(
		    &m->errand.round, &e->cfg.round, &e->pairs.pairs[f->pair].budget, ask, now) < 0)
		return false;
	e->stats.rounds++;
	hp3_errand_input(e, m, HP3_ERRAND_IN_BEGUN, now, acts);
	return true;
}

void hp3_send_probes(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	int i;

	while ((i = hp3_round_send(&m->errand.round, &e->cfg.round, now)) != HP3_NO_PROBE) {
		struct hp3_act *a = hp3_act(acts, HP3_ACT_PROBE, m->flow);

		a->port = m->errand.round.probe[i].port;
		a->op = m->errand.round.kind;
		a->probe_id = hp3_round_probe_id(&m->errand.round, (uint32_t)i);
		a->psn = probe_psn(f, m);
		e->stats.probes++;
		if (m->errand.round.kind == HP3_PROBE_STANDARD)
			hp3_guard_begin(e, m->flow, now);
	}
}

void hp3_round_await(struct hp3_engine *e, struct hp3_move *m, uint64_t now)
{
	uint64_t end = m->errand.round.deadline;

	hp3_slot_timer(e, m, &m->move_at, end > now ? end : now + 1);
}

void hp3_round_go(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	hp3_send_probes(e, m, now, acts);
	hp3_slot_timer(e, m, &m->move_at, m->errand.round.deadline);
}

struct hp3_event *hp3_round_report(
	struct hp3_engine *e, const struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_event *ev = hp3_event(e, m->flow, HP3_EV_ROUND, now, acts);

	ev->cause = m->errand.cause;
	ev->from = m->from;
	ev->to = m->to;
	ev->wait_ns = now - m->t_ask;
	ev->outcome = m->errand.round.outcome;
	ev->probe_kind = m->errand.round.kind;
	ev->n_probes = m->errand.round.n;
	ev->n_cycles = m->errand.n_cycles;
	ev->path = m->errand.before;
	memcpy(ev->cycles, m->errand.cycles, sizeof(ev->cycles));
	memcpy(ev->probes, m->errand.round.probe, sizeof(ev->probes));
	return ev;
}

void hp3_round_learn(struct hp3_engine *e, const struct hp3_move *m, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	struct hp3_paths *t = hp3_paths_of(e, f->pair);

	for (uint32_t i = 0; i < m->errand.round.n; i++) {
		const struct hp3_probe *p = &m->errand.round.probe[i];
		int at;

		if (p->state != HP3_PROBE_ANSWERED && p->state != HP3_PROBE_LOST)
			continue;
		at = hp3_paths_get(t, p->port, f->rqpn, now);
		if (at >= 0 && p->state == HP3_PROBE_LOST) {
			if (hp3_paths_lost(t, at, now) && e->tracing != NULL)
				hp3_trace_anew(e, f->pair, now);
		} else if (at >= 0)
			hp3_paths_reply(t, at, p->rtt_ns, p->ce, now);
	}
	if (m->errand.round.kind == HP3_PROBE_PEER)
		note_peer(e, f->pair, &m->errand.round, now);
}

bool hp3_round_won(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	bool won = m->errand.round.outcome == HP3_ROUND_WINNER;

	hp3_round_learn(e, m, now);
	if (won) {
		m->to = m->errand.round.probe[m->errand.round.winner].port;
		e->stats.rounds_won++;
	}
	hp3_round_report(e, m, now, acts);
	return won;
}
