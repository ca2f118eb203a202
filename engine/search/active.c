/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows with packets in flight. Each flow has one entry in a ring. Every stall_ns, the engine
 * checks whether una of the flow has advanced. If so, the engine refreshes the flow's path in the
 * path table. The path table counts the flow as active until the flow is idle.
 *
 * If a reply is due and does not arrive, the path may be dead. The engine waits for some time
 * before it suspects that (rule 28). The wait is at least 4 RTTs, and at least a multiple of the
 * longest natural pause of this flow or of another flow of the address pair. The wait is longer if
 * no flow of the pair gets replies, because the peer may be down. It is much longer if a READ is
 * outstanding, unless the RNIC's own timer has expired. No reply is due to packets that hp3d holds,
 * or that request no ACK. Time during which hp3d was descheduled does not count.
 *
 * Bounded work: a few checks per call. With very many active flows, each is checked less often.
 */
#include "engine/search/search.h"
#include "engine/part.h"
#include "engine/search/pause.h"
#include "engine/spray/spray.h"

#define CHECKS_PER_CALL 8u /* per call */
#define GAP_NS          20000u /* between calls */
#define LOOK_NS         4000000u /* without dead-path detection */
#define DEAD_RTT        4u /* rule 13 */
#define PAUSES          2u /* times the longest pause seen */
#define ALONE           2u /* times as long if no flow of the pair got a reply */
#define SERVICE         8u /* times stall_ns for a READ */
#define LEARN           2u /* steps of pause.h */
#define FORGET          64u /* checks until a stored pause shrinks by a step, on average */

static uint64_t check_period(const struct hp3_engine *e)
{
	return e->cfg.stall_ns != 0 ? e->cfg.stall_ns : LOOK_NS;
}

static void push_active(struct hp3_engine *e, const struct hp3_active *a)
{
	uint32_t at = e->active_head + e->active_n++;

	e->active[at < e->cfg.max_flows ? at : at - e->cfg.max_flows] = *a;
	e->active_due = hp3_min_u64(e->active_due, a->due);
}

void hp3_active_add(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_flow *f = &e->flows[flow];

	if (e->active == NULL)
		return;
	hp3_path_enter(e, flow, now);
	if (f->watch & HP3_FW_ARMED)
		return;
	f->watch |= HP3_FW_ARMED;
	push_active(e, &(struct hp3_active){.due = now + check_period(e),
			       .since = now,
			       .flow = flow,
			       .una = f->stream.una,
			       .retransmits = f->retransmits,
			       .asked = true});
}

/*
 * Is a reply due? In the middle of a message, no packet may have requested one. If the RNIC goes
 * back, one is missing. While packets wait for the pacer, only those that have left count (rule
 * 27).
 */
static bool is_due(const struct hp3_engine *e, const struct hp3_flow *f)
{
	const uint16_t asked = HP3_FF_READS | HP3_FF_LAST_CLOSE | HP3_FF_WENT_BACK;
	const struct hp3_move *m = f->slot == HP3_NO_SLOT ? NULL : &e->moves[f->slot];
	bool timed = e->cfg.monitor.cycle_ns == 0 || hp3_monitor_waits(&f->monitor, f->stream.una);

	if (f->watch & HP3_FW_COMPLETIONS) /* of posted work */
		return !hp3_stream_idle(&f->stream);
	if (m != NULL && m->held_pkts != 0)
		return e->cfg.monitor.cycle_ns != 0 && timed &&
		       hp3_psn_diff(f->monitor.psn, e->held[m->head].psn) < 0;
	return timed || (f->flags & asked);
}

/* Time for which a missing reply is no sign of a dead path (ns). */
static uint64_t patience_of_flow(
	const struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_active *a)
{
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];
	uint32_t pause = hp3_max_u32(f->pause, p->pause);
	struct hp3_estimates path = {0};
	uint64_t wait = e->cfg.stall_ns;

	if (e->cfg.monitor.cycle_ns != 0)
		hp3_monitor_estimates(&f->monitor, &e->cfg.monitor, &path);
	if ((f->flags & (HP3_FF_READS | HP3_FF_WENT_BACK)) == HP3_FF_READS)
		wait *= SERVICE;
	wait = hp3_max_u64(wait, PAUSES * hp3_pause_ns(pause));
	if (p->heard < a->since)
		wait *= ALONE;
	wait = hp3_max_u64(wait, (uint64_t)DEAD_RTT * path.rtt_ns);
	return wait;
}

static bool is_stalled(const struct hp3_engine *e, const struct hp3_flow *f,
	const struct hp3_active *a, uint64_t now)
{
	return e->cfg.stall_ns != 0 && f->state == HP3_RFR_STEADY &&
	       now - hp3_max_u64(a->since, e->awake) >= patience_of_flow(e, f, a);
}

