/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths: how they are opened. The opener offers its end, the acceptor answers with its own. */
#include "xfer/core/inside.h"
#include <string.h>
#include "base/minmax.h"

#define MOST_HUNG   6u /* a patience of 50 ms becomes 3.2 s */
#define PROBE_HANGS 4u /* a probe may take so many times hang_ns */

void hp3xc_path_init(struct hp3xc_peer *peer, struct hp3xc_path *p, uint32_t number)
{
	*p = (struct hp3xc_path){.peer = peer, .number = (uint8_t)number};
	hp3xc_link_init(&p->in_wants);
	hp3xc_link_init(&p->in_notes);
	hp3xc_link_init(&p->flights);
	hp3xc_link_init(&p->unsure);
}

void hp3xc_path_want(struct hp3x_core *c, struct hp3xc_path *p, enum hp3xc_want want)
{
	p->wants |= (uint8_t)want;
	hp3xc_link_put(&c->wants, &p->in_wants);
}

void hp3xc_path_note(struct hp3x_core *c, struct hp3xc_path *p, enum hp3xc_note note)
{
	if (p->peer->gone)
		return;
	p->notes |= (uint8_t)note;
	hp3xc_link_put(&p->peer->notes, &p->in_notes);
	hp3xc_peer_talk(c, p->peer);
}

static void path_make(struct hp3x_core *c, struct hp3xc_path *p)
{
	uint64_t rate = c->cfg.rail_rate[p->local_rail];

	p->stage = HP3XC_MAKING;
	p->began = c->now;
	p->made = p->known = p->shut = p->fenced = p->probing = false;
	p->imm_sent = p->imm_done = p->arrived = 0;
	p->answered = 0;
	p->own_length = 0;
	hp3xc_estimate_begin(
		&p->estimate, c->now, rate != 0 ? rate : HP3XC_UNKNOWN_RATE, c->cfg.slice_bytes);
	hp3xc_path_want(c, p, HP3XC_WANT_OPEN);
	hp3xc_timer_set(&c->timers, hp3xc_path_timer(c, p), c->now + c->cfg.open_ns);
}

void hp3xc_path_schedule(struct hp3x_core *c, struct hp3xc_path *p)
{
	if (p->stage != HP3XC_DOWN || !p->peer->opener || p->peer->state != HP3X_PEER_UP ||
		c->rail_down[p->local_rail])
		return;
	if (c->now < p->retry_at) {
		hp3xc_timer_set(&c->timers, hp3xc_path_timer(c, p), p->retry_at);
		return;
	}
	p->opening++;
	p->other_length = 0;
	path_make(c, p);
}

void hp3x_core_opened(struct hp3x_core *c, uint64_t now, uint32_t peer, uint32_t path,
	const void *endpoint, size_t length)
{
	struct hp3xc_path *p = hp3xc_path_of(c, peer, path);

	c->now = now;
	if (p == NULL || p->stage != HP3XC_MAKING || !p->made)
		return;
	if (length == 0 || length > HP3X_ENDPOINT) {
		hp3xc_path_fail(c, p);
		return;
	}
	memcpy(p->own, endpoint, length);
	p->own_length = (uint8_t)length;
	if (p->peer->opener) {
		p->stage = HP3XC_OFFERED;
		hp3xc_path_note(c, p, HP3XC_NOTE_OFFER);
	} else {
		p->stage = HP3XC_CONNECTING;
		hp3xc_path_want(c, p, HP3XC_WANT_CONNECT);
	}
}

int hp3xc_path_offer(
	struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening, const void *end, size_t length)
{
	if (p->peer->opener || p->stage != HP3XC_DOWN || opening <= p->opening)
		return -EPROTO;
	p->opening = opening;
	if (c->rail_down[p->local_rail]) { /* refuses: this end was never open */
		p->stage = HP3XC_SHUTTING;
		p->known = p->shut = true;
		p->fenced = false;
		p->imm_sent = p->imm_done = p->arrived = 0;
		hp3xc_path_note(c, p, HP3XC_NOTE_FENCED);
		return 0;
	}
	path_make(c, p);
	p->known = true;
	memcpy(p->other, end, length);
	p->other_length = (uint8_t)length;
	return 0;
}

/* An answer to an earlier opening is late: its endpoint is gone. */
int hp3xc_path_answer(
	struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening, const void *end, size_t length)
{
	if (!p->peer->opener)
		return -EPROTO;
	if (opening != p->opening || p->stage != HP3XC_OFFERED)
		return 0;
	memcpy(p->other, end, length);
	p->other_length = (uint8_t)length;
	p->stage = HP3XC_CONNECTING;
	hp3xc_path_want(c, p, HP3XC_WANT_CONNECT);
	return 0;
}

static void path_probe(struct hp3x_core *c, struct hp3xc_path *p)
{
	p->stage = HP3XC_PROBING;
	hp3xc_path_want(c, p, HP3XC_WANT_PROBE);
}

void hp3x_core_connected(
	struct hp3x_core *c, uint64_t now, uint32_t peer, uint32_t path, bool success)
{
	struct hp3xc_path *p = hp3xc_path_of(c, peer, path);

