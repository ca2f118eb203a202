/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in flight: what the shell says of them, and which of them hang. */
#include "xfer/core/inside.h"

struct hp3xc_flight *hp3xc_flight_take(struct hp3x_core *c, struct hp3xc_op *op)
{
	struct hp3xc_flight *f = HP3XC_ELEMENT(c->idle_flights.next, struct hp3xc_flight, in);

	hp3xc_link_remove(&f->in);
	c->free_flights--;
	op->peer->in_flight++;
	f->op = op;
	f->times = 0;
	return f;
}

void hp3xc_flight_free(struct hp3x_core *c, struct hp3xc_flight *f)
{
	f->op->peer->in_flight--;
	f->op = NULL;
	hp3xc_link_put(&c->idle_flights, &f->in);
	c->free_flights++;
	while (hp3xc_link_is_used(&c->starved)) {
		struct hp3xc_peer *peer =
			HP3XC_ELEMENT(c->starved.next, struct hp3xc_peer, in_starved);

		hp3xc_link_remove(&peer->in_starved);
		hp3xc_peer_ready(c, peer);
	}
}

/* Takes a request off its path. */
static void flight_land(struct hp3x_core *c, struct hp3xc_path *p, struct hp3xc_flight *f)
{
	hp3xc_link_remove(&f->in);
	p->in_flight -= f->length;
	c->rail_in_flight[p->local_rail] -= f->length;
	f->op->in_flight--;
	f->number = (f->number + 1) & INT32_MAX; /* its token is of no use any more */
}

static void flight_again(struct hp3xc_path *p, struct hp3xc_flight *f)
{
	p->peer->backlog += f->length;
	hp3xc_link_put(&p->peer->again, &f->in);
}

/*
 * A slice with an immediate is sent again only if the peer has not executed it. Otherwise, a second
 * copy could arrive after the peer's counter has changed, in memory that has another use then.
 */
void hp3xc_flights_release(struct hp3x_core *c, struct hp3xc_path *p)
{
	while (hp3xc_link_is_used(&p->flights)) {
		struct hp3xc_flight *f = HP3XC_ELEMENT(p->flights.next, struct hp3xc_flight, in);
		struct hp3xc_op *op = f->op;

		flight_land(c, p, f);
		hp3xc_paths_add(&op->unshut, p->number);
		hp3xc_paths_add(&op->unfenced, p->number);
		hp3xc_op_touch(c, op);
		if (op->ending) {
			hp3xc_flight_free(c, f);
			continue;
		}
		f->failed = c->now;
		if (f->imm_number != 0)
			hp3xc_link_put(&p->unsure, &f->in);
		else
			flight_again(p, f);
	}
	hp3xc_peer_ready(c, p->peer);
}

void hp3xc_flights_resolve(struct hp3x_core *c, struct hp3xc_path *p, uint32_t arrived)
{
	while (hp3xc_link_is_used(&p->unsure)) {
		struct hp3xc_flight *f = HP3XC_ELEMENT(p->unsure.next, struct hp3xc_flight, in);

		if (f->imm_number > arrived) {
			flight_again(p, f);
			continue;
		}
		hp3xc_link_remove(&f->in);
		p->bytes += f->length;
		f->op->done++;
		hp3xc_op_touch(c, f->op);
		hp3xc_flight_free(c, f);
	}
	hp3xc_peer_ready(c, p->peer);
}

uint64_t hp3xc_flights_limit(const struct hp3xc_path *p)
{
	if (!hp3xc_link_is_used(&p->flights))
		return UINT64_MAX;
	return HP3XC_ELEMENT(p->flights.next, struct hp3xc_flight, in)->limit;
}

static void probe_completed(struct hp3x_core *c, uint64_t token, enum hp3x_result result)
{
	struct hp3xc_path *p =
		hp3xc_path_of(c, (uint32_t)(token >> 48 & 0x7fff), (uint32_t)(token >> 40 & 0xff));

	if (p != NULL && p->probing && p->probe == (uint32_t)token &&
		(p->stage == HP3XC_PROBING || p->stage == HP3XC_UP))
		hp3xc_path_probed(c, p, result == HP3X_RESULT_OK);
}

static void flight_succeed(struct hp3x_core *c, struct hp3xc_path *p, struct hp3xc_flight *f)
{
	struct hp3xc_op *op = f->op;
	struct hp3xc_sample sample = {

		.took = c->now - f->sent,
		.expected = f->due - f->sent,
		.bytes = f->bytes,
		.length = f->length};

	p->answered = c->now;
	if (c->now - f->sent <= c->cfg.hang_ns)
		p->hung = 0;
	p->bytes += f->length;
	if (f->imm_number > p->imm_done)
		p->imm_done = f->imm_number;
	flight_land(c, p, f);
	hp3xc_estimate_add(&p->estimate, c->now, &sample);
	hp3xc_peer_measure(c, p->peer, f);
	op->done++;
	hp3xc_flight_free(c, f);
	hp3xc_op_touch(c, op);
	hp3xc_peer_ready(c, p->peer);
}

void hp3x_core_completed(struct hp3x_core *c, uint64_t now, uint64_t token, enum hp3x_result result)
{
	struct hp3xc_flight *f;
	struct hp3xc_path *p;
	struct hp3xc_op *op;

	c->now = now;
	if (token >> 63 != 0) {
		probe_completed(c, token, result);
		return;
	}
	f = (uint32_t)token < c->cfg.slices ? &c->flights[(uint32_t)token] : NULL;
	if (f == NULL || f->op == NULL || f->number != token >> 32)
		return; /* of a path that has failed since */
	p = &f->op->peer->paths[f->path];
	op = f->op;
	if (result == HP3X_RESULT_OK) {
		flight_succeed(c, p, f);
	} else if (result == HP3X_RESULT_REFUSED) {
		flight_land(c, p, f);
		hp3xc_flight_free(c, f);
		hp3xc_op_stop(c, op, HP3X_REFUSED);
		hp3xc_op_touch(c, op);
		hp3xc_path_fail(c, p);
	} else {
		hp3xc_path_fail(c, p);
	}
}
