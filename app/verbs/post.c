/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting and polling: counted on the way, no lock and no allocation while nothing moves. */
#include "app/verbs/post.h"
#include "app/verbs/account.h"
#include "app/verbs/hold.h"

int hp3v_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct hp3v_qp *q = hp3v_qp_of(qp->context, qp->qp_num);
	struct hp3v_sum sum;
	uint64_t gate, enter;
	int error;

	if (q == NULL)
		return hp3v_ctx_of(qp->context)->post_send(qp, wr, bad);
	sum = hp3v_sum(q, wr, NULL);
	enter = 1u + ((uint64_t)sum.signalled << HP3V_SIGNALLED);
	for (;;) {
		gate = __atomic_fetch_add(&q->gate, enter, __ATOMIC_ACQ_REL);
		if (__builtin_expect((gate & HP3V_SLOW) == 0, 1))
			return hp3v_post_counted(q, qp, wr, bad, &sum, gate);
		__atomic_fetch_sub(&q->gate, enter, __ATOMIC_RELEASE);
		if (hp3v_hold_post(q, &wr, bad, &error))
			return error;
		sum = hp3v_sum(q, wr, NULL); /* some of it may have been held, and let go */
		enter = 1u + ((uint64_t)sum.signalled << HP3V_SIGNALLED);
	}
}

/* Completions of one queue pair mostly come in a row: they are counted at once. */
int hp3v_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct ibv_context *context = cq->context;
	int got = hp3v_ctx_of(context)->poll_cq(cq, n, wc);
	uint32_t qpn = 0, run = 0;

	for (int i = 0; i < got; i++) {
		if (__builtin_expect(wc[i].status != IBV_WC_SUCCESS, 0)) {
			hp3v_went_wrong(context, wc[i].qp_num);
			continue;
		}
		if (wc[i].opcode & IBV_WC_RECV)
			continue;
		if (run > 0 && wc[i].qp_num != qpn) {
			hp3v_completed(context, qpn, run);
			run = 0;
		}
		qpn = wc[i].qp_num;
		run++;
	}
	if (run > 0)
		hp3v_completed(context, qpn, run);
	return got;
}
