/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The completer of an RNIC, as in Soft-RoCE, which checks the PSN before the syndrome. A reply with
 * a PSN after the oldest work request completes it if it is a SEND or WRITE, even if the reply is a
 * NAK; for a READ or ATOMIC it means that the response was lost (implicit NAK). An ACK within a
 * READ replaces its data. No request completes before it was sent (again).
 *
 * So a wrong reply that hp3 makes, causes or passes completes a request that was never executed,
 * which is detected here.
 */
#include "world_internal.h"

static void progress(struct world *w, uint32_t i, uint64_t una)
{
	struct qp *q = &w->qps[i];
	uint64_t took;

	if (una <= q->una)
		return;
	world_retried(w, i);
	q->una = una;
	if (q->nxt < una)
		q->nxt = una;
	if (w->p.selective && una < q->recover && !w->got[i][una % RING] && q->rtx_end <= una) {
		q->rtx = una;
		q->rtx_end = q->got_high > una + 1 ? q->got_high : una + 1;
	}
	if (q->fo_since != 0) {
		took = w->now - q->fo_since;
		w->r.progressed++;
		w->r.progress_ns += took;
		if (took > w->r.max_progress_ns)
			w->r.max_progress_ns = took;
		q->fo_since = 0;
	}
	if (q->asks > q->una)
		world_arm_rto(w, i);
	else
		q->rto.t = 0; /* nothing asks for an answer: it does not run */
	world_wake(w, i);
}

static void complete(struct world *w, uint32_t i, const struct desc *d)
{
	struct qp *q = &w->qps[i];

	if (d->end > q->exp)
		VIOLATION(w, "queue pair %u completed what was not executed: %llu > %llu", i,
			(unsigned long long)d->end, (unsigned long long)q->exp);
	q->done = d->end;
	q->in_read = false;
	progress(w, i, d->end);
}

/* A READ response, or an ATOMIC ACK. */
static void data(
	struct world *w, uint32_t i, const struct desc *d, const struct hp3_view *v, uint64_t lin)
{
	struct qp *q = &w->qps[i];

	if (!is_read(d->opcode)) {
		VIOLATION(w, "READ data for queue pair %u, which has a WRITE to complete", i);
		return;
	}
	q->in_read = true;
	progress(w, i, lin + 1);
	if (lin + 1 == d->end)
		complete(w, i, d);
}

static void refused(struct world *w, uint32_t i, uint64_t lin, uint8_t syndrome)
{
	struct qp *q = &w->qps[i];

	if (syndrome == (HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE)) {
		progress(w, i, lin);
		HARM(w, "the RNIC of queue pair %u is told to go back", i);
		if (!q->rnr_wait && world_retry(w, i, false))
			world_go_back(w, i);
	} else if (HP3_SYN_KIND(syndrome) == HP3_SYN_NAK) {
		world_fatal(w, i);
	} else if (!q->rnr_wait) {
		q->rnr_wait = true;
		w->r.rnrs++;
		world_at(w, (w->p.rnr_us ? w->p.rnr_us : 700) * US, EVENT_RNR_OVER, i, q->epoch);
	}
}

/*
 * The one plain ACK that may be kept back: it lies within a READ or ATOMIC whose data have not
 * come, though the RNIC may just be going back to it, and a duplicate of ours may have provoked it.
 * It would stand for the data.
 */
static bool stands_for_data(const struct world *w, uint32_t i, uint64_t lin)
{
	const struct qp *q = &w->qps[i];

	return lin >= q->una && lin < q->high && is_read(w->ring[i][lin % RING].opcode) &&
	       w->now < q->asked_until;
}

/*
 * Responses to a READ behind this PSN have reached hp3d, and acknowledge it. Between them, the RNIC
 * must get no ACK. If all are damaged, or were lost on the way to the RNIC, it sends the READ
 * again.
 */
static bool is_behind_responses(const struct world *w, uint32_t i, uint64_t lin)
{
	const struct qp *q = &w->qps[i];
	struct hp3_flow_info info = {0};
	uint64_t una;

	if (hp3_flow_info(w->e, q->flow, w->now, &info) < 0)
		return false;
	una = linear(q, info.una, q->una);
	for (uint64_t l = lin; l < una && l < q->made; l = w->ring[i][l % RING].end) {
		if (is_read(w->ring[i][l % RING].opcode))
			return w->now < q->asked_until;
	}
	return false;
}

bool world_is_news(const struct world *w, uint32_t i, const struct hp3_view *v)
{
	const struct qp *q = &w->qps[i];
	uint64_t lin = linear(q, v->psn, q->una);

	if (v->flags & (HP3_VF_READ | HP3_VF_ATOMIC))
		return lin >= q->una;
	if (HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK || v->syndrome != q->credit_seen)
		return true;
	return lin >= q->una && lin < q->high && !stands_for_data(w, i, lin) &&
	       !is_behind_responses(w, i, lin);
}

/* The RNIC gets an answer to a duplicate of ours. Rule 25 has a limit: a later answer reaches it.
 */
static void judge_answer(struct world *w, uint32_t i, const char *what)
{
	if (w->now < w->qps[i].asked_until)
		VIOLATION(w, "%s, queue pair %u", what, i);
	w->r.late_answers++;
	HARM(w, "%s, queue pair %u", what, i);
}

void world_rnic_reply(struct world *w, uint32_t i, const struct hp3_view *v, bool ours)
{
	struct qp *q = &w->qps[i];
	uint64_t lin = linear(q, v->psn, q->una);
	bool is_data = v->flags & (HP3_VF_READ | HP3_VF_ATOMIC);
	uint8_t kind = is_data ? HP3_SYN_ACK : HP3_SYN_KIND(v->syndrome);

	if (!is_data && kind == HP3_SYN_ACK)
		q->credit_seen = v->syndrome;
	for (;;) {
		const struct desc *d = &w->ring[i][q->done % RING];

		if (q->nxt == q->una || q->done == q->made || q->dead)
			return; /* nothing was sent (again) that a reply could speak of */
		if (lin >= d->end) {
			if (q->nxt < d->end)
				return;
			if (is_read(d->opcode)) {
				HARM(w, "an ACK overtakes READ data, queue pair %u", i);
				if (world_retry(w, i, false))
					world_go_back(w, i);
				return;
			}
			complete(w, i, d);
			continue;
		}
		if (lin < q->una) {
			if (!is_data && q->in_read && ours)
				judge_answer(w, i, "an ACK of ours breaks a READ");
			return;
		}
		if (is_read(d->opcode)) {
			if (is_data && lin == q->una)
				data(w, i, d, v, lin);
			else if (!is_data && ours && kind == HP3_SYN_ACK)
				judge_answer(w, i, "a reply of ours stands for READ data");
			else if (!is_data && kind != HP3_SYN_ACK && lin == q->una)
				refused(w, i, lin, v->syndrome);
			return;
		}
		if (is_data) {
			data(w, i, d, v, lin);
		} else if (kind != HP3_SYN_ACK) {
			refused(w, i, lin, v->syndrome);
		} else if (lin + 1 == d->end && q->nxt >= d->end) {
			complete(w, i, d);
		} else {
			progress(w, i, lin + 1);
		}
		return;
	}
}
