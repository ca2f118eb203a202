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

#define LOOKS      1u /* at a better path that was found */
#define SLOW_LOOKS 2u /* ... where nothing but round trips speaks against the path in use */

static bool may_seek(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return (e->cfg.moves_allowed || e->cfg.observe) && !p->pinned && !(f->flags & HP3_FF_RNR) &&
	       (f->slot == HP3_NO_SLOT || e->moves[f->slot].backlog == 0) &&
	       p->nmoves < e->cfg.max_concurrent && hp3_backoff_ready(&f->backoff, now);
}

/* What set the round off, and what is known of the path in use. */
static struct hp3_move *begin(struct hp3_engine *e, uint32_t flow, enum hp3_errand_kind kind,
	uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = hp3_move_prepare(e, flow, kind, now, acts);

	if (m == NULL)
		return NULL;
	m->errand.n_cycles = (uint8_t)hp3_monitor_evidence(&f->monitor, m->errand.cycles);
	m->errand.cause = hp3_cause_of(m->errand.cycles, m->errand.n_cycles);
	e->pairs.pairs[f->pair].nmoves++;
	return m;
}

/* Ports to be asked beside the one in use; of a look only the one that was found. */
static bool ask_while_flowing(struct hp3_engine *e, struct hp3_move *m, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	const struct hp3_errand_congested *c = &m->errand.congested;
	uint16_t ports[HP3_ROUND_PROBES] = {m->to};
	struct hp3_round_ask what = hp3_round_ask(e, m, HP3_PROBE_PEER);

	what.candidates = ports;
	what.n = 1;
	what.patient = e->cfg.move_wait_ns != 0;
	what.again = c->looks != 0 && !c->slow;
	if (c->looks == 0)
		what.n = hp3_paths_candidates(
			hp3_paths_of(e, f->pair), f->rqpn, m->from, ports, e->cfg.candidates, now);
	return hp3_round_begin(e, m, &what, now);
}

static bool ask_behind_drain(
	struct hp3_engine *e, struct hp3_move *m, enum hp3_probe_kind kind, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	uint16_t ports[HP3_ROUND_PROBES];
	struct hp3_round_ask what = hp3_round_ask(e, m, kind);

	what.candidates = ports;
	what.drained = true;
	what.patient = e->cfg.move_wait_ns != 0;
	what.n = hp3_paths_candidates(
		hp3_paths_of(e, f->pair), f->rqpn, m->from, ports, e->cfg.candidates, now);
	return hp3_round_begin(e, m, &what, now);
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
	m = begin(e, flow, kind == HP3_PROBE_PEER ? HP3_ERRAND_CONGESTED : HP3_ERRAND_BEHIND_DRAIN,
		now, acts);
	if (m == NULL)
		return;
	if (kind != HP3_PROBE_PEER) {
		hp3_cnps_wait_for_round(e, m, now);
		hp3_move_start(e, flow, now, acts);
		return;
	}
	m->errand.congested.slow = m->errand.cause == HP3_CAUSE_RTT;
	if (!ask_while_flowing(e, m, now)) {
		p->nmoves--;
		hp3_slot_drop(e, flow, HP3_USE_MOVE);
		return;
	}
	hp3_cnps_wait_for_round(e, m, now);
	hp3_move_input(e, flow, HP3_RFR_IN_SEEK, now, acts);
	hp3_round_go(e, m, now, acts);
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
	if (e->cfg.observe || e->cfg.move_wait_ns == 0 || !won ||
		m->errand.congested.looks == (m->errand.congested.slow ? SLOW_LOOKS : LOOKS))
		return false;
	m->errand.congested.looks++;
	m->errand.congested.asked_at = now;
	m->errand.congested.again = now + wait_of(e, m);
	hp3_slot_timer(e, m, &m->move_at, m->errand.congested.again);
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

	if (now < m->errand.congested.again) {
		hp3_slot_timer(e, m, &m->move_at, m->errand.congested.again);
		return;
	}
	m->errand.congested.again = 0;
	if (!hp3_monitor_congested_since(
		    &f->monitor, &e->cfg.monitor, m->errand.congested.asked_at, now) ||
		!ask_while_flowing(e, m, now)) {
		stay(e, m, now, acts);
		return;
	}
	hp3_round_go(e, m, now, acts);
}

