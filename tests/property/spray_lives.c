/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs end while their packets are on their way, and others with the same QPNs at both ends
 * and another PSN take their places. Watchers tell the engines of both, now and then late or not at
 * all.
 */
#include "spray_inside.h"

#define LEAST    64u /* packets: fewer are not worth another queue pair */
#define NEAR     2000u /* PSNs */
#define TIMEWAIT 500u /* us, for packets on their way (IBTA 12.9.8.4) */
#define PAUSE    2000u /* us, at most, besides */
#define LATE_US  TIMEWAIT /* ends are told of before the next one begins */

/* Half of all begin near the PSNs of the one before, or at the same one. */
static uint32_t next_first(struct world *w, const struct requester *before)
{
	uint32_t psn = before->first + before->nxt + hp3_random_below(&w->rng, NEAR);

	switch (hp3_random_below(&w->rng, 4)) {
	case 0:
		return before->first;
	case 1:
		return (psn - NEAR / 2) & HP3_PSN_MASK;
	default:
		return (uint32_t)hp3_random(&w->rng) & HP3_PSN_MASK;
	}
}

/* Watchers tell of a queue pair in the order in which things happen. */
static void tell(struct world *w, unsigned at, uint32_t qp, enum hp3_qp_kind kind, uint64_t t)
{
	uint32_t how = hp3_random_below(&w->rng, 100);
	uint64_t *reported = &w->reported[at][qp];

	if (how < w->p.untold_percent)
		return;
	if (how < 2 * w->p.untold_percent)
		t += hp3_random_below(&w->rng, LATE_US) * US;
	t += hp3_random_below(&w->rng, w->p.report_delay_us * 1000);
	*reported = t <= *reported ? *reported + 1 : t;
	spray_at(w, *reported,
		(struct event){.kind = EVENT_REPORTED,
			.host = (uint8_t)at,
			.qp = qp,
			.reported = (uint8_t)kind,
			.first = w->qp[qp].first});
}

void spray_return(struct world *w)
{
	uint32_t qp = hp3_random_below(&w->rng, w->p.qps);
	struct requester *q = &w->qp[qp];
	uint64_t ready = w->now + (TIMEWAIT + hp3_random_below(&w->rng, PAUSE)) * US;
	uint32_t first = next_first(w, q);

	spray_every(w, w->p.returns_us, EVENT_RETURNS, 0);
	if (q->total - q->una < LEAST || w->now < q->ready)
		return;
	spray_begin_anew(w, qp, q->total - q->una);
	q->first = first;
	q->ready = ready;
	for (unsigned at = A; at <= B; at++) {
		tell(w, at, qp, HP3_QP_DOWN, w->now);
		tell(w, at, qp, HP3_QP_UP, ready - 1);
	}
	if (!q->emitting) {
		q->emitting = true;
		spray_at(w, ready, (struct event){.kind = EVENT_EMIT, .qp = qp});
	}
	w->r.returned++;
}
