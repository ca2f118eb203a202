/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/verbs/shim.h"
#include "app/verbs/account.h"
#include "app/verbs/hold.h"

#include <errno.h>
#include <string.h>

static struct hp3v_qp *qp_of_ex(const struct ibv_qp_ex *ex)
{
	return hp3v_qp_of(ex->qp_base.context, ex->qp_base.qp_num);
}

static void start_section(struct ibv_qp_ex *ex)
{
	struct hp3v_qp *q = qp_of_ex(ex);

	for (;;) {
		if (!(__atomic_load_n(&q->gate, __ATOMIC_ACQUIRE) & HP3V_SLOW)) {
			hp3v_ex_begin(q);
			if (!(__atomic_load_n(&q->gate, __ATOMIC_ACQUIRE) & HP3V_SLOW)) {
				q->section = HP3V_LIVE;
				return;
			}
			hp3v_ex_abort(q);
		}
		pthread_mutex_lock(&q->lock);
		if (q->hold != HP3V_OPEN)
			break;
		pthread_mutex_unlock(&q->lock);
	}
	if (q->hold == HP3V_HELD) {
		q->section = HP3V_RECORDED;
		q->section_from = q->held->count;
		return;
	}
	hp3v_ex_begin(q);
	q->section = HP3V_LOCKED;
}

/* The section does not fit into the pool: posts held requests first, then those of the section. */
static void go_live(struct hp3v_qp *q)
{
	uint32_t from = q->section_from, to = q->held->count;

	q->held->count = from;
	if (!hp3v_hold_give_up(q)) {
		q->section = HP3V_REFUSED;
		return;
	}
	hp3v_ex_begin(q);
	for (uint32_t i = from; i < to; i++)
		hp3v_ex_build(q, &q->held->ones[i]);
	q->section = HP3V_LOCKED;
}

static int complete_section(struct ibv_qp_ex *ex)
{
	struct hp3v_qp *q = qp_of_ex(ex);
	enum hp3v_section section = q->section;
	int error = 0;

	if (section == HP3V_LIVE)
		return hp3v_ex_end(q);
	if (section == HP3V_LOCKED) {
		error = hp3v_ex_end(q);
		hp3v_hold_try(q);
	} else if (section == HP3V_REFUSED)
		error = ENOMEM;
	q->section = HP3V_NO_SECTION;
	pthread_mutex_unlock(&q->lock);
	return error;
}

static void give_up(struct ibv_qp_ex *ex)
{
	struct hp3v_qp *q = qp_of_ex(ex);
	enum hp3v_section section = q->section;

	if (section == HP3V_LIVE || section == HP3V_LOCKED)
		hp3v_ex_abort(q);
	if (section == HP3V_LIVE)
		return;
	if (section == HP3V_RECORDED)
		q->held->count = q->section_from;
	q->section = HP3V_NO_SECTION;
	pthread_mutex_unlock(&q->lock);
}

/* A held request for the call; NULL: call the provider instead, if is_real(). */
static struct hp3v_held_wr *record_call(struct hp3v_qp *q)
{
	struct hp3v_held_wr *held;

	if (q->section != HP3V_RECORDED)
		return NULL;
	held = hp3v_held_add(q, true, q->held->count == q->section_from);
	if (held != NULL) {
		held->wr.wr_id = q->ex->wr_id;
		held->wr.send_flags = q->ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE;
	} else if (hp3v_held_is_full(q)) {
		q->held->count = q->section_from;
		q->section = HP3V_REFUSED;
	} else
		go_live(q);
	return held;
}

static bool is_real(struct hp3v_qp *q)
{
	if (q->section == HP3V_REFUSED)
		return false;
	hp3v_ex_op(q);
	return true;
}

/* The application's call: held if the section is recorded, otherwise made. */
static inline __attribute__((always_inline)) void post_call(
	struct ibv_qp_ex *ex, struct hp3v_call call)
{
	struct hp3v_qp *q = qp_of_ex(ex);
	struct hp3v_held_wr *held = record_call(q);

	if (held != NULL)
		held->call = call;
	else if (is_real(q))
		hp3v_call_provider(q, &call);
}

static void rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	post_call(ex, (struct hp3v_call){.opcode = IBV_WR_RDMA_WRITE, .rkey = rkey, .addr = addr});
}

static void rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, __be32 imm)
{
	post_call(ex, (struct hp3v_call){.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
			      .imm = imm,
			      .rkey = rkey,
			      .addr = addr});
}

static void rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	post_call(ex, (struct hp3v_call){.opcode = IBV_WR_RDMA_READ, .rkey = rkey, .addr = addr});
}

static void send_plain(struct ibv_qp_ex *ex)
{
	post_call(ex, (struct hp3v_call){.opcode = IBV_WR_SEND});
}

static void send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
	post_call(ex, (struct hp3v_call){.opcode = IBV_WR_SEND_WITH_IMM, .imm = imm});
}

static void send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	post_call(ex, (struct hp3v_call){.opcode = IBV_WR_SEND_WITH_INV, .imm = rkey});
}

static void local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	post_call(ex, (struct hp3v_call){.opcode = IBV_WR_LOCAL_INV, .imm = rkey});
}

