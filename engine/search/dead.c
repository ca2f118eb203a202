/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the path in use dead (rule 13)? Rounds of PEER probes follow each other. The path is dead if
 * the port in use has lost three probes while others were answered. If no port answers at all, the
 * peer is down, and no other path would help.
 *
 * One dead-path search at a time serves all flows of an address pair. If other flows stall
 * meanwhile, the search probes their ports, too, and these flows find the results in the path
 * table. After a search without a result, the pair waits before the next search, twice as long each
 * time (rule 28).
 *
 * If the port in use answers, either requests arrive and replies do not, or only short packets
 * arrive. From then on, probes are as long as data (size.c). Perhaps only the last reply was lost:
 * the next packet that leaves gets AckReq (HP3_FW_ASK). If no packet leaves, an ACK solicitation
 * makes the peer's RNIC repeat its acknowledgement (HP3_ACT_SOLICIT_ACK), unless a READ or ATOMIC
 * is outstanding (rule 25). If that does not help for three rounds, the reverse path is dead, and
 * hp3d sends a report to the peer's hp3d (replies.c).
 */
#include <errno.h>
#include "engine/search/search.h"

#define SILENT_ROUNDS 3u
#define ALIVE_ROUNDS  HP3_DEAD_LOSSES
#define REPORTS_MOST  4u
#define WAITS         16u
/*
 * Least number of other ports probed while none answers. If there are few paths, one port may take
 * the dead path as well.
 */
#define CANDIDATES 3u
#define DEAD_CALM  8u /* x the longest wait without a search: resets the wait */

/* The fastest answer on another port, unmarked ones first; NULL: none. */
static const struct hp3_probe *best_answer(const struct hp3_round *r)
{
	const struct hp3_probe *best = NULL;

	for (uint32_t i = 1; i < r->n; i++) {
		const struct hp3_probe *p = &r->probe[i];

		if (p->state == HP3_PROBE_ANSWERED &&
			(best == NULL || p->ce < best->ce ||
				(p->ce == best->ce && p->rtt_ns < best->rtt_ns)))
			best = p;
	}
	return best;
}

/* Ports of other stalled flows come first. Returns the number of candidates. */
static uint32_t choose_candidates(
	struct hp3_turn *t, const struct hp3_move *m, uint32_t want, uint16_t *ports)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	uint16_t drawn[HP3_ROUND_PROBES];
	uint32_t n = 0, others;

	others = hp3_paths_candidates(
		hp3_paths_of(t->e, f->pair), f->rqpn, m->from, drawn, want, t->now);
	for (uint32_t i = 0; i < m->search.dead.n_also; i++) {
		if (!hp3_path_has_failed(t->e, f, m->search.dead.also[i], t->now))
			ports[n++] = m->search.dead.also[i];
	}
	for (uint32_t i = 0; i < others && n < HP3_ROUND_PROBES - 1; i++) {
		if (!hp3_port_among(ports, n, drawn[i]))
			ports[n++] = drawn[i];
	}
	return n;
}

static bool begin_dead_round(struct hp3_turn *t, struct hp3_move *m)
{
	uint16_t ports[HP3_ROUND_PROBES];
	uint32_t want = t->e->cfg.candidates;
	struct hp3_round_ask what = hp3_round_ask(t->e, m, HP3_PROBE_PEER);

	what.candidates = ports;
	what.as_data = m->search.dead.came_through;
	if (want < CANDIDATES && m->search.dead.alive == 0 && best_answer(&m->search.round) == NULL)
		want = CANDIDATES;
	what.n = choose_candidates(t, m, want, ports);
	if (!hp3_round_begin(t, m, &what))
		return false;
	m->search.dead.waits = 0;
	return true;
}

/* The path was not dead: the next search of the pair waits longer. */
static void wait_longer(struct hp3_turn *t, struct hp3_pair *p)
{
	uint64_t most = t->e->cfg.round.backoff_max_ns, wait = t->e->cfg.stall_ns;

	if (t->now > p->dead_wait + DEAD_CALM * most)
		p->dead_level = 0;
	for (uint32_t i = 0; i < p->dead_level && wait < most; i++)
		wait *= 2;
	if (wait < most && p->dead_level < UINT8_MAX)
		p->dead_level++;
	wait = hp3_min_u64(wait, most);
	p->dead_wait = t->now + wait - hp3_random(&t->e->rng) % (wait / 2 + 1);
}

static void give_up_search(struct hp3_turn *t, struct hp3_move *m)
{
	if (!(t->e->flows[m->flow].watch & HP3_FW_BLAMED))
		wait_longer(t, &t->e->pairs.pairs[t->e->flows[m->flow].pair]);
	hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
}

