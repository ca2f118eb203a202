/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often a better path is re-probed before the flow takes it.
 *
 * If this is the flow's first search for a long time, the path has to win once more (rule 29). If
 * searches follow each other, congestion control is in equilibrium: the queue of every path grows
 * and shrinks. A flow that probes when the queue of its path is long finds most other queues empty,
 * even those of paths with more traffic. So if searches follow each other (hp3_backoff_doubt()),
 * the engine re-probes at random times, independent of the queue of the flow's path. In all
 * re-probes, the RTT of the other path has to be that of an empty path or clearly shorter, and
 * never longer. The flow takes the other path as soon as it then wins a round.
 *
 * Between these re-probes, the flow counts as not searching, so other flows of the address pair may
 * send probes.
 */
#include "engine/search/search.h"

#define REPROBES       1u /* after the round that found the path */
#define SLOW_REPROBES  2u /* ... if only RTTs show congestion: hosts delay, too */
#define EMPTY_REPROBES 12u /* for the first doubt */
#define MORE_REPROBES  4u /* for each further one */
#define DOUBT_MOST     4u /* no effect beyond */
#define LAST_REPROBES  48u /* then as many until a round in which it is faster */
#define QUEUE          10u /* percent of the base RTT: less is no queue */
#define SPREAD         5u /* re-probes in the shortest wait, or more */
#define MISSED         16u /* re-probes without a result until the search ends */

static enum hp3_search_decision once_more(const struct hp3_engine *e, struct hp3_move *m, bool won)
{
	struct hp3_search_congested *c = &m->search.congested;

	if (!won)
		return HP3_DECIDE_STAY;
	if (e->cfg.move_wait_ns == 0 || c->reprobes == (c->slow ? SLOW_REPROBES : REPROBES))
		return HP3_DECIDE_MOVE;
	c->reprobes++;
	return HP3_DECIDE_REPROBE;
}

enum result { NOTHING, FOR, AGAINST };

static const struct hp3_probe *answer_of_other(const struct hp3_move *m)
{
	const struct hp3_round *r = &m->search.round;

	for (uint32_t i = 1; i < r->n; i++)
		if (r->probe[i].port == m->to && r->probe[i].state == HP3_PROBE_ANSWERED)
			return &r->probe[i];
	return NULL;
}

/*
 * A host that was descheduled makes every RTT longer at the same moment. So a queue counts against
 * the other path only if the one in use has a shorter queue. It counts for the other path if the
 * one in use has a far longer one.
 */
static enum result ask_round(const struct hp3_engine *e, const struct hp3_move *m, bool won)
{
	const struct hp3_probe *home = &m->search.round.probe[0], *p = answer_of_other(m);
	uint64_t base = e->flows[m->flow].monitor.base, queue = base * QUEUE / 100;

	if (p == NULL || p->ce)
		return AGAINST;
	if (won || p->rtt_ns <= base + queue)
		return FOR;
	return home->state == HP3_PROBE_ANSWERED && p->rtt_ns > home->rtt_ns + queue ? AGAINST
										     : NOTHING;
}

static enum hp3_search_decision in_doubt(const struct hp3_engine *e, struct hp3_move *m, bool won)
{
	struct hp3_search_congested *c = &m->search.congested;
	uint32_t needed = EMPTY_REPROBES + MORE_REPROBES * (hp3_min_u32(c->doubt, DOUBT_MOST) - 1);
	enum result result = ask_round(e, m, won);

	if ((!won && c->reprobes == 0) || result == AGAINST)
		return HP3_DECIDE_STAY;
	if (result == NOTHING)
		return c->missed++ < MISSED ? HP3_DECIDE_REPROBE : HP3_DECIDE_STAY;
	if (won && c->reprobes >= needed)
		return HP3_DECIDE_MOVE;
	if (c->reprobes == needed + LAST_REPROBES)
		return HP3_DECIDE_STAY;
	c->reprobes++;
	return HP3_DECIDE_REPROBE;
}

enum hp3_search_decision hp3_search_decide(const struct hp3_engine *e, struct hp3_move *m, bool won)
{
	if (e->cfg.observe)
		return HP3_DECIDE_STAY;
	if (m->search.congested
			.lossy) /* a probe more or less does not show a loss of one in a hundred */
		return won ? HP3_DECIDE_MOVE : HP3_DECIDE_STAY;
	return m->search.congested.doubt == 0 ? once_more(e, m, won) : in_doubt(e, m, won);
}

bool hp3_is_put_off(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return f->slot != HP3_NO_SLOT && (e->moves[f->slot].use & HP3_USE_REPROBE);
}

static void await_reprobe(struct hp3_turn *t, struct hp3_move *m)
{
	uint64_t most = (uint64_t)t->e->cfg.round.backoff_min_ns
			<< (hp3_min_u32(m->put_off.so_far.doubt, DOUBT_MOST) - 1);

	hp3_slot_timer(
		t->e, m, &m->search_at, t->now + 1 + hp3_random(&t->e->rng) % (most / SPREAD + 1));
}

void hp3_put_off(struct hp3_turn *t, struct hp3_move *m)
{
	hp3_slot_take(t->e, m->flow, HP3_USE_REPROBE);
	m->put_off = (struct hp3_put_off){
		.from = m->from,
		.to = m->to,
		.cause = m->search.cause,
		.n_cycles = m->search.n_cycles,
		.so_far = m->search.congested,
	};
	memcpy(m->put_off.cycles, m->search.cycles, sizeof(m->put_off.cycles));
	await_reprobe(t, m);
}

void hp3_put_off_again(struct hp3_turn *t, uint32_t flow, const struct hp3_put_off *off)
{
	struct hp3_move *m =
		off->so_far.missed < MISSED ? hp3_slot_take(t->e, flow, HP3_USE_REPROBE) : NULL;

	if (m == NULL) {
		hp3_search_ended(t, flow, off->so_far.slow, t->e->cfg.round.guard_ns);
		return;
	}
	m->put_off = *off;
	m->put_off.so_far.missed++;
	await_reprobe(t, m);
}
