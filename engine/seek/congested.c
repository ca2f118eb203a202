/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for a better path when the one in use is severely congested (HP3, "Alternative Path
 * Discovery"), and moves the flow there.
 *
 * Probes of kind PEER go out while traffic flows on: only a flow that has somewhere better to go is
 * ever suspended, so a network that is congested everywhere costs probes within their budget and
 * nothing else. Other probes go out behind the drain (drained.c). Rounds for dead paths are in
 * dead.c.
 */
#include "engine/seek/seek.h"

static bool may_seek(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return f->state == HP3_RFR_STEADY && (e->cfg.moves_allowed || e->cfg.observe) &&
	       !p->pinned && !(f->flags & HP3_FF_RNR) &&
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
static bool ask_while_flowing(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	const struct hp3_errand_congested *c = &m->errand.congested;
	uint16_t ports[HP3_ROUND_PROBES] = {m->to};
	struct hp3_round_ask what = hp3_round_ask(e, m, HP3_PROBE_PEER);

	what.candidates = ports;
	what.n = 1;
	what.patient = e->cfg.move_wait_ns != 0 || c->doubt != 0;
	what.again = c->looks != 0 && !c->slow && c->doubt == 0;
	if (c->looks == 0)
		what.n = hp3_paths_candidates(
			hp3_paths_of(e, f->pair), f->rqpn, m->from, ports, e->cfg.candidates, now);
	return hp3_round_begin(e, m, &what, now, acts);
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

/* Peer probes, while traffic flows on; false: none may leave now. */
static bool ask_at_once(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	if (!ask_while_flowing(e, m, now, acts)) {
		e->pairs.pairs[e->flows[m->flow].pair].nmoves--;
		hp3_errand_input(e, m, HP3_ERRAND_IN_STAY, now, acts);
		return false;
	}
	hp3_cnps_wait_for_round(e, m, now);
	hp3_round_go(e, m, now, acts);
	return true;
}

void hp3_seek(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	enum hp3_probe_kind kind = hp3_probe_kind_of(e, f->pair, now);
	struct hp3_move *m;

	hp3_backoff_age(&f->backoff, &e->cfg.round, now);
	if (hp3_is_put_off(e, f) || !may_seek(e, f, now))
		return;
	if (kind != HP3_PROBE_PEER && (e->cfg.observe || e->cfg.beside || is_slow_only(e, f)))
		return; /* observe suspends none; beside the RNIC nothing is held */
	m = begin(e, flow, kind == HP3_PROBE_PEER ? HP3_ERRAND_CONGESTED : HP3_ERRAND_BEHIND_DRAIN,
		now, acts);
	if (m == NULL)
		return;
	if (kind != HP3_PROBE_PEER) {
		hp3_cnps_wait_for_round(e, m, now);
		hp3_errand_input(e, m, HP3_ERRAND_IN_GO, now, acts);
		return;
	}
	m->errand.congested.slow = m->errand.cause == HP3_CAUSE_RTT;
	m->errand.congested.doubt =
		(uint8_t)hp3_backoff_doubt(&f->backoff, &e->cfg.round, m->errand.congested.slow);
	ask_at_once(e, m, now, acts);
}

/* Goes on with a search that was put off; false: not now. */
static bool seek_on(struct hp3_engine *e, uint32_t flow, const struct hp3_put_off *off,
	uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m;

	if (!may_seek(e, f, now) || hp3_probe_kind_of(e, f->pair, now) != HP3_PROBE_PEER)
		return false;
	m = begin(e, flow, HP3_ERRAND_CONGESTED, now, acts);
	if (m == NULL)
		return false;
	m->to = off->to;
	m->errand.cause = off->cause;
	m->errand.n_cycles = off->n_cycles;
	memcpy(m->errand.cycles, off->cycles, sizeof(m->errand.cycles));
	m->errand.congested = off->so_far;
	return ask_at_once(e, m, now, acts);
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
 * How often: looks.c.
 */
static void look_soon(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	m->errand.congested.asked_at = now;
	hp3_errand_input(e, m, HP3_ERRAND_IN_LATER, now, acts);
	hp3_slot_timer(e, m, &m->move_at, now + wait_of(e, m));
}

static void stay(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	e->stats.moves_called_off++;
	m->to = m->from;
	hp3_errand_input(e, m, HP3_ERRAND_IN_STAY, now, acts);
}

/* The wait is over. Congestion control, or somebody who left, may have cured the path meanwhile. */
static void look(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[m->flow];

	if (!hp3_monitor_congested_since(
		    &f->monitor, &e->cfg.monitor, m->errand.congested.asked_at, now) ||
		!ask_while_flowing(e, m, now, acts)) {
		stay(e, m, now, acts);
		return;
	}
	hp3_round_go(e, m, now, acts);
}

static void would(
	struct hp3_engine *e, const struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_event *ev = hp3_event(e, m->flow, HP3_EV_WOULD, now, acts);

	ev->cause = m->errand.cause;
	ev->to = m->to;
	ev->path = m->errand.before;
}

/* Go there, stay and back off, or ask once more. */
static void conclude(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_errand_congested *c = &m->errand.congested;
	bool won = hp3_round_won(e, m, now, acts);
	enum hp3_look next = hp3_look_decide(e, m, won);

	if (next == HP3_LOOK_AGAIN && c->doubt == 0) {
		look_soon(e, m, now, acts);
		return;
	}
	if (next == HP3_LOOK_MOVE) {
		hp3_errand_input(e, m, HP3_ERRAND_IN_GO, now, acts);
		return;
	}
	if (won && e->cfg.observe)
		would(e, m, now, acts);
	if (next == HP3_LOOK_AGAIN)
		hp3_put_off(e, m, now);
	if (next == HP3_LOOK_STAY && c->looks != 0)
		stay(e, m, now, acts);
	else
		hp3_errand_input(e, m, HP3_ERRAND_IN_STAY, now, acts);
}

/* A look in doubt wants to know how long the other path takes, if it is the slower one, too. */
static bool is_answered(const struct hp3_errand *d)
{
	return d->round.outcome != HP3_ROUND_PENDING &&
	       (d->congested.doubt == 0 || d->congested.looks == 0 || hp3_round_settled(&d->round));
}

void hp3_congested_step(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	if (m->errand.state == HP3_ERRAND_WAITING) {
		if (now >= m->move_at)
			look(e, m, now, acts);
	} else if (is_answered(&m->errand)) {
		conclude(e, m, now, acts);
	} else {
		hp3_round_await(e, m, now);
	}
}

/* What cannot be asked now is asked later, a limited number of times. */
void hp3_look_due(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_put_off off = m->put_off;
	uint32_t flow = m->flow;

	hp3_slot_drop(e, flow, HP3_USE_LOOK);
	if (hp3_flow_port(&e->flows[flow]) == off.from && !seek_on(e, flow, &off, now, acts))
		hp3_put_off_again(e, flow, &off, now);
}