/* If probes of other flows have found the path FAILED, no round is needed. */
static bool is_known_dead(struct hp3_turn *t, uint32_t flow, uint16_t *port)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_paths *paths = hp3_paths_of(t->e, f->pair);

	return f->path != HP3_NO_PATH &&
	       hp3_paths_quality(paths, (int)f->path, t->now) == HP3_QUALITY_FAILED &&
	       hp3_paths_pick(paths, f->rqpn, false, port, t->now) == 0 &&
	       *port != hp3_flow_port(f);
}

static bool is_watch(const struct hp3_move *m)
{
	return m->search.kind == HP3_SEARCH_DEAD && m->search.state != HP3_SEARCH_QUIET;
}

/* The current search of the address pair, or NULL. */
static struct hp3_move *watch_of(struct hp3_engine *e, uint32_t pair)
{
	uint16_t slot = e->pairs.pairs[pair].watch_slot;
	struct hp3_move *m = slot < e->cfg.max_moves ? &e->moves[slot] : NULL;

	if (m == NULL || m->active >= e->nmoves || e->slots[m->active] != slot || !is_watch(m) ||
		e->flows[m->flow].pair != pair)
		return NULL;
	return m;
}

/* Another flow of the pair is searching: its next round includes this flow's port. */
static void join_search(struct hp3_move *m, uint16_t port)
{
	if (port != m->from && m->search.dead.n_also < HP3_DEAD_ALSO &&
		!hp3_port_among(m->search.dead.also, m->search.dead.n_also, port))
		m->search.dead.also[m->search.dead.n_also++] = port;
}

static bool may_watch(struct hp3_turn *t, const struct hp3_flow *f)
{
	return hp3_flow_may_leave(t->e, f, t->now) && !(f->flags & HP3_FF_RNR) &&
	       (f->watch & HP3_FW_HEARD) && hp3_peer_is_asked(t, f->pair);
}

/* Reports once; the flow is not checked again until it makes progress. */
static void would_ask(struct hp3_turn *t, uint32_t flow, uint64_t since)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_event *event;

	f->watch |= HP3_FW_QUIET;
	if (!t->e->cfg.observe)
		return;
	event = hp3_event(t, flow, HP3_EVENT_WOULD);
	event->cause = HP3_CAUSE_DEAD;
	event->wait_ns = t->now - since;
	hp3_monitor_estimates(&f->monitor, &t->e->cfg.monitor, &event->path);
}

void hp3_search_dead_path(struct hp3_turn *t, uint32_t flow, uint32_t una, uint64_t since)
{
	struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_pair *p = &t->e->pairs.pairs[f->pair];
	struct hp3_move *m;
	bool known;
	uint16_t port;

	if (!hp3_may_search(t->e)) {
		would_ask(t, flow, since);
		return;
	}
	if (!may_watch(t, f))
		return;
	known = is_known_dead(t, flow, &port);
	m = known ? NULL : watch_of(t->e, f->pair);
	if (m != NULL) {
		join_search(m, hp3_flow_port(f));
		return;
	}
	if (!known && t->now < p->dead_wait)
		return;
	m = hp3_search_prepare(t, flow, HP3_SEARCH_DEAD);
	if (m == NULL)
		return;
	m->search.dead.una = una;
	m->search.dead.since = since;
	if (known) {
		hp3_failover(t, flow, port);
		return;
	}
	if (!begin_dead_round(t, m)) {
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
		return;
	}
	p->watch_slot = f->slot;
	hp3_round_go(t, m);
}

int hp3_failover_for_replies(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	struct hp3_move *m;
	uint16_t port;

	if (f->state != HP3_RFR_STEADY || !hp3_backoff_ready(&f->backoff, t->now))
		return -EALREADY;
	if (!hp3_flow_may_leave(t->e, f, t->now) ||
		hp3_paths_candidates(hp3_paths_of(t->e, f->pair), f->rqpn, hp3_flow_port(f), &port,
			1, t->now) == 0)
		return -EPERM;
	m = hp3_search_prepare(t, flow, HP3_SEARCH_DEAD);
	if (m == NULL)
		return -EPERM;
	m->search.dead.una = f->stream.una;
	m->search.dead.since = t->now;
	hp3_failover(t, flow, port);
	return 0;
}

