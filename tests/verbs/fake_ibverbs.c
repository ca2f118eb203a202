/* SPDX-License-Identifier: BSD-3-Clause */
/* libibverbs.so.1 of these tests: names and versions of the real one, fake devices. */
#include "tests/verbs/fake.h"

#include <stdlib.h>
#include <string.h>

static const struct fake_calls *calls_of(const struct ibv_context *context)
{
	return ((struct fake_device *)context->device)->calls;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake_device *d = (struct fake_device *)device;

	return d->calls->open(d);
}

int ibv_close_device(struct ibv_context *context)
{
	return calls_of(context)->close(context);
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));

	pd->context = context;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
	struct ibv_comp_channel *channel, int vector)
{
	struct ibv_cq *cq = calloc(1, sizeof(*cq));

	cq->context = context;
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return calls_of(pd->context)->create_qp(pd, attr);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int error = calls_of(qp->context)->modify_qp(qp, attr, mask);

	if (error == 0 && (mask & IBV_QP_STATE))
		qp->state = attr->qp_state; /* as libibverbs does */
	return error;
}

int ibv_query_qp(
	struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	int error = calls_of(qp->context)->query_qp(qp, attr, mask, init);

	if (error == 0 && (mask & IBV_QP_STATE))
		qp->state = attr->qp_state; /* as libibverbs does */
	return error;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	return calls_of(qp->context)->destroy_qp(qp);
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	gid->raw[10] = gid->raw[11] = 0xff;
	gid->raw[12] = 10;
	gid->raw[15] = (uint8_t)index;
	return 0;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	return calls_of(context)->get_async_event(context, event);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
	return (struct ibv_qp_ex *)qp;
}
