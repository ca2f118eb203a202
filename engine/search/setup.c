/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A path before the first data (HP3, probing at queue-pair setup). Unmarked answers that are about
 * as early as the first one count as equal. A queue pair that was just set up has nothing in
 * flight, so its port can be changed without a drain. If the queue pair sends during a round of
 * probes, the round is too late and ends.
 */
#include "engine/search/search.h"
#include "engine/spray/spray.h"

#define LATE_SETUPS     3u
#define LATE_SETUPS_MAX (LATE_SETUPS + 4u)

/* The flow will leave on `port` from its first packet on. */
static void settle_port(struct hp3_turn *t, uint32_t flow, uint16_t port)
{
	struct hp3_move *m = &t->e->moves[t->e->flows[flow].slot];

	m->to = port;
	if (t->e->cfg.observe) {
		hp3_event(t, flow, HP3_EVENT_WOULD)->to = port;
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
		return;
	}
	hp3_search_input(t, m, HP3_SEARCH_IN_GO);
	hp3_active_add(t->e, flow, t->now);
	t->e->stats.placed++;
}

/* Answers to this round still count when the next one has taken its place (answers.c). */
static void keep_earlier_round(struct hp3_search *d)
{
	const struct hp3_round *r = &d->round;

	d->setup.earlier.id = r->id;
	d->setup.earlier.start = r->start;
	d->setup.earlier.open = 0;
	for (uint32_t i = 0; i < r->next; i++) {
		d->setup.earlier.port[i] = r->probe[i].port;
		if (r->probe[i].state == HP3_PROBE_OPEN)
			d->setup.earlier.open |= (uint8_t)(1u << i);
	}
}

/*
 * In the first round, no port is in use yet, so all are candidates. In later ones, the port found
 * before is in use.
 */
static bool begin_setup_round(struct hp3_turn *t, struct hp3_move *m)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	uint16_t ports[HP3_ROUND_PROBES + 1] = {m->to};
	struct hp3_round_ask what = hp3_round_ask(t->e, m, HP3_PROBE_PEER);
	struct hp3_paths *paths = hp3_paths_of(t->e, f->pair);
	uint32_t n;

	if (m->search.setup.found)
		n = 1 + hp3_paths_candidates(
				paths, f->rqpn, m->to, ports + 1, t->e->cfg.candidates, t->now);
	else
		n = hp3_paths_candidates(
			paths, f->rqpn, 0, ports, t->e->cfg.candidates + 1u, t->now);
	if (n < 2)
		return false;
	what.port = ports[0];
	what.rtt_ns = 0;
	what.candidates = ports + 1;
	what.n = n - 1;
	keep_earlier_round(&m->search);
	if (!hp3_round_begin(t, m, &what))
		return false;
	m->search.setup.rounds++;
	return true;
}

/*
 * If data come before the answers, probes are only load. It depends on the applications of this
 * host. After LATE_SETUPS such set-ups in a row, the next one does not probe; after another, the
 * next two, then four, and so on.
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
	if (e->setup_late < LATE_SETUPS_MAX)
		e->setup_late++;
	if (e->setup_late >= LATE_SETUPS)
		e->setup_skip = (uint8_t)(1u << (e->setup_late - LATE_SETUPS));
	e->stats.placed_late++;
}

void hp3_setup(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m;
	uint16_t port;

	if (!t->e->cfg.setup_probing || !hp3_may_search(t->e) ||
		!hp3_flow_may_leave(t->e, f, t->now))
		return;
	m = hp3_search_prepare(t, flow, HP3_SEARCH_SETUP);
	if (m == NULL)
		return;
	if (hp3_paths_pick(hp3_paths_of(t->e, f->pair), f->rqpn, true, &port, t->now) == 0) {
		settle_port(t, flow, port);
		return;
	}
	if (hp3_spray_presumes(t, flow) || leaves_no_time(t->e) || !hp3_peer_is_asked(t, f->pair) ||
		!begin_setup_round(t, m)) {
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
		return;
	}
	hp3_round_go(t, m);
}

/*
 * Results of probes expire soon, and the time of the first data is unknown. So rounds repeat: the
 * next one comes when twice as much time has passed as before this one. A result is then hardly
 * older than half the wait. Not in verbs mode, where hp3d sees the first data after they have left.
 */
