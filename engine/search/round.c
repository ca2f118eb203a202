/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by all searches: which kind of probes the peer answers, and a round from its first probe
 * to its results in the path table. Which ports are probed, and what follows, is in congested.c,
 * dead.c, setup.c and message_start.c.
 */
#include "engine/search/search.h"
#include "engine/spray/spray.h"

#define SILENT_NEVER 4u /* rounds without an answer: no hp3d, if it never answered */
#define SILENT_ONCE  8u /* ... if it answered long ago: it may be restarting */
#define SILENT_PART  10u /* of peer_ns: time that these rounds span at least */

enum hp3_probe_kind hp3_probe_kind_of(struct hp3_turn *t, uint32_t pair)
{
	const struct hp3_pair *p = &t->e->pairs.pairs[pair];

	switch ((enum hp3_probe_choice)t->e->cfg.probes) {
	case HP3_PROBES_PEER:
		return HP3_PROBE_PEER;
	case HP3_PROBES_STANDARD:
		return HP3_PROBE_STANDARD;
	default:
		return p->peer_plain && t->now < p->peer_ask ? HP3_PROBE_STANDARD : HP3_PROBE_PEER;
	}
}

bool hp3_peer_is_asked(struct hp3_turn *t, uint32_t pair)
{
	return t->e->cfg.probing && hp3_probe_kind_of(t, pair) == HP3_PROBE_PEER;
}

/* Does the peer answer peer probes (probes = auto)? */
static void note_peer(struct hp3_turn *t, uint32_t pair, const struct hp3_round *r)
{
	struct hp3_pair *p = &t->e->pairs.pairs[pair];

	for (uint32_t i = 0; i < r->n; i++) {
		if (r->probe[i].state == HP3_PROBE_ANSWERED || r->probe[i].state == HP3_PROBE_LATE)
			return; /* hp3_probe_reply() has noted it */
	}
	if (p->peer_silent == 0)
		p->peer_ask = t->now + t->e->cfg.peer_ns / SILENT_PART;
	if (p->peer_silent < UINT8_MAX)
		p->peer_silent++;
	if (p->peer_silent >= (p->peer_seen != 0 ? SILENT_ONCE : SILENT_NEVER) &&
		t->now >= p->peer_ask &&
		(p->peer_seen == 0 || t->now - p->peer_seen >= t->e->cfg.peer_ns)) {
		p->peer_plain = true;
		p->peer_ask = t->now + t->e->cfg.peer_ns;
	}
}

static uint32_t probe_psn(const struct hp3_flow *f, const struct hp3_move *m)
{
	if (m->search.round.kind == HP3_PROBE_STANDARD)
		return m->closing.psn;
	return (f->stream.una - 1) & HP3_PSN_MASK;
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
		.rtt_ns = m->search.before.rtt_ns,
		.nonce = probe_nonce(e, e->flows[m->flow].slot)};
}

bool hp3_round_begin(struct hp3_turn *t, struct hp3_move *m, const struct hp3_round_ask *ask)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	struct hp3_round_ask what = *ask;

	what.as_data =
		(what.as_data || hp3_pair_swallows(t->e, f, t->now)) && hp3_probe_pad(t->e, f) != 0;
	if (hp3_round_start(&m->search.round, &t->e->cfg.round, &t->e->pairs.pairs[f->pair].budget,
		    &what, t->now) < 0)
		return false;
	t->e->stats.rounds++;
	hp3_search_input(t, m, HP3_SEARCH_IN_BEGUN);
	return true;
}

void hp3_send_probes(struct hp3_turn *t, struct hp3_move *m)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	int i;

	while ((i = hp3_round_send(&m->search.round, &t->e->cfg.round, t->now)) != HP3_NO_PROBE) {
		struct hp3_act *a = hp3_act(t, HP3_ACT_PROBE, m->flow);

		a->port = m->search.round.probe[i].port;
		a->op = m->search.round.kind;
		a->probe_id = hp3_round_probe_id(&m->search.round, (uint32_t)i);
		a->psn = probe_psn(f, m);
		a->pad = m->search.round.as_data ? hp3_probe_pad(t->e, f) : 0;
		t->e->stats.probes++;
		if (t->e->spraying != NULL)
			hp3_spray_probe_sent(t->e, f, a->port, t->now);
		if (m->search.round.kind == HP3_PROBE_STANDARD)
			hp3_guard_begin(t, m->flow);
	}
}

void hp3_round_await(struct hp3_turn *t, struct hp3_move *m)
{
	uint64_t end = m->search.round.deadline;

	hp3_slot_timer(t->e, m, &m->move_at, hp3_max_u64(end, t->now + 1));
}

void hp3_round_go(struct hp3_turn *t, struct hp3_move *m)
{
	hp3_send_probes(t, m);
	hp3_slot_timer(t->e, m, &m->move_at, m->search.round.deadline);
}

struct hp3_event *hp3_round_report(struct hp3_turn *t, const struct hp3_move *m)
{
	struct hp3_event *event = hp3_move_event(t, m, HP3_EVENT_ROUND);

	event->wait_ns = t->now - m->t_ask;
	event->outcome = m->search.round.outcome;
	event->probe_kind = m->search.round.kind;
	event->n_probes = m->search.round.n;
	event->path = m->search.before;
	memcpy(event->probes, m->search.round.probe, sizeof(event->probes));
	return event;
}

void hp3_round_learn(struct hp3_turn *t, const struct hp3_move *m)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	struct hp3_paths *paths = hp3_paths_of(t->e, f->pair);

	for (uint32_t i = 0; i < m->search.round.n; i++) {
		const struct hp3_probe *p = &m->search.round.probe[i];
		int at;

		if (p->state != HP3_PROBE_ANSWERED && p->state != HP3_PROBE_LOST)
			continue;
		at = hp3_paths_get(paths, p->port, f->rqpn, t->now);
		if (at >= 0 && p->state == HP3_PROBE_LOST) {
			if (hp3_paths_lost(paths, at, t->now) && t->e->tracing != NULL)
				hp3_trace_anew(t->e, f->pair, t->now);
		} else if (at >= 0)
			hp3_paths_reply(paths, at, p->rtt_ns, p->ce, t->now);
	}
	if (m->search.round.kind == HP3_PROBE_PEER)
		note_peer(t, f->pair, &m->search.round);
}

bool hp3_round_won(struct hp3_turn *t, struct hp3_move *m)
{
	bool won = m->search.round.outcome == HP3_ROUND_WINNER;

	hp3_round_learn(t, m);
	if (won) {
		m->to = m->search.round.probe[m->search.round.winner].port;
		t->e->stats.rounds_won++;
	}
	hp3_round_report(t, m);
	return won;
}
