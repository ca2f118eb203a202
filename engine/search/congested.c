/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches for a better path when the path in use is severely congested (HP3, "Alternative Path
 * Discovery"), and starts the move.
 *
 * Probes of kind PEER leave while the flow goes on sending: a flow is only suspended once a better
 * path is known. So where all paths are congested, a search costs no more than probes within their
 * budget. Other probes leave after a drain (drained.c). For dead paths, see dead.c.
 */
#include "engine/search/search.h"

bool hp3_may_leave(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return f->state == HP3_RFR_STEADY && hp3_may_search(e) && hp3_flow_may_leave(e, f, now) &&
	       !(f->flags & HP3_FF_RNR) &&
	       (f->slot == HP3_NO_SLOT || e->moves[f->slot].backlog == 0) &&
	       p->nmoves < e->cfg.max_concurrent;
}

static bool may_begin_search(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	return hp3_may_leave(e, f, now) && hp3_backoff_ready(&f->backoff, now);
}

/* Do only RTTs show congestion? In verbs mode, the CNPs of a port may be of any queue pair. */
static bool is_slow(const struct hp3_flow *f)
{
	uint8_t cycles[HP3_CYCLES_KEPT + 1];
	uint32_t n = hp3_monitor_evidence(&f->monitor, cycles);

	return (f->watch & HP3_FW_COMPLETIONS) || hp3_cause_of(cycles, n) == HP3_CAUSE_RTT;
}

/* Stores the evidence and the state of the path in use. */
static struct hp3_move *begin_congested_search(
	struct hp3_turn *t, uint32_t flow, enum hp3_search_kind kind)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m = hp3_search_prepare(t, flow, kind);

	if (m == NULL)
		return NULL;
	f->watch &= (uint16_t)~HP3_FW_BEGINS;
	m->search.n_cycles = (uint8_t)hp3_monitor_evidence(&f->monitor, m->search.cycles);
	m->search.cause = hp3_cause_reported(t->e, f, m->search.cycles, m->search.n_cycles);
	if (kind == HP3_SEARCH_CONGESTED)
		m->search.congested.slow = is_slow(f);
	else
		m->search.behind.slow = is_slow(f);
	return m;
}

/*
 * Probes candidates besides the port in use. A re-probe has only the port that was found, if its
 * path has not failed since. False: no probe may leave now.
 */
static bool ask_while_flowing(struct hp3_turn *t, struct hp3_move *m)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	const struct hp3_search_congested *c = &m->search.congested;
	uint16_t ports[HP3_ROUND_PROBES] = {m->to};
	struct hp3_round_ask what = hp3_round_ask(t->e, m, HP3_PROBE_PEER);

	what.candidates = ports;
	what.n = 1;
	what.lossy = c->lossy;
	what.patient = !c->lossy && (t->e->cfg.move_wait_ns != 0 || c->doubt != 0 || c->begins);
	what.again = c->reprobes != 0 && !c->slow && c->doubt == 0;
	what.as_data = c->reprobes != 0 || c->lossy || t->e->cfg.move_wait_ns == 0;
	if (c->reprobes != 0 && hp3_path_has_failed(t->e, f, m->to, t->now))
		return false;
	if (c->reprobes == 0)
		what.n = hp3_paths_candidates(hp3_paths_of(t->e, f->pair), f->rqpn, m->from, ports,
			t->e->cfg.candidates, t->now);
	if (c->lossy && what.n != 0 && hp3_path_is_lossy(t->e, f, ports[0], t->now))
		return false; /* all are lossy, so the path is not the cause */
	return hp3_round_begin(t, m, &what);
}

/*
 * AUTO suspends no flow because of RTTs only: they grow with the flow's own window, with the
 * responder's load, and with other work of a host. With probe = standard, it does.
 */
static bool is_slow_only(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return e->cfg.probes == HP3_PROBES_AUTO && is_slow(f);
}

/* Sends peer probes while the flow goes on sending. False: no probe may leave now. */
static bool ask_at_once(struct hp3_turn *t, struct hp3_move *m)
{
	if (!ask_while_flowing(t, m)) {
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
		return false;
	}
	hp3_cnps_wait_for_round(t, m);
	hp3_round_go(t, m);
	return true;
}

