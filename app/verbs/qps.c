/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/verbs/qps.h"
#include "app/verbs/account.h"
#include "app/verbs/cells.h"
#include "app/verbs/hold.h"
#include "app/verbs/move.h"
#include "app/verbs/table.h"
#include "app/verbs/shim.h"

#include <stdlib.h>
#include <string.h>

static struct hp3v_qp *all, *unused;

/* An unused record with enough entries, or a new one. Never freed: shim.h. */
static struct hp3v_qp *take_record(uint32_t entries)
{
	struct hp3v_qp **at = &unused, *q;

	while (*at != NULL && (*at)->mask + 1u < entries)
		at = &(*at)->next_free;
	q = *at;
	if (q != NULL) {
		*at = q->next_free;
		return q;
	}
	q = aligned_alloc(64, sizeof(*q));
	if (q == NULL)
		return NULL;
	memset(q, 0, sizeof(*q));
	q->entries = calloc(entries, sizeof(*q->entries));
	if (q->entries == NULL) {
		free(q);
		return NULL;
	}
	q->mask = entries - 1u;
	pthread_mutex_init(&q->lock, NULL);
	q->next = all;
	all = q;
	return q;
}

/* Reuses a record; the life in `done` changes, so that late completions do not count. */
static void begin_record(struct hp3v_qp *q, struct hp3v_ctx *ctx, struct ibv_qp *qp,
	const struct ibv_qp_cap *cap, bool sig_all)
{
	uint64_t life = (__atomic_load_n(&q->done, __ATOMIC_RELAXED) >> 32) + 1u;

	q->ctx = ctx;
	q->post_send = ctx->post_send;
	memset(&q->own, 0, sizeof(q->own));
	__atomic_store_n(&q->cell, &q->own, __ATOMIC_RELAXED);
	q->index = -1;
	q->sig_all = sig_all ? IBV_SEND_SIGNALED : 0;
	__atomic_store_n(&q->gate, 0, __ATOMIC_RELAXED);
	hp3v_begin_counts(q, life);
	q->qp = qp;
	q->state = IBV_QPS_RESET;
	memset(&q->av, 0, sizeof(q->av));
	q->dest_qpn = 0;
	q->access = 0;
	q->responds_depth = 0;
	q->cap = *cap;
	q->hold = HP3V_OPEN;
	__atomic_store_n(&q->step, HP3V_IDLE, __ATOMIC_RELAXED);
	q->want = 0;
	q->ex = NULL;
	q->section = HP3V_NO_SECTION;
}

struct hp3v_qp *hp3v_qp_adopt(struct hp3v_ctx *ctx, struct ibv_qp *qp, const struct ibv_qp_cap *cap,
	bool sig_all, uint64_t send_ops)
{
	uint32_t entries = 64;
	struct hp3v_qp *q;
	bool put;

	while (entries < cap->max_send_wr && entries < (1u << 20))
		entries *= 2u;
	hp3v_lock();
	q = take_record(entries);
	hp3v_unlock();
	if (q == NULL)
		return NULL;
	pthread_mutex_lock(&q->lock);
	begin_record(q, ctx, qp, cap, sig_all);
	free(q->held);
	q->waits = false;
	q->held = ctx->udp_sport != NULL ? hp3v_held_new(cap) : NULL;
	hp3v_lock();
	put = hp3v_put_qp(q, qp->context, qp->qp_num);
	if (!put) {
		q->qp = NULL;
		q->next_free = unused;
		unused = q;
	}
	hp3v_unlock();
	if (put && send_ops != 0)
		hp3v_ex_attach(q, qp, send_ops);
	pthread_mutex_unlock(&q->lock);
	return put ? q : NULL;
}

void hp3v_qp_forget(struct hp3v_qp *q)
{
	pthread_mutex_lock(&q->lock);
	hp3v_hold_drop(q);
	hp3v_cell_give_back(q);
	pthread_mutex_unlock(&q->lock);
	hp3v_lock();
	hp3v_remove_qp(q);
	q->next_free = unused;
	unused = q;
	hp3v_unlock();
}

static uint8_t shown_state(const struct hp3v_qp *q)
{
	if (q->state == IBV_QPS_RTR)
		return HP3_VERBS_RTR;
	return q->state == IBV_QPS_RTS ? HP3_VERBS_RTS : HP3_VERBS_ERR;
}