static uint32_t learnt_pause(uint32_t was, uint32_t seen, uint32_t least)
{
	uint32_t most = hp3_max_u32(was, least) + LEARN;

	return was >= seen ? was : hp3_min_u32(seen, most);
}

/*
 * A reply ends a pause: stores its length. A natural pause repeats, so a longer one counts as at
 * most twice the longest so far. A pause shorter than the period of the checks does not count. Nor
 * does one that the RNIC ended, or during which the port in use lost probes.
 */
static void note_pause(struct hp3_turn *t, struct hp3_flow *f, const struct hp3_active *a)
{
	struct hp3_pair *p = &t->e->pairs.pairs[f->pair];
	uint64_t pause = t->now - hp3_max_u64(a->since, t->e->awake);

	p->heard = t->now;
	if (f->retransmits != a->retransmits || (f->watch & HP3_FW_BLAMED))
		return;
	if (pause >= 2 * check_period(t->e)) {
		f->pause = learnt_pause(
			f->pause, hp3_pause_code(pause), hp3_pause_code(check_period(t->e)));
		p->pause = (uint8_t)learnt_pause(
			p->pause, hp3_pause_code(pause), hp3_pause_code(check_period(t->e)));
	} else if (hp3_random_below(&t->e->rng, FORGET) == 0) {
		f->pause -= f->pause != 0;
		p->pause -= p->pause != 0;
	}
}

/* The newest READ has arrived, but not all of its responses, as far as known. */
static bool read_waits(const struct hp3_flow *f)
{
	const struct hp3_stream *s = &f->stream;

	if (!(f->flags & HP3_FF_READS) || s->open_len == 0)
		return f->flags & HP3_FF_READS;
	return f->pmtu_log2 != 0 &&
	       s->una != hp3_psn_add(s->hi, hp3_read_span(s->open_len, f->pmtu_log2));
}

static void note_reply(struct hp3_turn *t, struct hp3_flow *f, struct hp3_active *a)
{
	note_pause(t, f, a);
	f->watch &= (uint16_t) ~(HP3_FW_NAKED | HP3_FW_QUIET | HP3_FW_ANEW | HP3_FW_BLAMED);
	a->una = f->stream.una;
	a->retransmits = f->retransmits;
	a->since = t->now;
	hp3_path_refresh(t->e, f, t->now);
}

/* True: it stays in the ring. */
static bool check_active(struct hp3_turn *t, struct hp3_active *a)
{
	const uint16_t live = HP3_FF_USED | HP3_FF_PAIRED | HP3_FF_STARTED;
	struct hp3_flow *f = &t->e->flows[a->flow];
	bool due;

	if ((f->flags & live) != live)
		return false;
	if (f->stream.una != a->una || (f->watch & HP3_FW_ANEW))
		note_reply(t, f, a);
	due = is_due(t->e, f);
	if (!due || !a->asked)
		a->since = t->now; /* perhaps it was requested just now */
	a->asked = due;
	if (hp3_stream_idle(&f->stream) && !read_waits(f))
		return false;
	if (is_stalled(t->e, f, a, t->now)) {
		if (f->watch & HP3_FW_QUIET)
			return false;
		if (!hp3_spray_stalled(t, a->flow))
			hp3_search_dead_path(t, a->flow, a->una, a->since);
	}
	return true;
}

static void tick_active(struct hp3_turn *t)
{
	struct hp3_engine *e = t->e;
	uint32_t looks = CHECKS_PER_CALL;

	if (t->now < e->active_due)
		return;
	if (t->now - e->active_due > check_period(e) / 2)
		e->awake = t->now;
	while (e->active_n != 0 && e->active[e->active_head].due <= t->now) {
		struct hp3_active a = e->active[e->active_head];

		if (t->acts->n + HP3_ROUND_PROBES + 2 > HP3_ACTS_MAX) {
			t->acts->more = true;
			return;
		}
		if (looks-- == 0)
			break;
		e->active_head = e->active_head + 1 == e->cfg.max_flows ? 0 : e->active_head + 1;
		e->active_n--;
		if (check_active(t, &a)) {
			a.due = t->now + check_period(e);
			push_active(e, &a);
		} else {
			e->flows[a.flow].watch &=
				(uint16_t) ~(HP3_FW_ARMED | HP3_FW_QUIET | HP3_FW_ANEW);
			hp3_path_leave(e, a.flow, t->now);
		}
	}
	e->active_due = e->active_n == 0 ? UINT64_MAX : e->active[e->active_head].due;
	e->active_due = hp3_max_u64(e->active_due, t->now + GAP_NS);
}

static void take_active(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->active, e->cfg.max_flows);
}

static void init_active(struct hp3_engine *e)
{
	e->active_due = UINT64_MAX;
}

static uint64_t active_due(const struct hp3_engine *e)
{
	return e->active_due;
}

const struct hp3_part hp3_active_part = {.is_on = hp3_is_probing,
	.take = take_active,
	.init = init_active,
	.tick = tick_active,
	.due = active_due};
