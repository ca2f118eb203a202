/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A path before the first data (HP3, probing at queue-pair setup). Unmarked answers
 * decide that are as early as the first; where flows are counted (counts.c) the counts of both ends
 * do among them. Nothing of a queue pair that was just set up is in flight, so its
 * port is chosen freely; once it has sent, what is still under way here is too late and void.
 */
#include "engine/seek/seek.h"

#define LATE     3u
#define LATE_MAX (LATE + 4u)

/* The flow will leave on `port` from its first packet on. */
static void settle(
	struct hp3_engine *e, uint32_t flow, uint16_t port, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_move *m = &e->moves[e->flows[flow].slot];

	m->to = port;
	if (e->cfg.observe) {
		hp3_event(e, flow, HP3_EV_WOULD, now, acts)->to = port;
		hp3_errand_input(e, m, HP3_ERRAND_IN_STAY, now, acts);
		return;
	}
	hp3_errand_input(e, m, HP3_ERRAND_IN_GO, now, acts);
	hp3_active_add(e, flow, now);
	e->stats.placed++;
}

/* In the first round nothing is in use yet: all ports are alike. In later ones the one found is. */
static bool ask(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[m->flow];
	uint16_t ports[HP3_ROUND_PROBES + 1] = {m->to};
	struct hp3_round_ask what = hp3_round_ask(e, m, HP3_PROBE_PEER);
	struct hp3_paths *t = hp3_paths_of(e, f->pair);
	uint32_t n;

	if (m->errand.setup.found)
		n = 1 + hp3_paths_candidates(t, f->rqpn, m->to, ports + 1, e->cfg.candidates, now);
	else
		n = hp3_paths_candidates(t, f->rqpn, 0, ports, e->cfg.candidates + 1u, now);
	if (n < 2)
		return false;
	what.port = ports[0];
	what.rtt_ns = 0;
	what.candidates = ports + 1;
	what.n = n - 1;
	if (!hp3_round_begin(e, m, &what, now, acts))
		return false;
	m->errand.setup.rounds++;
	return true;
}

/*
 * Where data come before the answers, probes are load and nothing else: whether there is time
 * depends on the applications of this host. After LATE such set-ups in a row the next one does not
 * ask, after another the next two, then four ...
 */
static bool leaves_no_time(struct hp3_engine *e)
{
	if (e->setup_skip == 0)
		return false;
	e->setup_skip--;
	return true;
}

static void came_late(struct hp3_engine *e)
{
	if (e->setup_late < LATE_MAX)
		e->setup_late++;
	if (e->setup_late >= LATE)
		e->setup_skip = (uint8_t)(1u << (e->setup_late - LATE));
	e->stats.placed_late++;
}

void hp3_setup(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_flow *f = &e->flows[flow];
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];
	struct hp3_move *m;
	uint16_t port;

	if (!e->cfg.setup_probing || !(e->cfg.moves_allowed || e->cfg.observe) || p->pinned)
		return;
	m = hp3_move_prepare(e, flow, HP3_ERRAND_SETUP, now, acts);
	if (m == NULL)
		return;
	if (!hp3_counts_tell(e, f->pair) &&
		hp3_paths_pick(hp3_paths_of(e, f->pair), f->rqpn, &port, now) == 0) {
		settle(e, flow, port, now, acts);
		return;
	}
	if (leaves_no_time(e) || hp3_probe_kind_of(e, f->pair, now) != HP3_PROBE_PEER ||
		!ask(e, m, now, acts)) {
		hp3_errand_input(e, m, HP3_ERRAND_IN_STAY, now, acts);
		return;
	}
	hp3_round_go(e, m, now, acts);
}

/*
 * What a probe saw is soon gone, and nobody knows when the first data come. So paths are asked
 * again and again, the next round when twice as much time has passed as before this one: an answer
 * in hand is hardly older than half the wait. Not beside the RNIC, where the first data have left
 * when they are seen.
 */
static void ask_again(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	uint64_t next = 2 * m->errand.round.start - m->t_ask;

	if (m->errand.setup.rounds >= e->cfg.setup_rounds || e->cfg.beside) {
		settle(e, m->flow, m->to, now, acts);
		return;
	}
	if (m->errand.state == HP3_ERRAND_ASKING)
		hp3_errand_input(e, m, HP3_ERRAND_IN_LATER, now, acts);
	if (next > now) {
		hp3_slot_timer(e, m, &m->move_at, next);
		return;
	}
	if (!ask(e, m, now, acts)) { /* the budget: what is known decides */
		settle(e, m->flow, m->to, now, acts);
		return;
	}
	hp3_round_go(e, m, now, acts);
}

/*
 * Answers that are alike are waited for. Where everybody sets up at a time, the first one is first
 * by chance, and the same for many: who went by it would meet on that path. So one of those that
 * are alike is drawn, and ports are drawn already: the first in the round. In later rounds that is
 * the one found before, which so keeps its place unless another one is better by more than noise.
 * Where counts tell, the one on the path that is least used: a probe sees the queues of everybody,
 * counts only the flows of two hosts, so they break ties. NULL and *wait: not yet.
 */
static const struct hp3_probe *decide(
	struct hp3_engine *e, const struct hp3_move *m, uint64_t now, uint64_t *wait)
{
	const struct hp3_probe *best = hp3_round_unmarked(&m->errand.round),
			       *p = m->errand.round.probe;

	*wait = m->errand.round.deadline;
	if (best == NULL)
		return NULL;
	if (e->cfg.setup_alike != 0) {
		*wait = m->errand.round.start + best->sent_ns + hp3_alike_ns(e, best->rtt_ns);
		if (now < *wait)
			return NULL;
	}
	if (hp3_counts_tell(e, e->flows[m->flow].pair))
		return hp3_counts_least_used(e, m, best, now);
	while (!hp3_is_alike(e, p, best))
		p++;
	return p;
}

/* An answer, or the time to ask again, or to wait no more. */
void hp3_setup_step(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_probe *best;
	uint16_t port;
	uint64_t wait;

	if (m->errand.state == HP3_ERRAND_WAITING) {
		ask_again(e, m, now, acts);
		return;
	}
	best = decide(e, m, now, &wait);
	if (best == NULL && now < wait) {
		hp3_slot_timer(e, m, &m->move_at, wait);
		return;
	}
	hp3_round_cancel(&m->errand.round);
	hp3_round_learn(e, m, now);
	if (best != NULL) {
		m->to = best->port;
		m->errand.setup.found = true;
		e->setup_late = 0;
	}
	hp3_round_report(e, m, now, acts);
	if (best != NULL) {
		ask_again(e, m, now, acts);
	} else if (m->errand.setup.found) {
		settle(e, m->flow, m->to, now, acts);
	} else if (hp3_counts_place(e, m->flow, &port, now)) {
		settle(e, m->flow, port, now, acts);
	} else {
		hp3_errand_input(e, m, HP3_ERRAND_IN_STAY, now, acts);
	}
}

void hp3_setup_late(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_move *m = &e->moves[e->flows[flow].slot];

	if (m->errand.setup.found) { /* by an earlier round: nothing has left yet */
		settle(e, flow, m->to, now, acts);
		return;
	}
	came_late(e);
	hp3_errand_input(e, m, HP3_ERRAND_IN_STAY, now, acts);
}

void hp3_peer_seen(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t now)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);
	struct hp3_pair *p;

	if (pair == HP3_NO_PAIR)
		return;
	p = &e->pairs.pairs[pair];
	p->peer_seen = now;
	p->peer_silent = 0;
	p->peer_plain = false;
}
