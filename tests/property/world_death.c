/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue pair ends by a fatal NAK, or when the RNIC has used up its retries (retry_cnt). Its
 * application soon makes another one, on the same QPNs.
 *
 * Running out of retries is valid only if each retry had a cause since the one before: a packet of
 * the queue pair was lost, damaged or held by a path; its peer is gone; or its RNIC, after CNPs, is
 * too slow for its own timer.
 */
#include "world_internal.h"

#define RETRY_CNT 7u
#define MADE_NEW  (5000 * US)

static void die(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];

	q->dead = true;
	q->idle = false;
	q->rto.t = 0;
	q->send_timer++;
	w->r.died++;
	world_at(w, 1 + rnd(w, MADE_NEW), EVENT_NEW_QP, i, q->epoch);
}

void world_fatal(struct world *w, uint32_t i)
{
	w->r.fatal++;
	die(w, i);
}

/*
 * CNPs have slowed the RNIC down so much that its timer goes off before it has sent again all of
 * the message that it went back to: no answer completes that, whatever comes through. Or it has
 * just done so, and the answer is on its way.
 */
static bool is_too_slow(const struct world *w, uint32_t i)
{
	const struct qp *q = &w->qps[i];

	uint64_t end = w->ring[i][q->una % RING].end;

	return q->throttle > LINE_GAP && (q->nxt < end || (q->nxt - end) * q->throttle < MAX_RTT);
}

/* True: it goes back, unless it has done so for the same loss; its timer knows of another one. */
bool world_retry(struct world *w, uint32_t i, bool timeout)
{
	struct qp *q = &w->qps[i];

	if (q->retrying && !timeout)
		return false;
	q->retrying = true;
	if (q->hurt <= q->tried && !q->gone && !(timeout && is_too_slow(w, i))) {
		q->unfair = true;
		w->r.unfair++;
	}
	q->tried = w->now;
	if (q->retries++ < RETRY_CNT)
		return true;
	if (q->unfair && w->p.news)
		VIOLATION(w, "queue pair %u dies, and nothing of it was lost", i);
	w->r.gave_up++;
	die(w, i);
	return false;
}

/* What retries were for has come. */
void world_retried(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];

	q->retries = 0;
	q->retrying = q->unfair = false;
}

void world_new_qp(struct world *w, const struct event *event)
{
	if (event->gen == w->qps[event->qp].epoch)
		world_setup_qp(w, event->qp, world_start_psn(w));
}
