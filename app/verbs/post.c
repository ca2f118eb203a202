/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting and polling, with counting: without locks and allocations unless a queue pair moves. The
 * frequent cases (one work request, an empty poll) are short; all others are in separate functions,
 * so that they cost no registers.
 */
#include "app/verbs/account.h"
#include "app/verbs/hold.h"
#include "app/verbs/shim.h"

/* The provider's poll_cq if all contexts have the same one; else a function that looks it up per
 * context. */
static int (*provider_poll)(struct ibv_cq *cq, int n, struct ibv_wc *wc);

/* Without these bits (no other thread inside, no move), a post takes the short path. */
#define TAKEN (HP3V_SLOW | HP3V_INSIDE)
/* IBV_SEND_SIGNALED times this is one signalled work request in the gate. */
#define SIGNALLED_ONE ((UINT64_C(1) << HP3V_SIGNALLED) / IBV_SEND_SIGNALED)

/* All posts that do not take the short path. */
static __attribute__((noinline)) int post_long(
	struct hp3v_qp *q, struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct hp3v_sum sum;
	uint64_t gate;
	int error;

	if (q == NULL)
		return hp3v_ctx_of(qp->context)->post_send(qp, wr, bad);
	for (;;) { /* part of the chain may have been held, and the hold may end */
		sum = hp3v_sum(q, wr, NULL);
		gate = __atomic_fetch_add(
			&q->gate, hp3v_gate_increment(sum.signalled), __ATOMIC_ACQ_REL);
		if (__builtin_expect((gate & HP3V_SLOW) == 0, 1))
			return hp3v_post_counted(q, qp, wr, bad, &sum, gate);
		__atomic_fetch_sub(&q->gate, hp3v_gate_increment(sum.signalled), __ATOMIC_RELEASE);
		if (hp3v_hold_post(q, &wr, bad, &error))
			return error;
	}
}

/* A post that has already entered, when q->gate was `gate`. */
static __attribute__((noinline)) int post_on(struct hp3v_qp *q, struct ibv_qp *qp,
	struct ibv_send_wr *wr, struct ibv_send_wr **bad, uint64_t gate)
{
	const struct hp3v_sum sum = hp3v_sum(q, wr, NULL);

	if (!(gate & HP3V_SLOW))
		return hp3v_post_counted(q, qp, wr, bad, &sum, gate);
	__atomic_fetch_sub(&q->gate, hp3v_gate_increment(sum.signalled), __ATOMIC_RELEASE);
	return post_long(q, qp, wr, bad);
}

static __attribute__((noinline)) int refused(struct hp3v_qp *q, struct ibv_send_wr *wr, int error)
{
	hp3v_leave(q, true, hp3v_take_back(q, wr, wr));
	return error;
}

int hp3v_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct hp3v_qp *q = hp3v_qp_of(qp->context, qp->qp_num);
	struct hp3_verbs_cell *c;
	uint64_t gate, wrs, bytes;
	uint32_t signal, at;
	int error;

	if (__builtin_expect(q == NULL || wr == NULL || wr->next != NULL, 0))
		return post_long(q, qp, wr, bad);
	signal = hp3v_signal_of(q, wr->send_flags);
	gate = __atomic_fetch_add(
		&q->gate, 1u + (uint64_t)signal * SIGNALLED_ONE, __ATOMIC_ACQ_REL);
	if (__builtin_expect((gate & TAKEN) != 0 || wr->num_sge != 1, 0))
		return post_on(q, qp, wr, bad, gate);
	c = q->cell;
	wrs = hp3v_get(&c->posted_wrs) + 1u;
	bytes = hp3v_get(&c->posted_bytes) + wr->sg_list->length;
	if (signal) {
		at = (uint32_t)(gate >> HP3V_SIGNALLED);
		if (__builtin_expect(hp3v_is_due(q, at), 0))
			return post_on(q, qp, wr, bad, gate);
		hp3v_enter(q, at, wrs, bytes);
	}
	hp3v_set(&c->posted_wrs, wrs);
	hp3v_set(&c->posted_bytes, bytes);
	error = q->post_send(qp, wr, bad);
	if (__builtin_expect(error != 0, 0))
		return refused(q, wr, error);
	hp3v_set_tail(q, signal);
	/* threads that entered later have counted this one */
	__atomic_fetch_sub(&q->gate, 1u, __ATOMIC_RELEASE);
	return 0;
}

/* Completions of one queue pair often follow each other: count them together. */
static __attribute__((noinline)) int take_many(
	const struct ibv_context *context, const struct ibv_wc *wc, int n)
{
	const struct ibv_wc *end = wc + n;
	uint32_t qpn = 0, run = 0;

	for (; wc != end; wc++) {
		if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0)) {
			hp3v_went_wrong(context, wc->qp_num);
			continue;
		}
		if (wc->opcode & IBV_WC_RECV)
			continue;
		if (__builtin_expect(run > 0 && wc->qp_num != qpn, 0)) {
			hp3v_completed(context, qpn, run);
			run = 0;
		}
		qpn = wc->qp_num;
		run++;
	}
	if (run > 0)
		hp3v_completed(context, qpn, run);
	return n;
}

static __attribute__((noinline)) int take(
	const struct ibv_context *context, const struct ibv_wc *wc, int n)
{
	if (n != 1 || wc->status != IBV_WC_SUCCESS || (wc->opcode & IBV_WC_RECV))
		return take_many(context, wc, n);
	hp3v_completed(context, wc->qp_num, 1);
	return 1;
}

static int poll_of_context(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return hp3v_ctx_of(cq->context)->poll_cq(cq, n, wc);
}

void hp3v_poll_by(int (*poll_cq)(struct ibv_cq *cq, int n, struct ibv_wc *wc))
{
	if (provider_poll != NULL && provider_poll != poll_cq)
		poll_cq = poll_of_context;
	__atomic_store_n(&provider_poll, poll_cq, __ATOMIC_RELEASE);
}

int hp3v_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	int got = __atomic_load_n(&provider_poll, __ATOMIC_RELAXED)(cq, n, wc);

	return __builtin_expect(got > 0, 1) ? take(cq->context, wc, got) : got;
}
