/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/ud/queue.h"

void hp3d_ud_counter_of(struct ibv_context *context, uint64_t *mask, uint64_t *khz)
{
	struct verbs_context *v = verbs_get_ctx_op(context, query_device_ex);
	struct ibv_device_attr_ex attr = {0};

	*mask = *khz = 0;
	if (verbs_get_ctx_op(context, create_cq_ex) == NULL || v == NULL ||
		v->query_device_ex(context, NULL, &attr, sizeof(attr)) != 0)
		return;
	*mask = attr.completion_timestamp_mask;
	*khz = attr.hca_core_clock;
}

int hp3d_ud_queue_make(struct hp3d_ud_queue *q, const struct hp3d_ibverbs *v,
	struct ibv_context *context, int entries, struct ibv_comp_channel *channel, bool stamps)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = (uint32_t)entries,
		.channel = channel,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct verbs_context *ctx = verbs_get_ctx_op(context, create_cq_ex);

	q->ex = NULL;
	if (!stamps)
		q->cq = v->create_cq(context, entries, NULL, channel, 0);
	else if (ctx != NULL && (q->ex = ctx->create_cq_ex(context, &attr)) != NULL)
		q->cq = ibv_cq_ex_to_cq(q->ex);
	else
		q->cq = NULL;
	return q->cq != NULL ? 0 : -1;
}

void hp3d_ud_queue_close(struct hp3d_ud_queue *q, const struct hp3d_ibverbs *v)
{
	if (q->cq != NULL)
		v->destroy_cq(q->cq);
	q->cq = NULL;
	q->ex = NULL;
}

static bool take_stamped(struct ibv_cq_ex *ex, struct hp3d_ud_done *done)
{
	struct ibv_poll_cq_attr attr = {0};

	if (ibv_start_poll(ex, &attr) != 0)
		return false;
	*done = (struct hp3d_ud_done){.wr_id = ex->wr_id, .good = ex->status == IBV_WC_SUCCESS};
	if (done->good) { /* of a failed completion, only wr_id and status are valid */
		done->bytes = ibv_wc_read_byte_len(ex);
		done->flags = ibv_wc_read_wc_flags(ex);
		done->ticks = ibv_wc_read_completion_ts(ex);
	}
	ibv_end_poll(ex);
	return true;
}

bool hp3d_ud_queue_take(struct hp3d_ud_queue *q, struct hp3d_ud_done *done)
{
	struct ibv_wc wc;

	if (q->ex != NULL)
		return take_stamped(q->ex, done);
	if (ibv_poll_cq(q->cq, 1, &wc) <= 0)
		return false;
	*done = (struct hp3d_ud_done){.wr_id = wc.wr_id,
		.bytes = wc.byte_len,
		.flags = wc.wc_flags,
		.good = wc.status == IBV_WC_SUCCESS};
	return true;
}
