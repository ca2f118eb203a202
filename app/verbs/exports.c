/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that this library overrides. Programs find all others in libibverbs, with which this
 * library is linked. Only version IBVERBS_1.1: programs linked with IBVERBS_1.0 have other
 * structures, and are not handled.
 */
#include "app/clock.h"
#include "app/verbs/move.h"
#include "app/verbs/qps.h"
#include "app/verbs/shim.h"
#include "app/verbs/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

static bool is_off(void)
{
	const char *word = secure_getenv("HP3_VERBS");

	return word != NULL && strcmp(word, "off") == 0;
}

static struct ibv_context *adopt_context(struct ibv_context *context)
{
	if (context != NULL && !is_off())
		hp3v_ctx_adopt(context);
	return context;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return adopt_context(hp3v_real()->open_device(device));
}

EXPORT struct ibv_context *ibv_import_device(int cmd_fd)
{
	if (hp3v_real()->import_device == NULL) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return adopt_context(hp3v_real()->import_device(cmd_fd));
}

EXPORT int ibv_close_device(struct ibv_context *context)
{
	struct hp3v_ctx *ctx = hp3v_ctx_of(context);

	if (ctx != NULL)
		hp3v_ctx_forget(ctx);
	return hp3v_real()->close_device(context);
}

/*
 * Contexts may be opened without ibv_open_device() (mlx5dv, librdmacm), so this function also
 * adopts the context.
 */
static struct hp3v_qp *adopt_qp(
	struct ibv_qp *qp, const struct ibv_qp_cap *cap, enum ibv_qp_type type, int sig_all)
{
	struct hp3v_ctx *ctx;

	if (type != IBV_QPT_RC || is_off())
		return NULL;
	ctx = hp3v_ctx_adopt(qp->context);
	return ctx == NULL ? NULL : hp3v_qp_adopt(ctx, qp, cap, sig_all != 0, 0);
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = hp3v_real()->create_qp(pd, attr);

	if (qp != NULL)
		adopt_qp(qp, &attr->cap, attr->qp_type, attr->sq_sig_all);
	return qp;
}

/* Adopts a queue pair whose creation was not seen. It has not been in RTS, so nothing was posted
 * yet. */
static struct hp3v_qp *adopt_late(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct ibv_qp_init_attr init = {0};
	struct ibv_qp_attr now = {0};

	if (!(mask & IBV_QP_STATE) || attr->qp_state != IBV_QPS_INIT || qp->qp_type != IBV_QPT_RC ||
		is_off() || hp3v_real()->query_qp(qp, &now, IBV_QP_CAP, &init) != 0)
		return NULL;
	return adopt_qp(qp, &now.cap, qp->qp_type, init.sq_sig_all);
}

/* hp3d has promised this to the peer. After the death of hp3d, it is longer than other moves. */
static bool is_held_for_peer(const struct hp3v_qp *q, uint64_t now)
{
	return q->op == HP3_VERBS_HOLD && q->step == HP3V_SUSPENDED && now < q->deadline;
}

/* During a move, the application's change would find the queue pair in an unexpected state. */
static void wait_for_move(struct hp3v_qp *q)
{
	const struct timespec nap = {0, 200000};
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC), until = now + 2u * hp3v_move_longest_ns();

	while (hp3v_is_moving(q) && (now < until || is_held_for_peer(q, now))) {
		pthread_mutex_unlock(&q->lock);
		nanosleep(&nap, NULL);
		pthread_mutex_lock(&q->lock);
		now = hp3_clock_ns(CLOCK_MONOTONIC);
	}
}

/*
 * Waits before RTS, so that hp3d, which has had the cell since RTR, may choose the port. A queue
 * pair that has sent no packets can change its port without a drain.
 */
static void wait_for_place(struct hp3v_qp *q)
{
	const struct timespec nap = {0, 50000};
	uint64_t begun = hp3_clock_ns(CLOCK_MONOTONIC);

	while (q->state == IBV_QPS_RTR && q->index >= 0 && q->place == 0 && !q->placed &&
		hp3_clock_ns(CLOCK_MONOTONIC) - begun <
			(hp3v_agent_looked() ? hp3v_move_place_ns() : HP3V_PLACE_NS)) {
		pthread_mutex_unlock(&q->lock);
		nanosleep(&nap, NULL);
		pthread_mutex_lock(&q->lock);
	}
}

/*
 * The change to RTR. From then on the peer may READ, so a queue pair that accepts READs gets the
 * port that hp3d chooses now, as flow label. If the RNIC refuses this flow label, it gets the
 * application's.
 */
