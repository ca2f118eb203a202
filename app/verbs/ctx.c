/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: replaces the function pointers in them that programs call. */
#include "app/verbs/shim.h"
#include "app/verbs/qps.h"
#include "app/verbs/table.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

static struct hp3v_key *closed; /* for reuse */

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct hp3v_ctx *ctx = hp3v_ctx_of(context);
	bool ops = (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
	struct ibv_qp *qp = ctx->create_qp_ex(context, attr);

	if (qp != NULL && attr->qp_type == IBV_QPT_RC)
		hp3v_qp_adopt(
			ctx, qp, &attr->cap, attr->sq_sig_all != 0, ops ? attr->send_ops_flags : 0);
	return qp;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct hp3v_ctx *ctx = hp3v_ctx_of(context);
	struct ibv_cq_init_attr_ex ours = *attr;
	struct ibv_cq_ex *cq;

	ours.wc_flags |= IBV_WC_EX_WITH_QP_NUM; /* to identify the queue pair */
	cq = ctx->create_cq_ex(context, &ours);
	if (cq == NULL && ours.wc_flags != attr->wc_flags)
		return ctx->create_cq_ex(context, attr);
	if (cq != NULL)
		hp3v_cq_adopt(cq);
	return cq;
}

/*
 * Queue pairs of a thread domain have no lock, so the agent's thread could not post held requests.
 */
static struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct hp3v_ctx *ctx = hp3v_ctx_of(context);

	if (ctx == NULL) {
		errno = EINVAL;
		return NULL;
	}
	__atomic_store_n(&ctx->unlocked, 1, __ATOMIC_RELAXED);
	return ctx->alloc_td(context, attr);
}

/*
 * Looks up the udp_sport call in the provider's library: the one that contains the provider's
 * post_send. That library is loaded already.
 */
static void find_udp_sport(struct hp3v_ctx *ctx)
{
	static const char *const names[] = {
		"mlx5dv_modify_qp_udp_sport", "bnxt_re_dv_modify_qp_udp_sport"};
	Dl_info info;
	void *library;

	ctx->udp_sport = NULL;
	ctx->draws_otherwise = false;
	if (dladdr((void *)ctx->post_send, &info) != 0 &&
		(library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) != NULL)
		for (unsigned int i = 0; i < 2 && ctx->udp_sport == NULL; i++) {
			*(void **)&ctx->udp_sport = dlsym(library, names[i]);
			ctx->draws_otherwise = i == 1 && ctx->udp_sport != NULL;
		}
	ctx->method = ctx->udp_sport != NULL ? HP3_VERBS_SPORT : HP3_VERBS_SQD;
	ctx->unlocked = getenv("MLX5_SINGLE_THREADED") != NULL;
}

static void take_over(struct hp3v_ctx *ctx, struct ibv_context *context)
{
	struct verbs_context *v;

	ctx->post_send = context->ops.post_send;
	ctx->poll_cq = context->ops.poll_cq;
	find_udp_sport(ctx);
	hp3v_poll_by(ctx->poll_cq);
	context->ops.post_send = hp3v_post_send;
	context->ops.poll_cq = hp3v_poll_cq;
	v = verbs_get_ctx_op(context, create_qp_ex);
	if (v != NULL) {
		ctx->create_qp_ex = v->create_qp_ex;
		v->create_qp_ex = create_qp_ex;
	}
	v = verbs_get_ctx_op(context, create_cq_ex);
	if (v != NULL) {
		ctx->create_cq_ex = v->create_cq_ex;
		v->create_cq_ex = create_cq_ex;
	}
	v = verbs_get_ctx_op(context, alloc_td);
	if (v != NULL) {
		ctx->alloc_td = v->alloc_td;
		v->alloc_td = alloc_td;
	}
}

struct hp3v_ctx *hp3v_ctx_adopt(struct ibv_context *context)
{
	struct hp3v_ctx *ctx;

	if (context->ops.post_send == hp3v_post_send)
		return hp3v_ctx_of(context);
	hp3v_lock();
	ctx = hp3v_put(&closed, sizeof(*ctx), context, HP3V_CONTEXT);
	if (ctx != NULL)
		take_over(ctx, context);
	hp3v_unlock();
	return ctx;
}

void hp3v_ctx_forget(struct hp3v_ctx *ctx)
{
	hp3v_lock();
	hp3v_remove(&closed, &ctx->key);
	hp3v_unlock();
}
