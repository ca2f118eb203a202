/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of an op. With OK: all slices were acknowledged, and all failed paths that had one are
 * shut, for a write at both ends. With another status: no slice is in flight, and all failed paths
 * that had one are shut at this end.
 */
#include "xfer/core/inside.h"
#include "base/minmax.h"

#define GRACE 4u /* of fence_ns: requests in flight may complete before their paths are shut */

void hp3xc_op_touch(struct hp3x_core *c, struct hp3xc_op *op)
{
	if (!hp3xc_link_is_used(&op->in_check))
		hp3xc_link_put(&c->check, &op->in_check);
}

/* Drops the slices of an op from a list of slices that are on no path. */
static void slices_drop(struct hp3x_core *c, struct hp3xc_op *op, struct hp3xc_link *list)
{
	struct hp3xc_link *l = list->next;

	while (l != list) {
		struct hp3xc_flight *f = HP3XC_ELEMENT(l, struct hp3xc_flight, in);

		l = l->next;
		if (f->op == op)
			hp3xc_flight_free(c, f);
	}
}

/* Bytes of an op that no path has, for the peer's backlog. */
static void backlog_drop(struct hp3xc_op *op)
{
	struct hp3xc_peer *peer = op->peer;

	while (op->cut < op->n_slices) {
		struct hp3xc_flight cut;

		hp3xc_slice_cut(op, &cut);
		peer->backlog -= cut.length;
	}
	for (struct hp3xc_link *l = peer->again.next; l != &peer->again; l = l->next)
		if (HP3XC_ELEMENT(l, struct hp3xc_flight, in)->op == op)
			peer->backlog -= HP3XC_ELEMENT(l, struct hp3xc_flight, in)->length;
}

void hp3xc_op_stop(struct hp3x_core *c, struct hp3xc_op *op, enum hp3x_status status)
{
	uint64_t grace = hp3_min_u64(c->cfg.fence_ns / GRACE, c->cfg.hang_ns);

	if (op->ending || op->ended)
		return;
	op->ending = true;
	op->status = status;
	op->begin = false;
	hp3xc_link_remove(&op->in_queue);
	hp3xc_link_remove(&op->in_talk);
	backlog_drop(op);
	slices_drop(c, op, &op->peer->again);
	for (uint32_t i = 0; i < op->peer->n_paths; i++)
		slices_drop(c, op, &op->peer->paths[i].unsure);
	if (op->in_flight > 0)
		hp3xc_timer_set(&c->timers, hp3xc_op_timer(c, op), c->now + grace);
	else
		hp3xc_timer_stop(&c->timers, hp3xc_op_timer(c, op));
	hp3xc_op_touch(c, op);
}

/* Shuts all paths that have requests of the op in flight. */
static void op_paths_fail(struct hp3x_core *c, struct hp3xc_op *op)
{
	struct hp3xc_peer *peer = op->peer;

	for (uint32_t i = 0; op->in_flight > 0 && i < peer->n_paths; i++) {
		struct hp3xc_path *p = &peer->paths[i];

		for (struct hp3xc_link *l = p->flights.next; l != &p->flights; l = l->next)
			if (HP3XC_ELEMENT(l, struct hp3xc_flight, in)->op == op) {
				hp3xc_path_fail(c, p);
				break;
			}
	}
}

void hp3xc_op_time(struct hp3x_core *c, struct hp3xc_op *op)
{
	if (op->ending)
		op_paths_fail(c, op);
	else
		hp3xc_op_stop(c, op, HP3X_TIMED_OUT);
}

static void op_end(struct hp3x_core *c, struct hp3xc_op *op, enum hp3x_status status)
{
	op->status = status;
	op->ended = true;
	hp3xc_timer_stop(&c->timers, hp3xc_op_timer(c, op));
	hp3xc_slot_leave(c, op);
	hp3xc_chunks_free(c, op->chunks);
	op->chunks = op->chunk = NULL;
	hp3xc_link_put(&c->ended, &op->in_peer);
}

static void op_check(struct hp3x_core *c, struct hp3xc_op *op)
{
	if (op->ended || op->in_flight > 0 || !hp3xc_paths_is_empty(&op->unshut))
		return;
	if (op->ending) {
		op_end(c, op, op->status);
		return;
	}
	if (op->done < op->n_slices || op->begin ||
		(op->kind == HP3XC_WRITE && !hp3xc_paths_is_empty(&op->unfenced)))
		return;
	if (op->talk == HP3XC_TALK_NONE && op->add != 0 && op->slot == HP3XC_NO_SLOT) {
		/* reads, and writes without data: a message adds */
		op->talk = HP3XC_TALK_WAITS;
		hp3xc_link_put(&op->peer->talk, &op->in_talk);
		hp3xc_peer_talk(c, op->peer);
	}
	if (op->talk == HP3XC_TALK_NONE || op->talk == HP3XC_TALK_DONE)
		op_end(c, op, HP3X_OK);
}

void hp3xc_ops_check(struct hp3x_core *c)
{
	while (hp3xc_link_is_used(&c->check)) {
		struct hp3xc_op *op = HP3XC_ELEMENT(c->check.next, struct hp3xc_op, in_check);

		hp3xc_link_remove(&op->in_check);
		op_check(c, op);
	}
}

bool hp3xc_ended_act(struct hp3x_core *c, struct hp3x_act *act)
{
	struct hp3xc_op *op;

	if (!hp3xc_link_is_used(&c->ended))
		return false;
	op = HP3XC_ELEMENT(c->ended.next, struct hp3xc_op, in_peer);
	*act = (struct hp3x_act){.kind = HP3X_ACT_ENDED, .peer = op->peer->index};
	act->ended = (struct hp3x_completion){
		.op = (uint64_t)op->number << 32 | op->index,
		.context = op->context,
		.status = op->status,
		.length = op->length,
		.slices = op->sent,
		.again = op->again,
		.began = op->began,
		.ended = c->now,
	};
	op->peer->n_ops--;
	op->peer = NULL;
	hp3xc_link_put(&c->free_ops, &op->in_peer);
	return true;
}

int hp3x_core_cancel(struct hp3x_core *c, uint64_t now, int64_t number)
{
	uint32_t i = (uint32_t)number;
	struct hp3xc_op *op = i < c->cfg.ops ? &c->ops[i] : NULL;

	c->now = now;
	if (number <= 0 || op == NULL || op->peer == NULL || op->number != number >> 32 ||
		op->ended)
		return -ENOENT;
	hp3xc_op_stop(c, op, HP3X_CANCELLED);
	return 0;
}