void hp3_search_better_path(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	enum hp3_probe_kind kind = hp3_probe_kind_of(t, f->pair);
	struct hp3_move *m;

	hp3_backoff_age(&f->backoff, &t->e->cfg.round, t->now);
	if (hp3_is_put_off(t->e, f) || !may_begin_search(t->e, f, t->now))
		return;
	if (kind != HP3_PROBE_PEER &&
		(t->e->cfg.observe || t->e->cfg.verbs || is_slow_only(t->e, f)))
		return; /* observe suspends no flow; verbs mode holds nothing */
	m = begin_congested_search(
		t, flow, kind == HP3_PROBE_PEER ? HP3_SEARCH_CONGESTED : HP3_SEARCH_BEHIND_DRAIN);
	if (m == NULL)
		return;
	if (kind != HP3_PROBE_PEER) {
		hp3_cnps_wait_for_round(t, m);
		hp3_search_input(t, m, HP3_SEARCH_IN_GO);
		return;
	}
	/* Completions are late for many reasons, probes are not. If completions started a search
	 * without a result, the next one waits, but its result is not in doubt. */
	m->search.congested.doubt = (uint8_t)hp3_backoff_doubt(&f->backoff, &t->e->cfg.round,
		m->search.congested.slow && !(f->watch & HP3_FW_COMPLETIONS));
	ask_at_once(t, m);
}

void hp3_search_first_path(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m;

	if (hp3_is_put_off(t->e, f) || !may_begin_search(t->e, f, t->now) ||
		!hp3_peer_is_asked(t, f->pair))
		return;
	m = begin_congested_search(t, flow, HP3_SEARCH_CONGESTED);
	if (m == NULL)
		return;
	m->search.cause = HP3_CAUSE_SETUP;
	m->search.congested.begins = true;
	ask_at_once(t, m);
}

void hp3_search_lossless_path(struct hp3_turn *t, uint32_t flow, uint16_t to)
{
	struct hp3_flow *f = &t->e->flows[flow];
	bool peer = hp3_peer_is_asked(t, f->pair);
	struct hp3_move *m;

	if (!hp3_may_leave(t->e, f, t->now) || (!peer && (t->e->cfg.observe || t->e->cfg.verbs)))
		return;
	m = begin_congested_search(t, flow, peer ? HP3_SEARCH_CONGESTED : HP3_SEARCH_BEHIND_DRAIN);
	if (m == NULL)
		return;
	m->search.cause = HP3_CAUSE_LOSS;
	if (!peer) {
		m->search.behind = (struct hp3_search_behind_drain){.lossy = true};
		hp3_search_input(t, m, HP3_SEARCH_IN_GO);
		return;
	}
	m->search.congested = (struct hp3_search_congested){.lossy = true};
	if (to == 0) {
		ask_at_once(t, m);
		return;
	}
	m->to = to;
	hp3_search_input(t, m, HP3_SEARCH_IN_GO);
}

/* Continues a search that waits for a re-probe. False: not now. */
static bool resume_search(struct hp3_turn *t, uint32_t flow, const struct hp3_put_off *off)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m;

	if (!may_begin_search(t->e, f, t->now) || !hp3_peer_is_asked(t, f->pair))
		return false;
	m = begin_congested_search(t, flow, HP3_SEARCH_CONGESTED);
	if (m == NULL)
		return false;
	m->to = off->to;
	m->search.cause = off->cause;
	m->search.n_cycles = off->n_cycles;
	memcpy(m->search.cycles, off->cycles, sizeof(m->search.cycles));
	m->search.congested = off->so_far;
	return ask_at_once(t, m);
}

static uint64_t wait_of_reprobe(struct hp3_engine *e, const struct hp3_move *m)
{
	uint64_t rtts = (uint64_t)e->flows[m->flow].monitor.base * e->cfg.move_wait_rtts;
	uint64_t most = hp3_max_u64(rtts, e->cfg.move_wait_ns);

	return 1 + hp3_random(&e->rng) % most;
}

/*
 * Rule 29: flows that share a link see the same congestion at the same time. They would leave it
 * together, and perhaps take the same path. So a better path waits for a random time. Then the flow
 * probes it and the port in use again, at the same moment. The last flows find the link empty and
 * stay. A wrong result would have to repeat, too.
 *
 * How often: reprobe.c.
 */
static void reprobe_soon(struct hp3_turn *t, struct hp3_move *m)
{
	m->search.congested.asked_at = t->now;
	hp3_search_input(t, m, HP3_SEARCH_IN_LATER);
	hp3_slot_timer(t->e, m, &m->move_at, t->now + wait_of_reprobe(t->e, m));
}

