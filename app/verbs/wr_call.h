/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * An extended call that posts a work request. The function hp3v_call_provider() makes the call. It
 * is inline: for a constant operation, only the call remains in the code.
 */
#include "app/verbs/shim.h"

struct hp3v_call {
	enum ibv_wr_opcode opcode;
	uint32_t imm; /* immediate data, or the rkey to invalidate */
	uint32_t rkey;
	uint64_t addr, compare_add, swap; /* compare_add, swap: of atomics */
};

static inline __attribute__((always_inline)) void hp3v_call_provider(
	struct hp3v_qp *q, const struct hp3v_call *c)
{
	struct ibv_qp_ex *ex = q->ex;
	const struct ibv_qp_ex *ops = &q->ops;

	switch (c->opcode) {
	case IBV_WR_RDMA_WRITE:
		ops->wr_rdma_write(ex, c->rkey, c->addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ops->wr_rdma_write_imm(ex, c->rkey, c->addr, c->imm);
		break;
	case IBV_WR_RDMA_READ:
		ops->wr_rdma_read(ex, c->rkey, c->addr);
		break;
	case IBV_WR_SEND:
		ops->wr_send(ex);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ops->wr_send_imm(ex, c->imm);
		break;
	case IBV_WR_SEND_WITH_INV:
		ops->wr_send_inv(ex, c->imm);
		break;
	case IBV_WR_LOCAL_INV:
		ops->wr_local_inv(ex, c->imm);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ops->wr_atomic_cmp_swp(ex, c->rkey, c->addr, c->compare_add, c->swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ops->wr_atomic_fetch_add(ex, c->rkey, c->addr, c->compare_add);
		break;
	default: /* no other operation is recorded */
		break;
	}
}
