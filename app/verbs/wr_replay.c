/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/verbs/shim.h"
#include "app/verbs/account.h"
#include "app/verbs/hold.h"

void hp3v_ex_begin(struct hp3v_qp *q)
{
	uint64_t gate = __atomic_fetch_add(&q->gate, 1u, __ATOMIC_ACQ_REL);

	q->ops.wr_start(q->ex);
	q->alone = (gate & HP3V_INSIDE) == 0;
	q->built = 0;
	q->built_signalled = 0;
	q->built_bytes = 0;
	q->op_bytes = 0;
	q->op_begun = false;
}

/*
 * No request completes before the section ends, so the entry is written when its bytes are known.
 */
static void count_entry(struct hp3v_qp *q)
{
	uint64_t gate = 0;

	if (!q->op_begun)
		return;
	if (q->op_signalled)
		gate = __atomic_fetch_add(
			&q->gate, UINT64_C(1) << HP3V_SIGNALLED, __ATOMIC_RELAXED);
	hp3v_posting(q, q->op_bytes, q->op_signalled, (uint32_t)(gate >> HP3V_SIGNALLED));
	q->built++;
	q->built_signalled += q->op_signalled;
	q->built_bytes += q->op_bytes;
	q->op_begun = false;
}

void hp3v_ex_op(struct hp3v_qp *q)
{
	count_entry(q);
	q->op_begun = true;
	q->op_bytes = 0;
	q->op_signalled = hp3v_signalled(q, q->ex->wr_flags);
}

void hp3v_ex_build(struct hp3v_qp *q, const struct hp3v_held_wr *held)
{
	const struct ibv_send_wr *wr = &held->wr;
	struct ibv_qp_ex *ex = q->ex;
	uint64_t wr_id = ex->wr_id;
	unsigned int flags = ex->wr_flags;

	ex->wr_id = wr->wr_id;
	ex->wr_flags = wr->send_flags & ~(unsigned int)IBV_SEND_INLINE;
	hp3v_ex_op(q);
	hp3v_call_provider(q, &held->call);
	ex->wr_id = wr_id;
	ex->wr_flags = flags;
	for (int i = 0; i < wr->num_sge; i++)
		q->op_bytes += wr->sg_list[i].length;
	if (wr->send_flags & IBV_SEND_INLINE)
		q->ops.wr_set_inline_data(
			ex, (void *)(uintptr_t)wr->sg_list[0].addr, wr->sg_list[0].length);
	else if (wr->num_sge > 0)
		q->ops.wr_set_sge_list(ex, (size_t)wr->num_sge, wr->sg_list);
}

/* After wr_complete(), another thread may begin a section, so this copies the fields that it still
 * needs. */
int hp3v_ex_end(struct hp3v_qp *q)
{
	uint8_t was = __atomic_load_n(&q->tail, __ATOMIC_RELAXED);
	bool alone = q->alone;
	uint32_t built, signalled;
	uint64_t bytes;
	int error;

	if (q->op_begun)
		hp3v_set_tail(q, q->op_signalled);
	count_entry(q);
	built = q->built;
	signalled = q->built_signalled;
	bytes = q->built_bytes;
	error = q->ops.wr_complete(q->ex);
	if (error != 0) {
		hp3v_unpost(q, built, bytes);
		hp3v_set_tail(q, was);
	}
	hp3v_leave(q, alone, error == 0 ? 0 : signalled);
	return error;
}

void hp3v_ex_abort(struct hp3v_qp *q)
{
	bool alone = q->alone;
	uint32_t signalled;

	count_entry(q);
	signalled = q->built_signalled;
	hp3v_unpost(q, q->built, q->built_bytes);
	q->ops.wr_abort(q->ex);
	hp3v_leave(q, alone, signalled);
}