static void stay_on_path(struct hp3_turn *t, struct hp3_move *m)
{
	t->e->stats.moves_unconfirmed++;
	m->to = m->from;
	hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
}

/* The wait is over. Congestion control, or flows that left, may have ended the congestion. */
static void reprobe_path(struct hp3_turn *t, struct hp3_move *m)
{
	struct hp3_flow *f = &t->e->flows[m->flow];

	if (!hp3_monitor_congested_since(
		    &f->monitor, &t->e->cfg.monitor, m->search.congested.asked_at, t->now) ||
		!ask_while_flowing(t, m)) {
		stay_on_path(t, m);
		return;
	}
	hp3_round_go(t, m);
}

static void report_would_move(struct hp3_turn *t, const struct hp3_move *m)
{
	struct hp3_event *event = hp3_event(t, m->flow, HP3_EVENT_WOULD);

	event->cause = m->search.cause;
	event->to = m->to;
	event->path = m->search.before;
}

/*
 * Verbs mode: completion times are compared with the shortest one, which is too long if the path
 * was slow from the beginning. The round shows the RTT of another path. Later rounds show whether
 * there still is a queue.
 */
static void measure_queue_by_completions(struct hp3_turn *t, const struct hp3_move *m, bool won)
{
	struct hp3_flow *f = &t->e->flows[m->flow];
	const struct hp3_round *r = &m->search.round;
	bool known = f->monitor.beyond != 0;

	if (!(f->watch & HP3_FW_COMPLETIONS) || r->probe[0].state != HP3_PROBE_ANSWERED)
		return;
	if (won && (known || m->search.congested.begins))
		hp3_monitor_compared(&f->monitor, r->probe[0].rtt_ns, r->probe[r->winner].rtt_ns);
	else if (known)
		hp3_monitor_compared(&f->monitor, r->probe[0].rtt_ns, f->monitor.base);
}

/* Moves, stays and backs off, or schedules another round. */
static void conclude_round(struct hp3_turn *t, struct hp3_move *m)
{
	const struct hp3_search_congested *c = &m->search.congested;
	bool won = hp3_round_won(t, m);
	enum hp3_search_decision next = hp3_search_decide(t->e, m, won);

	measure_queue_by_completions(t, m, won);
	if (c->reprobes != 0)
		hp3_size_learn(t, m);
	if (next == HP3_DECIDE_REPROBE && c->doubt == 0) {
		reprobe_soon(t, m);
		return;
	}
	if (next == HP3_DECIDE_MOVE) {
		if (c->lossy)
			hp3_losses_found(t->e, m->flow, m->to);
		hp3_search_input(t, m, HP3_SEARCH_IN_GO);
		return;
	}
	if (won && t->e->cfg.observe)
		report_would_move(t, m);
	if (next == HP3_DECIDE_REPROBE)
		hp3_put_off(t, m);
	if (next == HP3_DECIDE_STAY && c->reprobes != 0)
		stay_on_path(t, m);
	else
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
}

/*
 * A re-probe in doubt needs the RTT of the other path, even if that is slower. Any other only needs
 * an answer.
 */
static bool is_answered(const struct hp3_search *d)
{
	bool moves = d->round.outcome == HP3_ROUND_WINNER && d->congested.doubt == 0;

	return d->round.outcome != HP3_ROUND_PENDING &&
	       (d->congested.reprobes == 0 || moves || hp3_round_settled(&d->round));
}

void hp3_congested_step(struct hp3_turn *t, struct hp3_move *m)
{
	if (m->search.state == HP3_SEARCH_WAITING) {
		if (t->now >= m->move_at)
			reprobe_path(t, m);
	} else if (is_answered(&m->search)) {
		conclude_round(t, m);
	} else {
		hp3_round_await(t, m);
	}
}

/* A re-probe that cannot be sent now is sent later, a limited number of times. */
void hp3_reprobe_due(struct hp3_turn *t, struct hp3_move *m)
{
	struct hp3_put_off off = m->put_off;
	uint32_t flow = m->flow;

	hp3_slot_drop(t->e, flow, HP3_USE_REPROBE);
	if (hp3_flow_port(&t->e->flows[flow]) == off.from && !resume_search(t, flow, &off))
		hp3_put_off_again(t, flow, &off);
}
