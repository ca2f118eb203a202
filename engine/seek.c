/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for a better path when the one in use is severely congested (HP3, "Alternative Path
 * Discovery"), and moves the flow there.
 *
 * Probes of kind PEER go out while traffic flows on: only a flow that has somewhere better to go is
 * ever suspended, so a network that is congested everywhere costs probes within their budget and
 * nothing else. Probes that look like a duplicate (STANDARD) or a gap (NAK) go out only behind the
 * drain, one at a time (rules 2 and 3). Rounds for dead paths are in seek_dead.c.
 */
#include "engine/internal.h"

#define SILENT_NEVER 4u /* rounds without an answer: nobody there, if nobody ever answered */
#define SILENT_ONCE  8u /* ... if somebody did, long ago: it may be starting anew */
#define SILENT_PART  10u /* of the time to the next question: so much they span at least */
#define LOOKS        1u /* at a better path that was found */
#define SLOW_LOOKS   2u /* ... where nothing but round trips speaks against the path in use */
#define NAK_AHEAD    2u /* PSNs beyond the expected one */

struct hp3_paths *hp3_paths_of(struct hp3_engine *e, uint32_t pair)
{
	struct hp3_pair *p = &e->pairs.pairs[pair];
	struct hp3_paths *t = &e->paths[pair];
	struct hp3_tuple tuple = {.dport = HP3_ROCE_UDP_PORT, .ipv6 = p->ipv6};

	if (p->paths_ready)
		return t;
	hp3_paths_init(t, &e->cfg.paths, hp3_random(&e->rng));
	memcpy(tuple.src, p->local, 16);
	memcpy(tuple.dst, p->remote, 16);
	if (e->cfg.model != NULL)
		hp3_paths_identity_model(t, e->cfg.model, &tuple); /* refused: port = path */
	p->paths_ready = true;
	return t;
}

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

static bool may_seek(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return (e->cfg.moves_allowed || e->cfg.observe) && !p->pinned && !(f->flags & HP3_FF_RNR) &&
	       (f->slot == HP3_NO_SLOT || e->moves[f->slot].backlog == 0) &&
	       p->nmoves < e->cfg.max_concurrent && hp3_backoff_ready(&f->backoff, now);
}

static uint32_t probe_psn(const struct hp3_flow *f, const struct hp3_move *m)
{
	switch ((enum hp3_probe_kind)m->round.kind) {
	case HP3_PROBE_STANDARD:
		return m->closing.psn;
	case HP3_PROBE_NAK:
		return hp3_psn_add(m->closing.psn, 1 + NAK_AHEAD);
	default:
		return (f->stream.una - 1) & HP3_PSN_MASK;
	}
}

void hp3_send_probes(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	int i;

	while ((i = hp3_round_send(&m->round, &e->cfg.round, now)) != HP3_NO_PROBE) {
		struct hp3_act *a = hp3_act(acts, HP3_ACT_PROBE, m->flow);

		a->port = m->round.probe[i].port;
		a->slot = f->slot;
		a->op = m->round.kind;
		a->probe_id = hp3_round_probe_id(&m->round, (uint32_t)i);
		a->psn = probe_psn(f, m);
		e->stats.probes++;
		if (m->round.kind == HP3_PROBE_STANDARD)
			hp3_guard_begin(e, m->flow, now);
	}
}

struct hp3_event *hp3_round_report(
	struct hp3_engine *e, const struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_event *ev = hp3_event(e, m->flow, HP3_EV_ROUND, now, acts);

	ev->cause = m->cause;
	ev->from = m->from;
	ev->to = m->to;
	ev->wait_ns = now - m->t_ask;
	ev->outcome = m->round.outcome;
	ev->probe_kind = m->round.kind;
	ev->n_probes = m->round.n;
	ev->n_cycles = m->n_cycles;
	ev->path = m->before;
	memcpy(ev->cycles, m->cycles, sizeof(ev->cycles));
	memcpy(ev->probes, m->round.probe, sizeof(ev->probes));
	return ev;
}

void hp3_round_learn(struct hp3_engine *e, const struct hp3_move *m, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	struct hp3_paths *t = hp3_paths_of(e, f->pair);

	for (uint32_t i = 0; i < m->round.n; i++) {
		const struct hp3_probe *p = &m->round.probe[i];
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
	if (m->round.kind == HP3_PROBE_PEER)
		note_peer(e, f->pair, &m->round, now);
}

/* What set the round off, and what is known of the path in use. */
static struct hp3_move *begin(
	struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = hp3_move_prepare(e, flow, now, acts);

	if (m == NULL)
		return NULL;
	m->n_cycles = (uint8_t)hp3_monitor_evidence(&f->monitor, m->cycles);
	m->cause = hp3_cause_of(m->cycles, m->n_cycles);
	m->sought = true;
	e->pairs.pairs[f->pair].nmoves++;
	return m;
}

static int start_round(
	struct hp3_engine *e, struct hp3_move *m, enum hp3_probe_kind kind, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	uint16_t ports[HP3_ROUND_PROBES] = {m->to};
	struct hp3_round_ask ask = {.kind = kind,
		.port = m->from,
		.rtt_ns = m->before.rtt_ns,
		.candidates = ports,
		.n = 1,
		.drained = kind != HP3_PROBE_PEER,
		.patient = e->cfg.move_wait_ns != 0,
		.again = m->looks != 0 && m->cause != HP3_CAUSE_RTT,
		.nonce = hp3_probe_nonce(e, f->slot)};

	if (m->looks == 0)
		ask.n = hp3_paths_candidates(
			hp3_paths_of(e, f->pair), f->rqpn, ask.port, ports, e->cfg.candidates, now);
	return hp3_round_start(
		&m->round, &e->cfg.round, &e->pairs.pairs[f->pair].budget, &ask, now);
}

/*
 * AUTO suspends nobody for round trips alone: they grow with the flow's own window, with the
 * responder's work, with what a host does beside. Who wants that says STANDARD.
 */
static bool is_slow_only(const struct hp3_engine *e, const struct hp3_flow *f)
{
	uint8_t cycles[HP3_CYCLES_KEPT + 1];
	uint32_t n = hp3_monitor_evidence(&f->monitor, cycles);

	return e->cfg.probes == HP3_PROBES_AUTO && hp3_cause_of(cycles, n) == HP3_CAUSE_RTT;
}

void hp3_seek(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_pair *p = &e->pairs.pairs[f->pair];
	enum hp3_probe_kind kind = hp3_probe_kind_of(e, f->pair, now);
	struct hp3_move *m;

	if (!may_seek(e, f, now))
		return;
	if (kind != HP3_PROBE_PEER && (e->cfg.observe || e->cfg.beside || is_slow_only(e, f)))
		return; /* observe suspends none; beside the RNIC nothing is held */
	m = begin(e, flow, now, acts);
	if (m == NULL)
		return;
	if (kind != HP3_PROBE_PEER) {
		m->ask = true;
		m->round = (struct hp3_round){0};
		hp3_cnps_wait_for_round(e, m, now);
		hp3_move_start(e, flow, now, acts);
		return;
	}
	if (start_round(e, m, kind, now) < 0) {
		p->nmoves--;
		hp3_slot_drop(e, flow, HP3_USE_MOVE);
		return;
	}
	m->seeking = true;
	hp3_cnps_wait_for_round(e, m, now);
	e->stats.rounds++;
	hp3_move_input(e, flow, HP3_RFR_IN_SEEK, now, acts);
	hp3_send_probes(e, m, now, acts);
	hp3_slot_timer(e, m, &m->move_at, m->round.deadline);
}

static uint64_t wait_of(struct hp3_engine *e, const struct hp3_move *m)
{
	uint64_t rtts = (uint64_t)e->flows[m->flow].monitor.base * e->cfg.move_wait_rtts;
	uint64_t most = rtts > e->cfg.move_wait_ns ? rtts : e->cfg.move_wait_ns;

	return 1 + hp3_random(&e->rng) % most;
}

/*
 * Rule 29: who shares a link feels the same at the same time, and would leave it together, to the
 * same place perhaps. So a path that was found better waits for a random time; then it and the one
 * in use are asked once more, at the same moment, and whoever comes last finds the link empty and
 * stays. Noise has to deceive twice, too.
 *
 * Round trips alone grow for many reasons, those of the hosts among them: then SLOW_LOOKS in a row
 * have to find the other path better, and one LOOK where marks say that the path in use is
 * congested.
 */
static bool will_look(struct hp3_engine *e, struct hp3_move *m, bool won, uint64_t now)
{
	bool slow = m->cause == HP3_CAUSE_RTT;

	if (m->ask || e->cfg.observe || e->cfg.move_wait_ns == 0 || !won ||
		m->looks == (slow ? SLOW_LOOKS : LOOKS))
		return false;
	m->looks++;
	m->asked_at = now;
	m->again = now + wait_of(e, m);
	hp3_slot_timer(e, m, &m->move_at, m->again);
	return true;
}

static void stay(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	e->stats.moves_called_off++;
	m->to = m->from;
	hp3_move_input(e, m->flow, HP3_RFR_IN_NO_BETTER, now, acts);
}

/* The wait is over. Congestion control, or somebody who left, may have cured the path meanwhile. */
static void look(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[m->flow];

	if (now < m->again) {
		hp3_slot_timer(e, m, &m->move_at, m->again);
		return;
	}
	m->again = 0;
	if (!hp3_monitor_congested_since(&f->monitor, &e->cfg.monitor, m->asked_at, now) ||
		start_round(e, m, HP3_PROBE_PEER, now) < 0) {
		stay(e, m, now, acts);
		return;
	}
	e->stats.rounds++;
	hp3_send_probes(e, m, now, acts);
	hp3_slot_timer(e, m, &m->move_at, m->round.deadline);
}

/* The round has an outcome: go there, or stay and back off. */
static void conclude(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	bool won = m->round.outcome == HP3_ROUND_WINNER;
	struct hp3_event *ev;

	hp3_round_learn(e, m, now);
	if (won) {
		m->to = m->round.probe[m->round.winner].port;
		e->stats.rounds_won++;
	}
	hp3_round_report(e, m, now, acts);
	if (will_look(e, m, won, now))
		return;
	m->seeking = false;
	if (won && e->cfg.observe) {
		ev = hp3_event(e, m->flow, HP3_EV_WOULD, now, acts);
		ev->cause = m->cause;
		ev->to = m->to;
		ev->path = m->before;
	}
	if (m->ask)
		hp3_move_input(e, m->flow, won ? HP3_RFR_IN_WON : HP3_RFR_IN_NO_BETTER, now, acts);
	else if (!won && m->looks != 0)
		stay(e, m, now, acts);
	else if (!won || e->cfg.observe)
		hp3_move_input(e, m->flow, HP3_RFR_IN_NO_BETTER, now, acts);
	else
		hp3_move_start(e, m->flow, now, acts);
}

/* --- behind the drain --- */

static void wait_for_answer(struct hp3_engine *e, struct hp3_move *m)
{
	uint64_t end = m->t_close + e->cfg.max_hold_ns;

	hp3_slot_timer(e, m, &m->move_at, m->round.deadline < end ? m->round.deadline : end);
}

void hp3_seek_drained(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = &e->moves[f->slot];

	if (start_round(e, m, hp3_probe_kind_of(e, f->pair, now), now) < 0 ||
		m->round.kind == HP3_PROBE_PEER) {
		hp3_move_input(e, flow, HP3_RFR_IN_NO_BETTER, now, acts);
		return;
	}
	e->stats.rounds++;
	hp3_send_probes(e, m, now, acts);
	wait_for_answer(e, m);
}

/* True if the reply is what a probe in the air would provoke: it speaks of nothing else. */
static bool is_answer(const struct hp3_move *m, const struct hp3_view *v)
{
	uint32_t expected = hp3_psn_add(m->closing.psn, 1);

	if (!(v->flags & HP3_VF_AETH) || (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)))
		return false;
	if (m->round.kind == HP3_PROBE_NAK)
		return v->syndrome == (HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE) && v->psn == expected;
	return HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK && v->psn == m->closing.psn;
}

bool hp3_seek_reply(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts)
{
	struct hp3_move *m = &e->moves[e->flows[flow].slot];
	int i = hp3_round_in_air(&m->round);
	bool ce = (v->flags & HP3_VF_BECN) || m->marked;

	if (i == HP3_NO_PROBE || !is_answer(m, v))
		return false;
	m->marked = false;
	if (m->round.kind == HP3_PROBE_NAK) {
		e->stats.acks_consumed++;
		vd->kind = HP3_CONSUME;
	}
	e->stats.probe_replies++;
	if (hp3_round_reply(&m->round, &e->cfg.round, hp3_round_probe_id(&m->round, (uint32_t)i),
		    ce, now) != HP3_ROUND_PENDING) {
		conclude(e, m, now, acts);
	} else {
		hp3_send_probes(e, m, now, acts);
		wait_for_answer(e, m);
	}
	return true;
}

void hp3_seek_timeout(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	enum hp3_round_outcome outcome;

	if (e->flows[m->flow].state == HP3_RFR_PROBING && now >= m->t_close + e->cfg.max_hold_ns) {
		hp3_move_input(e, m->flow, HP3_RFR_IN_TIMEOUT, now, acts);
		return;
	}
	outcome = hp3_round_tick(&m->round, &e->cfg.round, now);
	if (m->watching)
		hp3_seek_dead_step(e, m, now, acts);
	else if (m->cause == HP3_CAUSE_WAKE)
		hp3_wake_step(e, m, now, acts);
	else if (m->cause == HP3_CAUSE_SETUP)
		hp3_setup_step(e, m, now, acts);
	else if (m->again != 0)
		look(e, m, now, acts);
	else if (outcome != HP3_ROUND_PENDING)
		conclude(e, m, now, acts);
	else if (m->ask)
		wait_for_answer(e, m);
	else
		hp3_slot_timer(
			e, m, &m->move_at, m->round.deadline > now ? m->round.deadline : now + 1);
}
