/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks at every event: evidence of rounds and of dead paths, ends of holds, pairings. */
#include "world_internal.h"
#include "world_inside.h"

#define DEAD_ROUNDS 3u
#define TICK        (50 * US) /* what comes due is noticed so late */

static struct qp *qp_of(struct world *w, const struct hp3_event *event)
{
	return &w->qps[world_qp_at(w, event->flow, event->rqpn)];
}

static uint32_t lost_in(const struct hp3_event *event)
{
	uint32_t others = 0;

	for (unsigned i = 1; i < event->n_probes; i++)
		others += event->probes[i].state == HP3_PROBE_ANSWERED;
	return event->n_probes != 0 && event->probes[0].state == HP3_PROBE_LOST && others != 0;
}

/* Rule 30: unless cc = off the newest cycle is enough if a CNP came in it. */
static bool is_at_once(const struct world *w, const struct hp3_event *event)
{
	return w->p.cc != HP3_CC_OFF && w->cfg.cc.withhold_percent != 0 && event->n_cycles != 0 &&
	       (event->cycles[event->n_cycles - 1] & HP3_CYCLE_CNP);
}

/* No move without evidence: enough congested cycles, and a probe that was unmarked and faster. */
static void check_winner(struct world *w, const struct hp3_event *event)
{
	const struct hp3_probe *best = NULL, *mine = &event->probes[0];
	uint64_t most = w->cfg.round.improve;
	unsigned congested = 0;

	for (unsigned i = 0; i < event->n_cycles; i++)
		if (event->cycles[i] != HP3_CYCLE_SILENT)
			congested = event->cycles[i] & HP3_CYCLE_CONGESTED ? congested + 1 : 0;
	for (unsigned i = 1; i < event->n_probes; i++) {
		if (event->probes[i].port == event->to)
			best = &event->probes[i];
	}
	if (event->cause == HP3_CAUSE_LOSS)
		most = HP3_LOSSY_RTT;
	else if (event->cause == HP3_CAUSE_ADVICE)
		most = HP3_NO_WORSE_RTT;
	else if (congested < w->cfg.monitor.congestion_tolerance && !is_at_once(w, event))
		VIOLATION(w, "moved after %u congested cycles", congested);
	if (event->probe_kind != HP3_PROBE_PEER && mine->state != HP3_PROBE_ANSWERED)
		VIOLATION(w, "moved without asking the drained port %u", event->from);
	if (best == NULL || best->state != HP3_PROBE_ANSWERED || best->ce)
		VIOLATION(w, "port %u won without an unmarked answer", event->to);
	else if (mine->state == HP3_PROBE_ANSWERED && best->rtt_ns > mine->rtt_ns * most / 100)
		VIOLATION(w, "port %u won with %u ns against %u", event->to, best->rtt_ns,
			mine->rtt_ns);
}

/* A message that waited leaves elsewhere only for an unmarked answer, and not too late. */
static void check_message_start(struct world *w, const struct hp3_event *event)
{
	bool reported = false;

	for (unsigned i = 1; i < event->n_probes; i++)
		reported |= event->probes[i].port == event->to &&
			    event->probes[i].state == HP3_PROBE_ANSWERED && !event->probes[i].ce;
	if (event->to != event->from && !reported)
		VIOLATION(w, "message moved to port %u without an unmarked answer", event->to);
	if (event->wait_ns > 2ull * event->path.base_rtt_ns + TICK)
		VIOLATION(w, "a message waited for %llu ns with a base RTT of %u",
			(unsigned long long)event->wait_ns, event->path.base_rtt_ns);
	w->r.moved_at_message_start += event->to != event->from;
}

static void check_round(struct world *w, const struct hp3_event *event)
{
	struct qp *q = qp_of(w, event);

	w->r.rounds++;
	for (unsigned i = 0; i < event->n_probes; i++) {
		const struct hp3_probe *p = &event->probes[i];
		uint8_t *lost = &w->port_lost[p->port];

		if (p->state == HP3_PROBE_LOST && *lost < UINT8_MAX)
			++*lost;
		else if (p->state == HP3_PROBE_ANSWERED || p->state == HP3_PROBE_LATE)
			*lost = 0;
	}
	q->dead_rounds = event->cause == HP3_CAUSE_DEAD && event->from == q->dead_port
				 ? q->dead_rounds + lost_in(event)
				 : lost_in(event);
	q->dead_port = event->from;
	if (event->cause == HP3_CAUSE_MESSAGE_START) {
		check_message_start(w, event);
		return;
	}
	if (event->outcome != HP3_ROUND_WINNER || event->cause == HP3_CAUSE_SETUP ||
		event->cause == HP3_CAUSE_DEAD)
		return;
	w->r.rounds_won++;
	check_winner(w, event);
}

