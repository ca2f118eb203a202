/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts: hands slices to paths. Peers take turns, slice by slice. Of the records of slices in
 * flight, the last quarter is for peers that have less than their share.
 */
#include "xfer/core/inside.h"

void hp3xc_peer_ready(struct hp3x_core *c, struct hp3xc_peer *peer)
{
	if (!hp3xc_link_is_used(&peer->in_ready))
		hp3xc_link_put(&c->ready, &peer->in_ready);
}

static bool may_take_flight(const struct hp3x_core *c, const struct hp3xc_peer *peer)
{
	return c->free_flights > c->cfg.slices / 4 ||
	       (c->free_flights > 0 && peer->in_flight < c->cfg.slices / c->n_peers);
}

static void flight_post(struct hp3x_core *c, struct hp3xc_path *p, struct hp3xc_flight *f)
{
	struct hp3xc_op *op = f->op;
	uint64_t expected = hp3xc_path_finish(c, p, f->length), slow = expected, patience;

	if (!p->estimate.sampled && c->cfg.rail_rate[p->local_rail] == 0)
		slow = hp3xc_time_of(p->in_flight + f->length, HP3XC_SLOWEST);
	f->path = p->number;
	f->sent = c->now;
	f->due = c->now + expected;
	patience =
		hp3xc_estimate_patience(&p->estimate, c->now, c->cfg.hang_least_ns, c->cfg.hang_ns);
	f->limit = c->now + HP3XC_HANG_TIMES * slow + (patience << p->hung);
	p->in_flight += f->length;
	c->rail_in_flight[p->local_rail] += f->length;
	f->bytes = p->in_flight;
	f->delivered = p->peer->window.delivered;
	op->in_flight++;
	op->sent++;
	p->slices++;
	p->peer->backlog -= f->length;
	if (f->times++ > 0) {
		op->again++;
		p->again++;
	}
	f->imm_number = op->slot != HP3XC_NO_SLOT ? ++p->imm_sent : 0;
	hp3xc_link_put(&p->flights, &f->in);
	hp3xc_timer_hasten(&c->timers, hp3xc_path_timer(c, p), f->limit);
}

static void flight_act(
	const struct hp3xc_path *p, const struct hp3xc_flight *f, struct hp3x_act *act)
{
	const struct hp3xc_op *op = f->op;

	*act = (struct hp3x_act){
		.kind = op->kind == HP3XC_READ ? HP3X_ACT_READ : HP3X_ACT_WRITE,
		.has_imm = op->slot != HP3XC_NO_SLOT,
		.peer = p->peer->index,
		.path = p->number,
	};
	act->post.token = (uint64_t)f->number << 32 | f->index;
	act->post.region = op->region;
	act->post.offset = f->local;
	act->post.remote = f->remote;
	act->post.remote_key = op->key[p->remote_rail];
	act->post.length = f->length;
	act->post.imm = act->has_imm ? hp3xc_slot_imm(op, f->slice) : 0;
}

/* A slice that was on a failed path. */
static bool again_post(struct hp3x_core *c, struct hp3xc_peer *peer, struct hp3x_act *act)
{
	struct hp3xc_flight *f;
	struct hp3xc_path *p;

	if (!hp3xc_link_is_used(&peer->again))
		return false;
	f = HP3XC_ELEMENT(peer->again.next, struct hp3xc_flight, in);
	p = hp3xc_path_choose_again(c, peer, f);
	if (p == NULL)
		return false;
	flight_post(c, p, f);
	flight_act(p, f, act);
	return true;
}

/* The first slice of an op takes a slot, if the op counts. */
static bool op_has_slot(struct hp3x_core *c, struct hp3xc_op *op)
{
	return op->kind != HP3XC_WRITE || op->add == 0 || op->slot != HP3XC_NO_SLOT ||
	       hp3xc_slot_take(c, op);
}

static bool slice_post(struct hp3x_core *c, struct hp3xc_peer *peer, struct hp3x_act *act)
{
	while (hp3xc_link_is_used(&peer->queue)) {
		struct hp3xc_op *op = HP3XC_ELEMENT(peer->queue.next, struct hp3xc_op, in_queue);
		struct hp3xc_flight *f;
		struct hp3xc_path *p;

		if (!may_take_flight(c, peer)) {
			hp3xc_link_put(&c->starved, &peer->in_starved);
			return false;
		}
		p = hp3xc_path_choose(c, peer, hp3xc_slice_length(op));
		if (p == NULL)
			return false;
		if (!op_has_slot(c, op))
			continue; /* it waits in another queue */
		f = hp3xc_flight_take(c, op);
		hp3xc_slice_cut(op, f);
		if (op->cut == op->n_slices)
			hp3xc_link_remove(&op->in_queue);
		flight_post(c, p, f);
		flight_act(p, f, act);
		return true;
	}
	return false;
}

bool hp3xc_post_act(struct hp3x_core *c, struct hp3x_act *act)
{
	while (hp3xc_link_is_used(&c->ready)) {
		struct hp3xc_peer *peer = HP3XC_ELEMENT(c->ready.next, struct hp3xc_peer, in_ready);

		if (peer->state == HP3X_PEER_UP &&
			(again_post(c, peer, act) || slice_post(c, peer, act))) {
			hp3xc_link_put(&c->ready, &peer->in_ready);
			return true;
		}
		hp3xc_link_remove(&peer->in_ready);
	}
	return false;
}