static void cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t cmp, uint64_t swp)
{
	post_call(ex, (struct hp3v_call){.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
			      .rkey = rkey,
			      .addr = addr,
			      .compare_add = cmp,
			      .swap = swp});
}

static void fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, uint64_t add)
{
	post_call(ex, (struct hp3v_call){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			      .rkey = rkey,
			      .addr = addr,
			      .compare_add = add});
}

/* Not recorded, because the memory to which the window is bound could change meanwhile. */
static void bind_mw(
	struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct hp3v_qp *q = qp_of_ex(ex);

	if (q->section == HP3V_RECORDED)
		go_live(q);
	if (is_real(q))
		q->ops.wr_bind_mw(ex, mw, rkey, info);
}

static void atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr, const void *data)
{
	struct hp3v_qp *q = qp_of_ex(ex);

	if (q->section == HP3V_RECORDED)
		go_live(q);
	if (is_real(q))
		q->ops.wr_atomic_write(ex, rkey, addr, data);
}

static void set_sge_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_sge *list)
{
	struct hp3v_qp *q = qp_of_ex(ex);
	struct ibv_sge *sge = NULL;

	if (q->section == HP3V_RECORDED) {
		sge = hp3v_held_sges(q, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n);
		if (sge != NULL) {
			memcpy(sge, list, n * sizeof(*list));
			return;
		}
		go_live(q);
	}
	if (q->section == HP3V_REFUSED)
		return;
	for (size_t i = 0; i < n; i++)
		q->op_bytes += list[i].length;
	q->ops.wr_set_sge_list(ex, n, list);
}

static void set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct hp3v_qp *q = qp_of_ex(ex);
	struct ibv_sge sge = {addr, length, lkey};

	if (q->section == HP3V_RECORDED || q->section == HP3V_REFUSED) {
		set_sge_list(ex, 1, &sge);
		return;
	}
	q->op_bytes += length;
	q->ops.wr_set_sge(ex, lkey, addr, length);
}

static void set_inline_data_list(struct ibv_qp_ex *ex, size_t n, const struct ibv_data_buf *list)
{
	struct hp3v_qp *q = qp_of_ex(ex);
	uint64_t bytes = 0;
	char *data;

	for (size_t i = 0; i < n; i++)
		bytes += list[i].length;
	if (q->section == HP3V_RECORDED) {
		data = hp3v_held_inline(q, bytes);
		for (size_t i = 0; data != NULL && i < n; i++) {
			memcpy(data, list[i].addr, list[i].length);
			data += list[i].length;
		}
		if (data != NULL)
			return;
		go_live(q);
	}
	if (q->section == HP3V_REFUSED)
		return;
	q->op_bytes += bytes;
	q->ops.wr_set_inline_data_list(ex, n, list);
}

static void set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	struct hp3v_qp *q = qp_of_ex(ex);
	struct ibv_data_buf one = {addr, length};

	if (q->section == HP3V_RECORDED || q->section == HP3V_REFUSED) {
		set_inline_data_list(ex, 1, &one);
		return;
	}
	q->op_bytes += length;
	q->ops.wr_set_inline_data(ex, addr, length);
}

/*
 * Only calls of operations for which the queue pair was created exist. The struct of older
 * libraries ends before wr_atomic_write.
 */
void hp3v_ex_attach(struct hp3v_qp *q, struct ibv_qp *qp, uint64_t send_ops)
{
	struct ibv_qp_ex *ex =
		hp3v_real()->qp_to_qp_ex == NULL ? NULL : hp3v_real()->qp_to_qp_ex(qp);

	if (ex == NULL)
		return;
	q->ex = ex;
	memcpy(&q->ops, ex, offsetof(struct ibv_qp_ex, wr_atomic_write));
#define ATTACH(call, ours, flag)                                                                   \
	if (send_ops & (flag))                                                                     \
	ex->call = ours
	ATTACH(wr_rdma_write, rdma_write, IBV_QP_EX_WITH_RDMA_WRITE);
	ATTACH(wr_rdma_write_imm, rdma_write_imm, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
	ATTACH(wr_rdma_read, rdma_read, IBV_QP_EX_WITH_RDMA_READ);
	ATTACH(wr_send, send_plain, IBV_QP_EX_WITH_SEND);
	ATTACH(wr_send_imm, send_imm, IBV_QP_EX_WITH_SEND_WITH_IMM);
	ATTACH(wr_send_inv, send_inv, IBV_QP_EX_WITH_SEND_WITH_INV);
	ATTACH(wr_local_inv, local_inv, IBV_QP_EX_WITH_LOCAL_INV);
	ATTACH(wr_atomic_cmp_swp, cmp_swp, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP);
	ATTACH(wr_atomic_fetch_add, fetch_add, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD);
	ATTACH(wr_bind_mw, bind_mw, IBV_QP_EX_WITH_BIND_MW);
#undef ATTACH
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_WRITE) {
		q->ops.wr_atomic_write = ex->wr_atomic_write;
		ex->wr_atomic_write = atomic_write;
	}
	ex->wr_set_sge = set_sge;
	ex->wr_set_sge_list = set_sge_list;
	ex->wr_set_inline_data = set_inline_data;
	ex->wr_set_inline_data_list = set_inline_data_list;
	ex->wr_start = start_section;
	ex->wr_complete = complete_section;
	ex->wr_abort = give_up;
}
