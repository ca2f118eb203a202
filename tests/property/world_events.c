/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold at every event: evidence of rounds and verdicts, ends of holds, pairings. */
#include "world_internal.h"
#include "world_inside.h"

#define DEAD_ROUNDS 3u
#define TICK        (50 * US) /* what comes due is noticed so late */

static struct qp *qp_of(struct world *w, const struct hp3_event *ev)
{
	return &w->qps[world_qp_at(w, ev->flow, ev->rqpn)];
}

static uint32_t lost_in(const struct hp3_event *ev)
{
	uint32_t others = 0;

	for (unsigned i = 1; i < ev->n_probes; i++)
		others += ev->probes[i].state == HP3_PROBE_ANSWERED;
	return ev->n_probes != 0 && ev->probes[0].state == HP3_PROBE_LOST && others != 0;
}

/* Rule 30: unless cc = off the newest cycle is enough if a CNP came in it. */
static bool is_at_once(const struct world *w, const struct hp3_event *ev)
{
	return w->p.cc != HP3_CC_OFF && w->cfg.cc.withhold_percent != 0 && ev->n_cycles != 0 &&
	       (ev->cycles[ev->n_cycles - 1] & HP3_CYCLE_CNP);
}

/* No move without evidence: enough congested cycles, and a probe that was unmarked and faster. */
static void check_winner(struct world *w, const struct hp3_event *ev)
{
	const struct hp3_probe *best = NULL, *mine = &ev->probes[0];
	bool asked = ev->probe_kind != HP3_PROBE_NAK, peer = ev->probe_kind == HP3_PROBE_PEER;
	uint64_t was = mine->rtt_ns, most = w->cfg.round.improve;
	unsigned congested = 0;

	for (unsigned i = 0; i < ev->n_cycles; i++)
		if (ev->cycles[i] != HP3_CYCLE_SILENT)
			congested = ev->cycles[i] & HP3_CYCLE_CONGESTED ? congested + 1 : 0;
	for (unsigned i = asked; i < ev->n_probes; i++) {
		if (ev->probes[i].port == ev->to)
			best = &ev->probes[i];
	}
	if (ev->cause == HP3_CAUSE_LOSS)
		most = HP3_LOSSY_RTT;
	else if (ev->cause == HP3_CAUSE_ADVICE || ev->cause == HP3_CAUSE_COUNTS)
		most = HP3_NO_WORSE_RTT;
	else if (congested < w->cfg.monitor.congestion_tolerance && !is_at_once(w, ev))
		VIOLATION(w, "moved after %u congested cycles", congested);
	if (!asked)
		was = ev->path.rtt_ns;
	else if (!peer && mine->state != HP3_PROBE_ANSWERED)
		VIOLATION(w, "moved without asking the drained port %u", ev->from);
	if (best == NULL || best->state != HP3_PROBE_ANSWERED || best->ce)
		VIOLATION(w, "port %u won without an unmarked answer", ev->to);
	else if ((!asked || mine->state == HP3_PROBE_ANSWERED) && best->rtt_ns > was * most / 100)
		VIOLATION(w, "port %u won with %u ns against %llu", ev->to, best->rtt_ns,
			(unsigned long long)was);
}

/* A message that waited leaves elsewhere only for an unmarked answer, and not too late. */
static void check_woken(struct world *w, const struct hp3_event *ev)
{
	bool told = false;

	for (unsigned i = 1; i < ev->n_probes; i++)
		told |= ev->probes[i].port == ev->to && ev->probes[i].state == HP3_PROBE_ANSWERED &&
			!ev->probes[i].ce;
	if (ev->to != ev->from && !told)
		VIOLATION(w, "woken on port %u without an unmarked answer", ev->to);
	if (ev->wait_ns > 2ull * ev->path.base_rtt_ns + TICK)
		VIOLATION(w, "a message waited for %llu ns with a base RTT of %u",
			(unsigned long long)ev->wait_ns, ev->path.base_rtt_ns);
	w->r.woken += ev->to != ev->from;
}

