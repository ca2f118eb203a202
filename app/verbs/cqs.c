/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/verbs/shim.h"
#include "app/verbs/account.h"

static struct hp3v_key *unused_cqs;

static int count_completion(struct ibv_cq_ex *cq, int result)
{
	if (result != 0)
		return result;
	if (cq->status != IBV_WC_SUCCESS)
		hp3v_went_wrong(cq->context, cq->read_qp_num(cq));
	else if (!(cq->read_opcode(cq) & IBV_WC_RECV))
		hp3v_completed(cq->context, cq->read_qp_num(cq), 1);
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return count_completion(cq, hp3v_cq_of(cq)->start_poll(cq, attr));
}

static int next_poll(struct ibv_cq_ex *cq)
{
	return count_completion(cq, hp3v_cq_of(cq)->next_poll(cq));
}

void hp3v_cq_adopt(struct ibv_cq_ex *cq)
{
	struct hp3v_cq *c;

	if (cq->start_poll == NULL || cq->next_poll == NULL)
		return;
	hp3v_lock();
	c = hp3v_put(&unused_cqs, sizeof(*c), cq, HP3V_CQ);
	if (c != NULL) {
		c->start_poll = cq->start_poll;
		c->next_poll = cq->next_poll;
		cq->start_poll = start_poll;
		cq->next_poll = next_poll;
	}
	hp3v_unlock();
}

void hp3v_cq_forget(struct hp3v_cq *c)
{
	hp3v_lock();
	hp3v_remove(&unused_cqs, &c->key);
	hp3v_unlock();
}