static void report_to_peer(struct hp3_turn *t, struct hp3_move *m)
{
	struct hp3_act *a;
	struct hp3_event *event;

	m->search.dead.reports++;
	m->search.dead.alive = 0;
	if (!hp3_has_key(t->e, HP3_ENDS(&t->e->pairs.pairs[t->e->flows[m->flow].pair])))
		return;
	a = hp3_act(t, HP3_ACT_REPORT, m->flow);
	a->port = m->from;
	a->psn = (t->e->flows[m->flow].stream.una - 1) & HP3_PSN_MASK;
	t->e->stats.reports++;
	event = hp3_event(t, m->flow, HP3_EVENT_REPORT);
	event->cause = HP3_CAUSE_DEAD;
	event->from = event->to = m->from;
	event->wait_ns = t->now - m->search.dead.since;
}

/* Time limit of an answer: the probe took one RTT, but the responder may be slow. */
static uint64_t window_of(const struct hp3_engine *e, const struct hp3_probe *mine)
{
	uint64_t window = 4ull * mine->rtt_ns, least = e->cfg.stall_ns / 2;

	if (mine->state != HP3_PROBE_ANSWERED)
		window = e->cfg.round.timeout_ns;
	return hp3_max_u64(window, least);
}

static void ask_later(struct hp3_turn *t, struct hp3_move *m, uint64_t wait)
{
	hp3_search_input(t, m, HP3_SEARCH_IN_LATER);
	hp3_slot_timer(t->e, m, &m->move_at, t->now + wait);
}

/*
 * Requests arrive, replies do not. False: there is nothing left to try. First, a packet of the flow
 * gets AckReq. If none has left in a round, an ACK solicitation does that. A report leaves before
 * it, so that the reply already leaves on the other port.
 */
static bool came_through(struct hp3_turn *t, struct hp3_move *m)
{
	struct hp3_flow *f = &t->e->flows[m->flow];
	bool asked = f->watch & HP3_FW_ASK;

	m->search.dead.came_through = true;
	if (t->e->cfg.observe || m->search.dead.reports == REPORTS_MOST)
		return false;
	if (++m->search.dead.alive == ALIVE_ROUNDS)
		report_to_peer(t, m);
	if (asked && hp3_rnic_is_plain(f) && !t->e->cfg.verbs)
		hp3_solicit_ack(t, m->flow, m->from);
	f->watch |= HP3_FW_ASK;
	ask_later(t, m, window_of(t->e, &m->search.round.probe[0]));
	return true;
}

/* Keeps the results so far: many flows of an address pair may share its probe budget. */
static void wait_for_budget(struct hp3_turn *t, struct hp3_move *m)
{
	if (++m->search.dead.waits > WAITS) {
		give_up_search(t, m);
		return;
	}
	ask_later(t, m, t->e->cfg.round.timeout_ns);
}

/* The round is over: begins the next one. */
static void next_window(struct hp3_turn *t, struct hp3_move *m)
{
	if (begin_dead_round(t, m))
		hp3_round_go(t, m);
	else
		wait_for_budget(t, m);
}

void hp3_dead_step(struct hp3_turn *t, struct hp3_move *m)
{
	struct hp3_flow *f = &t->e->flows[m->flow];
	const struct hp3_probe *mine = &m->search.round.probe[0], *best;

	if (f->stream.una != m->search.dead.una || (f->flags & HP3_FF_RNR)) {
		give_up_search(t, m);
		return;
	}
	if (m->search.state == HP3_SEARCH_WAITING) {
		if (t->now >= m->move_at)
			next_window(t, m);
		return;
	}
	if (!hp3_round_settled(&m->search.round)) {
		hp3_round_await(t, m);
		return;
	}
	hp3_liveness_round(&m->search.dead.live, &m->search.round);
	hp3_round_learn(t, m);
	hp3_round_report(t, m);
	best = best_answer(&m->search.round);
	if (mine->state == HP3_PROBE_LOST || m->search.dead.alive + 1 == ALIVE_ROUNDS)
		f->watch |= HP3_FW_BLAMED;
	if (mine->state == HP3_PROBE_ANSWERED || mine->state == HP3_PROBE_LATE) {
		if (came_through(t, m))
			return;
		f->watch |= HP3_FW_QUIET;
		give_up_search(t, m);
	} else if (best == NULL && ++m->search.dead.silent == SILENT_ROUNDS) {
		f->watch |= HP3_FW_QUIET;
		give_up_search(t, m);
	} else if (best != NULL && hp3_liveness_dead(&m->search.dead.live, m->from)) {
		t->e->pairs.pairs[f->pair].dead_level = 0;
		if (m->search.dead.came_through)
			hp3_swallowed(t, m->flow, m->from);
		hp3_failover(t, m->flow, best->port);
	} else if (begin_dead_round(t, m)) {
		hp3_round_go(t, m);
	} else {
		wait_for_budget(t, m);
	}
}
