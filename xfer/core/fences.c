/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fences: a path that has failed is shut at both ends. FENCED says that the sender's end is shut,
 * and how many immediates it has received; it also says that the path is down. Each end sends it
 * once for each opening that both ends know.
 */
#include "xfer/core/inside.h"
#include "base/minmax.h"
#include <errno.h>

#define STEADY 4u /* a path that was up for so many back-offs has a new one */

static void back_off_set(struct hp3x_core *c, struct hp3xc_path *p, bool was_up)
{
	if (p->back_off == 0 || (was_up && c->now - p->up_since >= STEADY * p->back_off))
		p->back_off = c->cfg.back_off_ns;
	else
		p->back_off = hp3_min_u64(2 * p->back_off, c->cfg.most_back_off_ns);
	p->retry_at = (was_up ? c->now : p->began) + p->back_off +
		      hp3_random(&c->random) % (p->back_off / 4 + 1);
}

void hp3xc_path_settle(struct hp3x_core *c, struct hp3xc_path *p)
{
	if (p->stage != HP3XC_SHUTTING || !p->shut || !p->fenced || p->notes != 0)
		return;
	p->stage = HP3XC_DOWN;
	hp3xc_path_schedule(c, p);
}

static void path_stop_notes(struct hp3xc_path *p)
{
	p->notes = 0;
	hp3xc_link_remove(&p->in_notes);
}

/* All ops of the peer that wait for the path. */
static void ops_touch(struct hp3x_core *c, struct hp3xc_path *p, bool fenced)
{
	struct hp3xc_peer *peer = p->peer;

	for (struct hp3xc_link *l = peer->ops.next; l != &peer->ops; l = l->next) {
		struct hp3xc_op *op = HP3XC_ELEMENT(l, struct hp3xc_op, in_peer);

		hp3xc_paths_drop(fenced ? &op->unfenced : &op->unshut, p->number);
		hp3xc_op_touch(c, op);
	}
}

static void path_is_shut(struct hp3x_core *c, struct hp3xc_path *p)
{
	p->shut = true;
	p->probing = false;
	if (p->known && !p->peer->gone) {
		path_stop_notes(p);
		hp3xc_path_note(c, p, HP3XC_NOTE_FENCED);
	}
	hp3xc_flush_check(c, p);
	ops_touch(c, p, false);
}

static void path_is_fenced(struct hp3x_core *c, struct hp3xc_path *p, uint32_t arrived)
{
	p->fenced = true;
	hp3xc_flights_resolve(c, p, arrived);
	ops_touch(c, p, true);
	hp3xc_slots_fenced(c, p->peer, p->number);
}

void hp3xc_path_fail(struct hp3x_core *c, struct hp3xc_path *p)
{
	if (p->stage == HP3XC_DOWN || p->stage == HP3XC_SHUTTING)
		return;
	back_off_set(c, p, p->stage == HP3XC_UP);
	p->failures++;
	p->stage = HP3XC_SHUTTING;
	p->wants = 0;
	hp3xc_link_remove(&p->in_wants);
	path_stop_notes(p);
	hp3xc_timer_stop(&c->timers, hp3xc_path_timer(c, p));
	hp3xc_flights_release(c, p);
	if (p->known)
		hp3xc_path_note(c, p, HP3XC_NOTE_DOWN);
	else
		path_is_fenced(c, p, 0);
	if (p->made)
		hp3xc_path_want(c, p, HP3XC_WANT_SHUT);
	else
		path_is_shut(c, p);
	hp3xc_path_settle(c, p);
}

void hp3x_core_shut(struct hp3x_core *c, uint64_t now, uint32_t peer, uint32_t path)
{
	struct hp3xc_path *p = hp3xc_path_of(c, peer, path);

	c->now = now;
	if (p == NULL || p->stage != HP3XC_SHUTTING || p->shut || p->wants != 0)
		return;
	path_is_shut(c, p);
	hp3xc_path_settle(c, p);
}

void hp3xc_path_down(struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening)
{
	if (opening == p->opening)
		hp3xc_path_fail(c, p);
}

int hp3xc_path_fenced(struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening, uint32_t arrived)
{
	if (opening != p->opening || p->stage == HP3XC_DOWN || !p->known)
		return 0;
	if (arrived > p->imm_sent || arrived < p->imm_done)
		return -EPROTO;
	hp3xc_path_fail(c, p);
	if (!p->fenced)
		path_is_fenced(c, p, arrived);
	hp3xc_path_settle(c, p);
	return 0;
}

void hp3xc_path_abandon(struct hp3x_core *c, struct hp3xc_path *p)
{
	p->known = false;
	hp3xc_timer_stop(&c->timers, hp3xc_path_timer(c, p));
	hp3xc_path_fail(c, p);
	if (p->stage != HP3XC_SHUTTING)
		return;
	path_stop_notes(p);
	p->fenced = true;
	hp3xc_path_settle(c, p);
}