/* The round has an outcome, which is known to all now; true: a better path. */
static bool has_won(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
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

static void would(
	struct hp3_engine *e, const struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_event *ev = hp3_event(e, m->flow, HP3_EV_WOULD, now, acts);

	ev->cause = m->errand.cause;
	ev->to = m->to;
	ev->path = m->errand.before;
}

/* Go there, or stay and back off. */
static void conclude(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	bool won = has_won(e, m, now, acts);

	if (will_look(e, m, won, now))
		return;
	m->errand.asking = false;
	if (won && e->cfg.observe)
		would(e, m, now, acts);
	if (!won && m->errand.congested.looks != 0)
		stay(e, m, now, acts);
	else if (!won || e->cfg.observe)
		hp3_move_input(e, m->flow, HP3_RFR_IN_NO_BETTER, now, acts);
	else
		hp3_move_start(e, m->flow, now, acts);
}

void hp3_congested_step(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	if (m->errand.congested.again != 0)
		look(e, m, now, acts);
	else if (m->errand.round.outcome != HP3_ROUND_PENDING)
		conclude(e, m, now, acts);
	else
		hp3_round_await(e, m, now);
}

/* --- behind the drain --- */

static void wait_for_answer(struct hp3_engine *e, struct hp3_move *m)
{
	uint64_t end = m->t_close + e->cfg.max_hold_ns;

	hp3_slot_timer(
		e, m, &m->move_at, m->errand.round.deadline < end ? m->errand.round.deadline : end);
}

void hp3_seek_drained(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = &e->moves[f->slot];
	enum hp3_probe_kind kind = hp3_probe_kind_of(e, f->pair, now);

	if (kind == HP3_PROBE_PEER || !ask_behind_drain(e, m, kind, now)) {
		hp3_move_input(e, flow, HP3_RFR_IN_NO_BETTER, now, acts);
		return;
	}
	hp3_send_probes(e, m, now, acts);
	wait_for_answer(e, m);
}

static void conclude_drained(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	bool won = has_won(e, m, now, acts);

	hp3_move_input(e, m->flow, won ? HP3_RFR_IN_WON : HP3_RFR_IN_NO_BETTER, now, acts);
}

void hp3_drained_step(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	if (m->errand.round.outcome != HP3_ROUND_PENDING)
		conclude_drained(e, m, now, acts);
	else
		wait_for_answer(e, m);
}

void hp3_seek_marked(struct hp3_move *m)
{
	if (m->errand.kind == HP3_ERRAND_BEHIND_DRAIN)
		m->errand.behind.marked = true;
}

/* True if the reply is what a probe in the air would provoke: it speaks of nothing else. */
static bool is_answer(const struct hp3_move *m, const struct hp3_view *v)
{
	uint32_t expected = hp3_psn_add(m->closing.psn, 1);

	if (!(v->flags & HP3_VF_AETH) || (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)))
		return false;
	if (m->errand.round.kind == HP3_PROBE_NAK)
		return v->syndrome == (HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE) && v->psn == expected;
	return HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK && v->psn == m->closing.psn;
}

bool hp3_seek_reply(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts)
{
	struct hp3_move *m = &e->moves[e->flows[flow].slot];
	int i = hp3_round_in_air(&m->errand.round);
	bool ce;

	if (m->errand.kind != HP3_ERRAND_BEHIND_DRAIN || i == HP3_NO_PROBE || !is_answer(m, v))
		return false;
	ce = (v->flags & HP3_VF_BECN) || m->errand.behind.marked;
	m->errand.behind.marked = false;
	if (m->errand.round.kind == HP3_PROBE_NAK) {
		e->stats.acks_consumed++;
		vd->kind = HP3_CONSUME;
	}
	e->stats.probe_replies++;
	if (hp3_round_reply(&m->errand.round, &e->cfg.round,
		    hp3_round_probe_id(&m->errand.round, (uint32_t)i), ce,
		    now) != HP3_ROUND_PENDING) {
		conclude_drained(e, m, now, acts);
	} else {
		hp3_send_probes(e, m, now, acts);
		wait_for_answer(e, m);
	}
	return true;
}