	c->now = now;
	if (p == NULL || p->stage != HP3XC_CONNECTING)
		return;
	if (!success) {
		hp3xc_path_fail(c, p);
	} else if (p->peer->opener) {
		hp3xc_path_note(c, p, HP3XC_NOTE_READY);
		path_probe(c, p);
	} else {
		p->stage = HP3XC_ANSWERED;
		hp3xc_path_note(c, p, HP3XC_NOTE_ANSWER);
	}
}

void hp3xc_path_ready(struct hp3x_core *c, struct hp3xc_path *p, uint32_t opening)
{
	if (opening == p->opening && p->stage == HP3XC_ANSWERED)
		path_probe(c, p);
}

void hp3xc_path_probed(struct hp3x_core *c, struct hp3xc_path *p, bool success)
{
	p->probing = false;
	if (!success) {
		hp3xc_path_fail(c, p);
		return;
	}
	p->answered = c->now;
	hp3xc_estimate_probed(&p->estimate, c->now - p->probe_sent);
	if (p->stage == HP3XC_PROBING) {
		p->stage = HP3XC_UP;
		p->up_since = c->now;
		hp3xc_timer_stop(&c->timers, hp3xc_path_timer(c, p));
	}
	hp3xc_peer_ready(c, p->peer);
}

void hp3x_core_path_failed(struct hp3x_core *c, uint64_t now, uint32_t peer, uint32_t path)
{
	struct hp3xc_path *p = hp3xc_path_of(c, peer, path);

	c->now = now;
	if (p != NULL)
		hp3xc_path_fail(c, p);
}

void hp3x_core_rail(struct hp3x_core *c, uint64_t now, uint32_t rail, bool up)
{
	c->now = now;
	if (rail >= c->cfg.rails || c->rail_down[rail] == !up)
		return;
	c->rail_down[rail] = !up;
	for (uint32_t i = 0; i < c->cfg.peers; i++) {
		struct hp3xc_peer *peer = &c->peers[i];

		for (uint32_t n = 0; peer->used && n < peer->n_paths; n++) {
			struct hp3xc_path *p = &peer->paths[n];

			if (p->local_rail != rail)
				continue;
			p->retry_at = hp3_min_u64(p->retry_at, now);
			if (up)
				hp3xc_path_schedule(c, p);
			else
				hp3xc_path_fail(c, p);
		}
	}
}

void hp3xc_path_time(struct hp3x_core *c, struct hp3xc_path *p)
{
	uint64_t limit = UINT64_MAX;

	if (p->stage == HP3XC_DOWN) {
		hp3xc_path_schedule(c, p);
		return;
	}
	if (p->stage == HP3XC_SHUTTING)
		return;
	if (p->stage != HP3XC_UP)
		limit = p->began + c->cfg.open_ns;
	if (p->probing)
		limit = hp3_min_u64(
			limit, p->probe_sent + (PROBE_HANGS * c->cfg.hang_ns << p->hung));
	limit = hp3_min_u64(limit, hp3xc_flights_limit(p));
	if (limit <= c->now) {
		p->hung += p->stage == HP3XC_UP && p->hung < MOST_HUNG;
		hp3xc_path_fail(c, p);
	} else if (limit != UINT64_MAX) {
		hp3xc_timer_set(&c->timers, hp3xc_path_timer(c, p), limit);
	}
}

static void probe_post(struct hp3x_core *c, struct hp3xc_path *p, struct hp3x_act *act)
{
	p->probing = true;
	p->probe = ++c->probes;
	p->probe_sent = c->now;
	act->kind = HP3X_ACT_PROBE;
	act->post.token =
		1ull << 63 | (uint64_t)p->peer->index << 48 | (uint64_t)p->number << 40 | p->probe;
	hp3xc_timer_hasten(
		&c->timers, hp3xc_path_timer(c, p), c->now + PROBE_HANGS * c->cfg.hang_ns);
}

bool hp3xc_path_act(struct hp3x_core *c, struct hp3x_act *act)
{
	struct hp3xc_path *p;

	if (!hp3xc_link_is_used(&c->wants))
		return false;
	p = HP3XC_ELEMENT(c->wants.next, struct hp3xc_path, in_wants);
	*act = (struct hp3x_act){.peer = p->peer->index, .path = p->number};
	act->blob.local_rail = p->local_rail;
	act->blob.remote_rail = p->remote_rail;
	if (p->wants & HP3XC_WANT_SHUT) {
		act->kind = HP3X_ACT_SHUT;
		p->wants = 0;
	} else if (p->wants & HP3XC_WANT_OPEN) {
		act->kind = HP3X_ACT_OPEN;
		p->made = true;
		act->blob.data = p->other;
		act->blob.length = p->other_length;
		p->wants &= (uint8_t)~HP3XC_WANT_OPEN;
	} else if (p->wants & HP3XC_WANT_CONNECT) {
		act->kind = HP3X_ACT_CONNECT;
		act->blob.data = p->other;
		act->blob.length = p->other_length;
		p->wants &= (uint8_t)~HP3XC_WANT_CONNECT;
	} else {
		act->post = (typeof(act->post)){.token = 0};
		probe_post(c, p, act);
		p->wants &= (uint8_t)~HP3XC_WANT_PROBE;
	}
	if (p->wants == 0)
		hp3xc_link_remove(&p->in_wants);
	return true;
}
