/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/verbs/move.h"

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

/* The UDP source port that the kernel derives from a flow label. */
static uint16_t port_of_label(uint32_t flow_label)
{
	return (uint16_t)(((flow_label & 0x3fff) ^ (flow_label & 0xfc000) >> 14) | 0xc000);
}

/*
 * Without a flow label, mlx5 and Soft-RoCE derive a label from the QPNs, as rdma_get_udp_sport() of
 * the kernel does.
 */
uint16_t hp3v_home_of(const struct hp3v_qp *q)
{
	uint64_t v = (uint64_t)q->qp->qp_num * q->dest_qpn;

	if (q->av.grh.flow_label != 0)
		return port_of_label(q->av.grh.flow_label);
	v ^= v >> 20;
	v ^= v >> 40;
	return q->ctx->draws_otherwise ? 0 : port_of_label((uint32_t)v & 0xfffff);
}

uint32_t hp3v_label_of(uint16_t port)
{
	return port == 0xc000 ? 0x4001 : port & 0x3fff;
}

/*
 * libibverbs writes the new state to struct ibv_qp. The application may read it there at any time:
 * UCX with assertions ends if this state is not RTS when it posts. So the state that the
 * application set is written back. Another thread can read SQD between the two writes.
 */
static int modify_unseen(struct hp3v_qp *q, struct ibv_qp_attr *attr, int mask)
{
	int error = hp3v_real()->modify_qp(q->qp, attr, mask);

	if (error == 0)
		__atomic_store_n(&q->qp->state, q->state, __ATOMIC_RELAXED);
	return error;
}

/*
 * With IBV_QP_STATE in the mask, libibverbs would write the state to struct ibv_qp, too. Kernel and
 * providers return the state with any mask.
 */
static int query_unseen(struct hp3v_qp *q, struct ibv_qp_attr *attr)
{
	struct ibv_qp_init_attr init;

	return hp3v_real()->query_qp(q->qp, attr, IBV_QP_CUR_STATE, &init);
}

int hp3v_sqd_begin(struct hp3v_qp *q)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD}, now = {0};
	int error = modify_unseen(q, &attr, IBV_QP_STATE);

	if (error != EINVAL)
		return error;
	if (query_unseen(q, &now) == 0 && now.qp_state == IBV_QPS_RTS)
		return EOPNOTSUPP;
	return EIO;
}

static void ring_doorbell(struct hp3v_qp *q)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send cmd;
	} doorbell = {0};
	struct ib_uverbs_post_send_resp answer;

	doorbell.hdr.command = IB_USER_VERBS_CMD_POST_SEND;
	doorbell.hdr.in_words = sizeof(doorbell) / 4u;
	doorbell.hdr.out_words = sizeof(answer) / 4u;
	doorbell.cmd.response = (uintptr_t)&answer;
	doorbell.cmd.qp_handle = q->qp->handle;
	doorbell.cmd.wqe_size = sizeof(struct ibv_send_wr);
	if (write(q->qp->context->cmd_fd, &doorbell, sizeof(doorbell)) < 0)
		return; /* an RNIC with user-space doorbells needs none */
}

/*
 * Soft-RoCE (Linux 6.1, complete_ack()) checks for the end of the drain before it counts the last
 * acknowledgement. It checks again only when its requester runs: at the next post, or by a timer
 * while a packet is unacknowledged. An application that waits for a posted request that has not
 * been sent would wait for ever, hence the doorbell.
 */
int hp3v_sqd_drained(struct hp3v_qp *q)
{
	struct ibv_qp_attr attr = {0};

	if (query_unseen(q, &attr) != 0 || attr.qp_state != IBV_QPS_SQD)
		return EIO;
	if (!attr.sq_draining)
		return 0;
	ring_doorbell(q);
	return EAGAIN;
}

/*
 * While the send queue drains, the kernel refuses a change of state, but not a change of only the
 * path.
 */
int hp3v_sqd_turn(struct hp3v_qp *q, uint16_t port, bool now)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_SQD, .ah_attr = q->av};

	attr.ah_attr.grh.flow_label = hp3v_label_of(port);
	return modify_unseen(q, &attr, now ? IBV_QP_AV : IBV_QP_STATE | IBV_QP_AV);
}

int hp3v_sqd_end(struct hp3v_qp *q)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	int error = modify_unseen(q, &attr, IBV_QP_STATE);

	if (error == 0)
		ring_doorbell(q);
	return error;
}