static void check_round(struct world *w, const struct hp3_event *ev)
{
	struct qp *q = qp_of(w, ev);

	w->r.rounds++;
	for (unsigned i = 0; i < ev->n_probes; i++) {
		const struct hp3_probe *p = &ev->probes[i];
		uint8_t *lost = &w->port_lost[p->port];

		if (p->state == HP3_PROBE_LOST && *lost < UINT8_MAX)
			++*lost;
		else if (p->state == HP3_PROBE_ANSWERED || p->state == HP3_PROBE_LATE)
			*lost = 0;
	}
	q->dead_rounds = ev->cause == HP3_CAUSE_DEAD && ev->from == q->dead_port
				 ? q->dead_rounds + lost_in(ev)
				 : lost_in(ev);
	q->dead_port = ev->from;
	if (ev->cause == HP3_CAUSE_WAKE) {
		check_woken(w, ev);
		return;
	}
	if (ev->outcome != HP3_ROUND_WINNER || ev->cause == HP3_CAUSE_SETUP ||
		ev->cause == HP3_CAUSE_DEAD)
		return;
	w->r.rounds_won++;
	check_winner(w, ev);
}

/* Rule 13: no progress for long, three probes lost in separate windows while others came back. */
static void check_failover(struct world *w, const struct hp3_event *ev)
{
	struct qp *q = qp_of(w, ev);
	uint32_t path = world_path(w, ev->from, q->rqpn);
	uint32_t lost = ev->n_probes != 0 ? q->dead_rounds : w->port_lost[ev->from];
	struct hp3_flow_info info = {0};

	if (ev->cause == HP3_CAUSE_LOSS) { /* the RNIC has gone back there twice (rule 33) */
		w->r.went_home++;
		lost = DEAD_ROUNDS;
		if (ev->to != HOME_PORT + world_qp_at(w, ev->flow, ev->rqpn))
			VIOLATION(w, "went to port %u without a probe", ev->to);
	}
	w->r.failovers++;
	w->r.false_dead +=
		!world_swallows(w, path, MAX_PMTU) && w->now >= w->path_dead[path] + 3 * MAX_RTT;
	if (ev->wait_ns < w->cfg.stall_ns)
		VIOLATION(w, "dead after %llu ns", (unsigned long long)ev->wait_ns);
	if (lost < DEAD_ROUNDS && !w->p.model)
		VIOLATION(w, "dead after %u lost probes", lost);
	if (q->rnr_wait)
		VIOLATION(w, "dead while the receiver is not ready (rule 10)");
	if (world_is_failed(w, ev->flow, ev->to))
		VIOLATION(w, "left for port %u, whose path has failed", ev->to);
	hp3_flow_info(w->e, ev->flow, w->now, &info);
	q->contig = linear(q, info.una, q->heard);
	if (q->contig > q->heard)
		q->contig = q->heard;
	q->resync = false;
	q->resuming = true;
	q->last_emit[++q->era % ERAS] = 0;
	if (q->fo_since == 0)
		q->fo_since = w->now - ev->wait_ns;
}

/* The last resort is the only one after which a gap may follow. */
static void check_resume(struct world *w, const struct hp3_event *ev)
{
	struct qp *q = qp_of(w, ev);
	bool last = ev->reason != HP3_RFR_IN_CAUGHT_UP && ev->reason != HP3_RFR_IN_TX_AGAIN;

	w->r.resumed++;
	w->r.last_resort += last;
	if (!q->resuming && !q->was_resuming)
		VIOLATION(w, "resumes what was not interrupted");
	q->resuming = q->was_resuming = false;
	if (last)
		q->contig = q->shown;
	/* What the RNIC sent again went first, as it must: what was held follows, emitted before.
	 */
	q->last_emit[++q->era % ERAS] = 0;
}

