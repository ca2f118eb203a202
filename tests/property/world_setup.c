/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair begins a life; its RNIC's timers. */
#include "world_internal.h"
#include <string.h>

void world_setup_qp(struct world *w, uint32_t i, uint32_t start)
{
	struct qp *q = &w->qps[i];
	uint32_t was;
	uint64_t lead = w->p.lead_us != 0 ? 1 + rnd(w, w->p.lead_us) * US : rnd(w, 5000);

	was = wire(q, q->high);
	q->epoch++;
	q->una = q->nxt = q->made = q->exp = q->done = q->high = RING; /* lin may go back */
	q->shown = q->got_high = q->contig = q->rtx = q->rtx_end = q->recover = RING;
	q->nak_psn = 0; /* below the first: none was handed over */
	q->written = q->retries = 0;
	q->dead = q->gone = q->retrying = q->unfair = false;
	q->tried = q->hurt = w->now;
	q->last_first = q->closing = q->asks = q->throttle = 0;
	q->start = (start - RING) & HP3_PSN_MASK;
	q->inv_end = 0;
	q->old_end = q->epoch == 1 ? 0 : linear(q, was, RING);
	q->was_resuming |= q->resuming;
	q->nak_sent = q->rnr_wait = q->idle = q->deaf = q->in_read = q->resuming = q->ack_due =
		q->started = false;
	q->resync = true;
	q->fo_since = q->thinks_until = 0;
	q->heard = RING;
	q->credit = q->credit_seen = 0;
	q->rto.t = 0;
	q->send_timer++;
	q->since_ack = 0;
	if (w->p.selective)
		memset(w->got[i], 0, sizeof(w->got[i]));
	if ((w->p.cm && (q->epoch == 1 || w->p.reconnect_every_us == 0)) || w->p.lead_us != 0)
		world_announce(w, i);
	if (w->p.up_late_us != 0)
		world_announce_late(w, i);
	world_at(w, w->p.lockstep ? 1000 : lead, EVENT_SEND, i, q->send_timer);
}

void world_rnr_over(struct world *w, const struct event *event)
{
	struct qp *q = &w->qps[event->qp];

	if (event->gen != q->epoch || !q->rnr_wait)
		return;
	q->rnr_wait = false;
	world_go_back(w, event->qp);
}

static void push_rto(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];
	const struct event event = {.when = q->rto, .kind = EVENT_RTO, .qp = i};

	q->rto_due = true;
	heap_put_numbered(&w->heap, &event.when, sizeof(event));
}

/* It is set again by nearly every reply, always later: one event waits, and is put off when it
 * comes. */
void world_arm_rto(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];

	q->rto = (struct heap_when){w->now + w->rto_ns, w->heap.seq++};
	if (!q->rto_due)
		push_rto(w, i);
}

void world_rto(struct world *w, const struct event *event)
{
	struct qp *q = &w->qps[event->qp];

	q->rto_due = false;
	if (q->rto.t != 0 && q->rto.seq != event->seq)
		push_rto(w, event->qp);
	if (q->rto.t == 0 || q->rto.seq != event->seq || q->una == q->high || q->rnr_wait)
		return;
	w->r.rtos++;
	HARM(w, "time-out of queue pair %u", event->qp);
	if (world_retry(w, event->qp, true))
		world_go_back(w, event->qp);
}