static void show_addresses(struct hp3v_qp *q, struct hp3_verbs_cell *c)
{
	union ibv_gid gid = {0};
	const char *name = q->qp->context->device->name;

	memset(c->device, 0, sizeof(c->device));
	memset(c->sgid, 0, sizeof(c->sgid));
	c->port_num = q->av.port_num;
	c->traffic_class = q->av.grh.traffic_class;
	memcpy(c->dgid, q->av.grh.dgid.raw, sizeof(c->dgid));
	if (hp3v_real()->query_gid(q->qp->context, q->av.port_num, q->av.grh.sgid_index, &gid) == 0)
		memcpy(c->sgid, gid.raw, sizeof(c->sgid));
	memcpy(c->device, name, strnlen(name, sizeof(c->device) - 1u));
}

bool hp3v_responds(const struct hp3v_qp *q)
{
	return (q->access & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)) != 0 &&
	       q->responds_depth != 0;
}

void hp3v_qp_show(struct hp3v_qp *q)
{
	struct hp3_verbs_cell *c = q->cell;
	uint32_t label = q->av.grh.flow_label;

	__atomic_store_n(&c->version, c->version + 1u, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (c->qpn == 0) {
		c->home = hp3v_home_of(q);
		c->port = c->home;
		show_addresses(q, c);
	}
	c->qpn = q->qp->qp_num;
	c->dest_qpn = q->dest_qpn;
	c->flow_label = label;
	c->state = shown_state(q);
	c->method = __atomic_load_n(&q->ctx->method, __ATOMIC_RELAXED);
	c->flags = (hp3v_responds(q) ? HP3_VERBS_RESPONDS : 0) | (q->waits ? HP3_VERBS_WAITS : 0);
	__atomic_store_n(&c->version, c->version + 1u, __ATOMIC_RELEASE);
}

/* After a reset: for hp3d, it is another queue pair. */
static void begin_again(struct hp3v_qp *q)
{
	struct hp3_verbs_cell *c = q->cell;

	__atomic_store_n(&c->version, c->version + 1u, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	c->generation = (c->generation + 1u) & 0xffffff;
	__atomic_store_n(&q->gate, 0, __ATOMIC_RELAXED);
	hp3v_begin_counts(q, (__atomic_load_n(&q->done, __ATOMIC_RELAXED) >> 32) + 1u);
	__atomic_store_n(&c->version, c->version + 1u, __ATOMIC_RELEASE);
}

static void take_attributes(struct hp3v_qp *q, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_ACCESS_FLAGS)
		q->access = attr->qp_access_flags;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		q->responds_depth = attr->max_dest_rd_atomic;
	if (mask & IBV_QP_AV)
		q->av = attr->ah_attr;
	if (mask & IBV_QP_DEST_QPN)
		q->dest_qpn = attr->dest_qp_num;
}

bool hp3v_qp_announce(struct hp3v_qp *q, const struct ibv_qp_attr *attr, int mask)
{
	if (q->state != IBV_QPS_INIT || q->index >= 0 || q->ctx->draws_otherwise)
		return false;
	take_attributes(q, attr, mask);
	if (!hp3v_responds(q) || !q->av.is_global)
		return false;
	q->place = 0;
	q->placed = false;
	q->waits = true;
	q->state = IBV_QPS_RTR;
	hp3v_cell_take(q);
	hp3v_qp_show(q);
	hp3v_cells_ring();
	return q->index >= 0;
}

void hp3v_qp_withdraw(struct hp3v_qp *q)
{
	q->waits = false;
	q->state = IBV_QPS_INIT;
	hp3v_cell_give_back(q);
}

void hp3v_qp_changed(struct hp3v_qp *q, const struct ibv_qp_attr *attr, int mask)
{
	take_attributes(q, attr, mask);
	if (mask & IBV_QP_STATE)
		q->state = attr->qp_state;
	if ((mask & IBV_QP_STATE) && q->state == IBV_QPS_RESET)
		begin_again(q);
	if (q->state == IBV_QPS_RTS)
		__atomic_store_n(&q->failed, 0, __ATOMIC_RELAXED);
	if (q->state == IBV_QPS_RTR && q->av.is_global && q->index < 0) {
		q->place = 0;
		q->placed = false;
		hp3v_cell_take(q);
	}
	if (q->cell != &q->own) {
		hp3v_qp_show(q);
		hp3v_cells_ring();
	}
}

void hp3v_qps_orphan(void)
{
	for (struct hp3v_qp *q = all; q != NULL; q = q->next) {
		pthread_mutex_init(&q->lock, NULL);
		memset(&q->own, 0, sizeof(q->own));
		q->cell = &q->own;
		q->index = -1;
		q->qp = NULL; /* this library does not use the queue pair any more */
		hp3v_hold_drop(q);
		q->step = HP3V_IDLE;
	}
}