void world_check_event(struct world *w, const struct hp3_event *ev)
{
	struct qp *q = qp_of(w, ev);
	bool moves = ev->type == HP3_EV_SWITCH || ev->type == HP3_EV_IDLE_SWITCH ||
		     ev->type == HP3_EV_SUSPEND || ev->type == HP3_EV_FAILOVER;

	if (w->p.observe && moves)
		VIOLATION(w, "%s while only observing", hp3_event_name(ev->type));
	if (moves && ev->to != HOME_PORT + world_qp_at(w, ev->flow, ev->rqpn))
		world_check_silent(w, hp3_event_name(ev->type));
	world_check_mode(w);
	if (moves && ev->cause != HP3_CAUSE_SETUP)
		HARM(w, "queue pair %u: %s because of %s", ev->rqpn - 0x2000,
			hp3_event_name(ev->type), hp3_cause_name(ev->cause));
	if (ev->type == HP3_EV_IDLE_SWITCH && ev->cause == HP3_CAUSE_SETUP &&
		world_is_failed(w, ev->flow, ev->to))
		VIOLATION(w, "begins on port %u, whose path has failed", ev->to);
	w->r.idle += ev->type == HP3_EV_IDLE_SWITCH;
	w->r.advice_taken += ev->cause == HP3_CAUSE_ADVICE && moves && ev->type != HP3_EV_SUSPEND;
	w->r.by_counts += ev->cause == HP3_CAUSE_COUNTS && moves && ev->type != HP3_EV_SUSPEND;
	w->r.recovered += ev->type == HP3_EV_RECOVER;
	w->r.timeouts += ev->type == HP3_EV_RECOVER && ev->reason == HP3_RFR_IN_TIMEOUT;
	w->r.no_room += ev->type == HP3_EV_RECOVER && ev->reason == HP3_RFR_IN_HOLD_FULL;
	if (ev->type == HP3_EV_SUSPEND)
		q->draining = true;
	else if (ev->type == HP3_EV_SWITCH || ev->type == HP3_EV_RECOVER ||
		 ev->type == HP3_EV_EPOCH)
		q->draining = false;
	w->r.epochs += ev->type == HP3_EV_EPOCH;
	w->r.severe += ev->type == HP3_EV_SEVERE;
	w->r.would += ev->type == HP3_EV_WOULD;
	w->r.outcomes += ev->type == HP3_EV_OUTCOME;
	w->r.left_for_loss += moves && ev->type != HP3_EV_SUSPEND && ev->cause == HP3_CAUSE_LOSS;
	switch (ev->type) {
	case HP3_EV_SWITCH:
		world_check_wired(w, q, ev);
		w->r.switched++;
		if (w->p.probes != HP3_PROBES_STANDARD && ev->cause != HP3_CAUSE_WAKE &&
			!w->p.short_paths_move && world_lasts(w) > SHORT_FROM + MAX_RTT &&
			world_swallows(w, world_path(w, ev->to, q->rqpn), MAX_PMTU))
			VIOLATION(w, "port %u swallows long packets (rule 33)", ev->to);
		if (ev->drain_ns > w->r.max_drain_ns)
			w->r.max_drain_ns = ev->drain_ns;
		break;
	case HP3_EV_SUSPEND:
		q->closing = linear(q, ev->close_psn, q->nxt);
		break;
	case HP3_EV_ROUND:
		check_round(w, ev);
		break;
	case HP3_EV_FAILOVER:
		world_check_wired(w, q, ev);
		check_failover(w, ev);
		break;
	case HP3_EV_RESUME:
		check_resume(w, ev);
		break;
	case HP3_EV_EPOCH:
		q->resuming = q->was_resuming = false;
		break;
	case HP3_EV_UNPAIR:
		q->closing = 0; /* nothing is decided by it any more */
		w->r.unpaired++;
		break;
	case HP3_EV_PAIR:
		w->r.paired++;
		world_check_wired(w, q, ev);
		break;
	default:
		break;
	}
	world_rate_event(w, q, ev);
}
