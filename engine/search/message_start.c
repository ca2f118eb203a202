/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message-start probing: a path for the next long message of an established queue pair. The time
 * before the first message is used by setup.c. If a long WRITE begins while nothing is in flight,
 * hp3d holds it until the first unmarked answer to a round of probes. One of the probes leaves on
 * the port in use. The WRITE leaves on the port of the first unmarked answer. The engine raises the
 * rate even if that is the port in use, because the queues are as short as after a move.
 *
 * The wait costs one RTT. So only a message waits that takes at least `message_start` percent of a
 * base RTT at line rate. The wait is at most two base RTTs; then the message leaves on the port in
 * use. The peer's hp3d must have answered before. If all answers are marked or none arrives, the
 * flow backs off. The cool-down after a move does not apply, because there is no drain.
 *
 * Order of packets: the flow's state is PROBING, as after a drain, so all events that end a move
 * end this search. The closing packet is the newest packet. A reply with a right ICRC has shown
 * that this packet arrived, and the RNIC has not sent it again since (rule 7). A retransmission
 * never begins a message here. READs do not wait: their data take the other direction, and their
 * requests are short.
 */
#include "engine/search/search.h"

#define BOUND_RTT 2u /* longest hold */
#define KBIT_NS   8000u /* bytes x this / (Mb/s) = ns */

static bool is_long_write(const struct hp3_engine *e, const struct hp3_view *v, uint32_t base_rtt)
{
	uint64_t cost = (uint64_t)base_rtt * e->cfg.message_start_percent / 100;

	return cost != 0 && (uint64_t)v->dma_len * KBIT_NS >= cost * e->cfg.cc.rp.rpg_max_rate;
}

/* All PSNs are answered: the first response of a READ only proves that its request arrived. */
static bool is_idle(const struct hp3_flow *f)
{
	return f->stream.una == f->stream.nxt && f->stream.open_len == 0;
}

static bool may_search_at_message_start(
	const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	return e->cfg.message_start_percent != 0 && e->cfg.probing && e->cfg.moves_allowed &&
	       !e->cfg.verbs && !e->cfg.observe && e->cfg.monitor.cycle_ns != 0 &&
	       hp3_flow_may_leave(e, f, now) && p->peer_seen != 0 &&
	       p->nmoves < e->cfg.max_concurrent && (f->watch & HP3_FW_HEARD) &&
	       !(f->flags & (HP3_FF_RNR | HP3_FF_READS)) && is_idle(f) &&
	       (f->slot == HP3_NO_SLOT || e->moves[f->slot].held_pkts == 0) &&
	       (f->backoff.searches == 0 || hp3_backoff_ready(&f->backoff, now));
}

/* Twice as many ports as for an active flow: the message waits for the best of them. */
static bool begin_message_round(struct hp3_turn *t, struct hp3_move *m)
{
	const struct hp3_flow *f = &t->e->flows[m->flow];
	uint16_t ports[HP3_ROUND_PROBES];
	uint32_t want = hp3_min_u32(2u * t->e->cfg.candidates, HP3_ROUND_PROBES - 1);
	struct hp3_round_ask what = hp3_round_ask(t->e, m, HP3_PROBE_PEER);

	what.candidates = ports;
	what.drained = true;
	what.n = hp3_paths_candidates(
		hp3_paths_of(t->e, f->pair), f->rqpn, what.port, ports, want, t->now);
	return hp3_round_begin(t, m, &what);
}

void hp3_message_start(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v)
{
	struct hp3_engine *e = t->e;
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_estimates path;
	struct hp3_move *m;
	uint64_t hold;

	if ((v->flags & (HP3_VF_FIRST | HP3_VF_READ)) != HP3_VF_FIRST || v->dma_len == 0 ||
		!may_search_at_message_start(e, f, t->now) || !hp3_peer_is_asked(t, f->pair))
		return;
	hp3_monitor_estimates(&f->monitor, &e->cfg.monitor, &path);
	if (!is_long_write(e, v, path.base_rtt_ns))
		return;
	hold = (uint64_t)BOUND_RTT * path.base_rtt_ns;
	m = hp3_search_prepare(t, flow, HP3_SEARCH_MESSAGE_START);
	if (m == NULL)
		return;
	if (!begin_message_round(t, m)) {
		hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
		return;
	}
	m->closing = (struct hp3_closing){.psn = f->stream.hi, .end = f->stream.nxt};
	m->t_close = t->now;
	m->search.start.hold_end = t->now + hp3_min_u64(hold, e->cfg.max_hold_ns);
	e->stats.message_start_searches++;
	hp3_rate_suspend(t, flow);
	hp3_send_probes(t, m);
	hp3_active_add(e, flow, t->now); /* held packets leave unseen, so the path is checked */
	hp3_slot_timer(e, m, &m->move_at, m->search.start.hold_end);
}

/* The first unmarked answer decides. */
void hp3_message_start_step(struct hp3_turn *t, struct hp3_move *m)
{
	const struct hp3_probe *best = hp3_round_unmarked(&m->search.round);
	uint32_t flow = m->flow;

	if (best == NULL && t->now < m->search.start.hold_end) {
		hp3_slot_timer(t->e, m, &m->move_at, m->search.start.hold_end);
		return;
	}
	hp3_round_cancel(&m->search.round);
	if (hp3_round_heard(&m->search.round))
		hp3_round_learn(t, m); /* else not answered yet, which means nothing */
	if (best != NULL)
		m->to = best->port;
	hp3_round_report(t, m);
	if (m->to != m->from) {
		hp3_search_input(t, m, HP3_SEARCH_IN_GO);
		return;
	}
	m->search.start.clear = best != NULL;
	hp3_search_input(t, m, HP3_SEARCH_IN_STAY);
	if (best == NULL)
		hp3_search_ended(t, flow, false, t->e->cfg.round.guard_ns);
}