static void ask_again(struct hp3_turn *t, struct hp3_move *m)
{
	uint64_t next = 2 * m->search.round.start - m->t_ask;

	if (m->search.setup.rounds >= t->e->cfg.setup_rounds || t->e->cfg.verbs) {
		settle_port(t, m->flow, m->to);
		return;
	}
	if (m->search.state == HP3_SEARCH_ASKING)
		hp3_search_input(t, m, HP3_SEARCH_IN_LATER);
	if (next > t->now) {
		hp3_slot_timer(t->e, m, &m->move_at, next);
		return;
	}
	if (!begin_setup_round(t, m)) { /* no budget: the results so far decide */
		settle_port(t, m->flow, m->to);
		return;
	}
	hp3_round_go(t, m);
}

/* Highest RTT that counts as equal to `rtt`. */
static uint64_t alike_ns(const struct hp3_engine *e, uint32_t rtt)
{
	return (uint64_t)rtt * (100u + e->cfg.setup_alike) / 100;
}

/* Is the answer unmarked, and about as early as the best? */
static bool is_alike(
	const struct hp3_engine *e, const struct hp3_probe *p, const struct hp3_probe *best)
{
	return p->state == HP3_PROBE_ANSWERED && !p->ce && p->rtt_ns <= alike_ns(e, best->rtt_ns);
}

/*
 * The first unmarked answer like `best` whose path has the fewest of our own flows to this peer. So
 * the peer's queue pairs spread if paths are known.
 */
static const struct hp3_probe *least_used_by_us(
	struct hp3_turn *t, const struct hp3_move *m, const struct hp3_probe *best)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	const struct hp3_paths *paths = hp3_paths_of(t->e, f->pair);
	const struct hp3_probe *least = best;
	uint32_t fewest = UINT32_MAX;

	for (uint32_t i = 0; i < m->search.round.n; i++) {
		const struct hp3_probe *p = &m->search.round.probe[i];
		uint32_t n = hp3_paths_used(paths, p->port, f->rqpn);

		if (n < fewest && is_alike(t->e, p, best)) {
			least = p;
			fewest = n;
		}
	}
	return least;
}

/*
 * Waits for answers that are about as early as the first. If many hosts set up queue pairs at once,
 * the first answer is first by chance. Many flows would take its path. So one of the equal answers
 * is chosen, in the random order of the ports in the round. In later rounds, that is the port found
 * before, unless another one is clearly better. Ports on known paths of our other flows to this
 * peer come last. NULL and *wait: not yet.
 */
static const struct hp3_probe *choose_answer(
	struct hp3_turn *t, const struct hp3_move *m, uint64_t *wait)
{
	const struct hp3_probe *best = hp3_round_unmarked(&m->search.round);

	*wait = m->search.round.deadline;
	if (best == NULL)
		return NULL;
	if (t->e->cfg.setup_alike != 0) {
		*wait = m->search.round.start + best->sent_ns + alike_ns(t->e, best->rtt_ns);
		if (t->now < *wait)
			return NULL;
	}
	return least_used_by_us(t, m, best);
}

/* Handles an answer, the time of the next round, or the time-out. */
void hp3_setup_step(struct hp3_turn *t, struct hp3_move *m)
{
	const struct hp3_probe *best;
	uint64_t wait;

	if (m->search.state == HP3_SEARCH_WAITING) {
		ask_again(t, m);
		return;
	}
	best = choose_answer(t, m, &wait);
	if (best == NULL && t->now < wait) {
		hp3_slot_timer(t->e, m, &m->move_at, wait);
		return;
	}
	hp3_round_cancel(&m->search.round);
	hp3_round_learn(t, m);
	if (best != NULL) {
		m->to = best->port;
		m->search.setup.found = true;
		t->e->setup_late = 0;
	}
	hp3_round_report(t, m);
	hp3_spray_compared(t->e, &m->search.round);
	if (best != NULL) {
		ask_again(t, m);
	} else if (m->search.setup.found) {
		settle_port(t, m->flow, m->to);
	} else {
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
	}
}

void hp3_setup_late(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_move *m = &t->e->moves[t->e->flows[flow].slot];

	if (m->search.setup.found) { /* found by an earlier round; nothing has left yet */
		settle_port(t, flow, m->to);
		return;
	}
	came_late(t->e);
	hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
}