static int enter_rtr(struct hp3v_qp *q, struct ibv_qp_attr *attr, int mask)
{
	uint32_t label, own = attr->ah_attr.grh.flow_label;
	int error = EINVAL;
	bool chosen;

	if (!hp3v_qp_announce(q, attr, mask))
		return hp3v_real()->modify_qp(q->qp, attr, mask);
	wait_for_place(q);
	q->waits = false;
	q->placed = true; /* RTS does not wait again */
	chosen = hp3v_move_place_label(q, &label);
	if (chosen) {
		attr->ah_attr.grh.flow_label = label;
		error = hp3v_real()->modify_qp(q->qp, attr, mask);
		attr->ah_attr.grh.flow_label = own;
		hp3v_move_place_done(q, error);
	}
	if (error != 0)
		error = hp3v_real()->modify_qp(q->qp, attr, mask);
	if (error != 0) {
		hp3v_move_stop(q); /* hp3d may hold the queue pair already */
		hp3v_qp_withdraw(q);
	}
	return error;
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct hp3v_qp *q = hp3v_qp_of(qp->context, qp->qp_num);
	bool ends = (mask & IBV_QP_STATE) &&
		    (attr->qp_state == IBV_QPS_ERR || attr->qp_state == IBV_QPS_RESET);
	bool ready = (mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RTS;
	bool to_rtr = (mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RTR;
	int error;

	if (q == NULL)
		q = adopt_late(qp, attr, mask);
	if (q == NULL || q->qp != qp)
		return hp3v_real()->modify_qp(qp, attr, mask);
	if (to_rtr)
		hp3v_agent_start();
	pthread_mutex_lock(&q->lock);
	if (ready)
		wait_for_place(q);
	if (ends)
		hp3v_move_stop(q);
	else
		wait_for_move(q); /* last, because a HOLD may begin in wait_for_place() */
	ready &= q->state == IBV_QPS_RTR;
	error = to_rtr ? enter_rtr(q, attr, mask) : hp3v_real()->modify_qp(qp, attr, mask);
	if (error == 0)
		hp3v_qp_changed(q, attr, mask);
	if (error == 0 && ready)
		hp3v_move_ready(q);
	if (ends)
		hp3v_move_stopped(q);
	pthread_mutex_unlock(&q->lock);
	return error;
}

/* During a move, the application sees its queue pair in RTS. */
EXPORT int ibv_query_qp(
	struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct hp3v_qp *q = hp3v_qp_of(qp->context, qp->qp_num);
	int error;

	if (q == NULL || q->qp != qp)
		return hp3v_real()->query_qp(qp, attr, mask, init);
	pthread_mutex_lock(&q->lock);
	error = hp3v_real()->query_qp(qp, attr, mask, init);
	if (error == 0 && hp3v_is_moving(q) && attr->qp_state == IBV_QPS_SQD) {
		attr->qp_state = IBV_QPS_RTS;
		attr->sq_draining = 0;
		if (mask & IBV_QP_STATE) /* libibverbs has written SQD */
			qp->state = IBV_QPS_RTS;
	}
	pthread_mutex_unlock(&q->lock);
	return error;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct hp3v_qp *q = hp3v_qp_of(qp->context, qp->qp_num);
	int error;

	if (q == NULL || q->qp != qp)
		return hp3v_real()->destroy_qp(qp);
	pthread_mutex_lock(&q->lock);
	hp3v_move_stop(q);
	q->qp = NULL; /* from now on, the agent ignores the queue pair */
	pthread_mutex_unlock(&q->lock);
	error = hp3v_real()->destroy_qp(qp);
	if (error == 0) {
		hp3v_qp_forget(q);
		return 0;
	}
	pthread_mutex_lock(&q->lock);
	q->qp = qp;
	hp3v_move_stopped(q); /* the queue pair continues: post held requests */
	pthread_mutex_unlock(&q->lock);
	return error;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct hp3v_cq *c = hp3v_cq_of((struct ibv_cq_ex *)cq);
	int error = hp3v_real()->destroy_cq(cq);

	if (error == 0 && c != NULL)
		hp3v_cq_forget(c);
	return error;
}

/*
 * Is the event the end of a drain that this library began? Such events are hidden from the
 * application. If it waits for events, it continues to wait; if its descriptor is non-blocking, the
 * call returns EAGAIN.
 */
static bool is_ours(const struct ibv_async_event *event)
{
	const struct hp3v_qp *q;

	if (event->event_type != IBV_EVENT_SQ_DRAINED)
		return false;
	q = hp3v_qp_of(event->element.qp->context, event->element.qp->qp_num);
	return q != NULL && q->state == IBV_QPS_RTS;
}

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	int error;

	while ((error = hp3v_real()->get_async_event(context, event)) == 0 && is_ours(event))
		hp3v_real()->ack_async_event(event);
	return error;
}