/* Rule 13: no progress for long, three probes lost in separate windows while others came back. */
static void check_failover(struct world *w, const struct hp3_event *event)
{
	struct qp *q = qp_of(w, event);
	uint32_t path = world_path(w, event->from, q->rqpn);
	uint32_t lost = event->n_probes != 0 ? q->dead_rounds : w->port_lost[event->from];
	struct hp3_flow_info info = {0};

	if (event->cause == HP3_CAUSE_LOSS) { /* the RNIC has gone back there twice (rule 33) */
		w->r.went_home++;
		lost = DEAD_ROUNDS;
		if (event->to != HOME_PORT + world_qp_at(w, event->flow, event->rqpn))
			VIOLATION(w, "went to port %u without a probe", event->to);
	}
	w->r.failovers++;
	w->r.false_dead +=
		!world_swallows(w, path, MAX_PMTU) && w->now >= w->path_dead[path] + 3 * MAX_RTT;
	if (event->wait_ns < w->cfg.stall_ns)
		VIOLATION(w, "dead after %llu ns", (unsigned long long)event->wait_ns);
	if (lost < DEAD_ROUNDS && !w->p.model)
		VIOLATION(w, "dead after %u lost probes", lost);
	if (q->rnr_wait)
		VIOLATION(w, "dead while the receiver is not ready (rule 10)");
	if (world_is_failed(w, event->flow, event->to))
		VIOLATION(w, "left for port %u, whose path has failed", event->to);
	hp3_flow_info(w->e, event->flow, w->now, &info);
	q->contig = linear(q, info.una, q->heard);
	if (q->contig > q->heard)
		q->contig = q->heard;
	q->resync = false;
	q->resuming = true;
	q->last_emit[++q->era % ERAS] = 0;
	if (q->fo_since == 0)
		q->fo_since = w->now - event->wait_ns;
}

/* The last resort is the only one after which a gap may follow. */
static void check_resume(struct world *w, const struct hp3_event *event)
{
	struct qp *q = qp_of(w, event);
	bool last = event->reason != HP3_RFR_IN_CAUGHT_UP && event->reason != HP3_RFR_IN_TX_AGAIN;

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

void world_check_event(struct world *w, const struct hp3_event *event)
{
	struct qp *q = qp_of(w, event);
	bool moves = event->type == HP3_EVENT_SWITCH || event->type == HP3_EVENT_IDLE_SWITCH ||
		     event->type == HP3_EVENT_SUSPEND || event->type == HP3_EVENT_FAILOVER;

	if (w->p.observe && moves)
		VIOLATION(w, "%s while only observing", hp3_event_name(event->type));
	if (moves && event->to != HOME_PORT + world_qp_at(w, event->flow, event->rqpn))
		world_check_silent(w, hp3_event_name(event->type));
	world_check_mode(w);
	if (moves && event->cause != HP3_CAUSE_SETUP)
		HARM(w, "queue pair %u: %s because of %s", event->rqpn - 0x2000,
			hp3_event_name(event->type), hp3_cause_name(event->cause));
	if (event->type == HP3_EVENT_IDLE_SWITCH && event->cause == HP3_CAUSE_SETUP &&
		world_is_failed(w, event->flow, event->to))
		VIOLATION(w, "begins on port %u, whose path has failed", event->to);
	w->r.idle += event->type == HP3_EVENT_IDLE_SWITCH;
	w->r.advice_taken +=
		event->cause == HP3_CAUSE_ADVICE && moves && event->type != HP3_EVENT_SUSPEND;
	w->r.recovered += event->type == HP3_EVENT_RECOVER;
	w->r.timeouts += event->type == HP3_EVENT_RECOVER && event->reason == HP3_RFR_IN_TIMEOUT;
	w->r.no_room += event->type == HP3_EVENT_RECOVER && event->reason == HP3_RFR_IN_HOLD_FULL;
	if (event->type == HP3_EVENT_SUSPEND)
		q->draining = true;
	else if (event->type == HP3_EVENT_SWITCH || event->type == HP3_EVENT_RECOVER ||
		 event->type == HP3_EVENT_EPOCH)
		q->draining = false;
	w->r.epochs += event->type == HP3_EVENT_EPOCH;
	w->r.severe += event->type == HP3_EVENT_SEVERE;
	w->r.would += event->type == HP3_EVENT_WOULD;
	w->r.outcomes += event->type == HP3_EVENT_OUTCOME;
	w->r.left_for_loss +=
		moves && event->type != HP3_EVENT_SUSPEND && event->cause == HP3_CAUSE_LOSS;
	switch (event->type) {
	case HP3_EVENT_SWITCH:
		world_check_wired(w, q, event);
		w->r.switched++;
		if (w->p.probes != HP3_PROBES_STANDARD && event->cause != HP3_CAUSE_MESSAGE_START &&
			!w->p.short_paths_move && world_lasts(w) > SHORT_FROM + MAX_RTT &&
			world_swallows(w, world_path(w, event->to, q->rqpn), MAX_PMTU))
			VIOLATION(w, "port %u swallows long packets (rule 33)", event->to);
		if (event->drain_ns > w->r.max_drain_ns)
			w->r.max_drain_ns = event->drain_ns;
		break;
	case HP3_EVENT_SUSPEND:
		q->closing = linear(q, event->close_psn, q->nxt);
		break;
	case HP3_EVENT_ROUND:
		check_round(w, event);
		break;
	case HP3_EVENT_FAILOVER:
		world_check_wired(w, q, event);
		check_failover(w, event);
		break;
	case HP3_EVENT_RESUME:
		check_resume(w, event);
		break;
	case HP3_EVENT_EPOCH:
		q->resuming = q->was_resuming = false;
		break;
	case HP3_EVENT_UNPAIR:
		q->closing = 0; /* nothing is decided by it any more */
		w->r.unpaired++;
		break;
	case HP3_EVENT_PAIR:
		w->r.paired++;
		world_check_wired(w, q, event);
		break;
	default:
		break;
	}
	world_rate_event(w, q, event);
}
