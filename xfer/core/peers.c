/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers: they come, are heard of, and go. */
#include "xfer/core/inside.h"
#include "base/minmax.h"

struct hp3xc_peer *hp3xc_peer_of(const struct hp3x_core *c, uint32_t peer)
{
	return peer < c->cfg.peers && c->peers[peer].used ? &c->peers[peer] : NULL;
}

struct hp3xc_path *hp3xc_path_of(const struct hp3x_core *c, uint32_t peer, uint32_t path)
{
	struct hp3xc_peer *p = hp3xc_peer_of(c, peer);

	return p != NULL && path < p->n_paths ? &p->paths[path] : NULL;
}

void hp3x_core_greet(const struct hp3x_core *c, struct hp3x_greeting *own)
{
	*own = (struct hp3x_greeting){.identity = c->cfg.identity,
		.rails = c->cfg.rails,
		.paths_per_rail = c->cfg.paths_per_rail};
}

int hp3x_core_peer_add(struct hp3x_core *c, uint64_t now)
{
	struct hp3xc_peer *peer = c->peers;
	uint32_t index;

	c->now = now;
	while (peer < c->peers + c->cfg.peers && peer->used)
		peer++;
	index = (uint32_t)(peer - c->peers);
	if (index == c->cfg.peers)
		return -ENOBUFS;
	*peer = (struct hp3xc_peer){.index = index,
		.used = true,
		.writable = true,
		.state = HP3X_PEER_CONNECTING,
		.paths = peer->paths,
		.slots = peer->slots,
		.counts = peer->counts,
		.bitmaps = peer->bitmaps};
	hp3xc_link_init(&peer->in_ready);
	hp3xc_link_init(&peer->in_talkers);
	hp3xc_link_init(&peer->in_starved);
	hp3xc_link_init(&peer->ops);
	hp3xc_link_init(&peer->queue);
	hp3xc_link_init(&peer->no_small);
	hp3xc_link_init(&peer->no_large);
	hp3xc_link_init(&peer->again);
	hp3xc_link_init(&peer->begins);
	hp3xc_link_init(&peer->talk);
	hp3xc_link_init(&peer->told);
	hp3xc_link_init(&peer->notes);
	hp3xc_slots_init(peer);
	c->n_peers++;
	return (int)index;
}

/*
 * Path n joins rail n of the end with more rails (the opener, if both have as many), and the rail
 * of the same number at the other end. The second path of each rail takes the next rail there, and
 * so on: two rails that failed at different ends leave paths.
 */
static void path_rails(struct hp3x_core *c, struct hp3xc_peer *peer, struct hp3xc_path *p)
{
	uint32_t most = hp3_max_u32(c->cfg.rails, peer->rails);
	uint32_t first = p->number % most, second = first + p->number / most;

	p->local_rail = (uint8_t)((peer->opener ? first : second) % c->cfg.rails);
	p->remote_rail = (uint8_t)((peer->opener ? second : first) % peer->rails);
}

static void ops_greet(struct hp3x_core *c, struct hp3xc_peer *peer)
{
	for (struct hp3xc_link *l = peer->ops.next, *next; l != &peer->ops; l = next) {
		struct hp3xc_op *op = HP3XC_ELEMENT(l, struct hp3xc_op, in_peer);

		next = l->next;
		if (op->kind != HP3XC_SEND &&
			(op->remote_domain != peer->identity || op->remote_rails != peer->rails))
			hp3xc_op_stop(c, op, HP3X_REFUSED);
	}
}

int hp3x_core_peer_up(
	struct hp3x_core *c, uint64_t now, uint32_t index, const struct hp3x_greeting *other)
{
	struct hp3xc_peer *peer = hp3xc_peer_of(c, index);
	uint32_t per_rail = hp3_min_u32(c->cfg.paths_per_rail, other->paths_per_rail);

	c->now = now;
	if (peer == NULL || peer->state != HP3X_PEER_CONNECTING || other->identity == 0 ||
		other->identity == c->cfg.identity || other->rails == 0 ||
		other->rails > HP3X_RAILS || per_rail == 0)
		return -EPROTO;
	peer->state = HP3X_PEER_UP;
	peer->tell = c->tells = true;
	peer->identity = other->identity;
	peer->rails = other->rails;
	peer->opener = c->cfg.identity > other->identity;
	peer->n_paths =
		hp3_min_u32(hp3_max_u32(c->cfg.rails, other->rails) * per_rail, c->most_paths);
	peer->sent_at = peer->heard_at = now;
	hp3xc_peer_window_init(c, peer);
	for (uint32_t i = 0; i < peer->n_paths; i++) {
		hp3xc_path_init(peer, &peer->paths[i], i);
		path_rails(c, peer, &peer->paths[i]);
		hp3xc_path_schedule(c, &peer->paths[i]);
	}
	ops_greet(c, peer);
	hp3xc_peer_ready(c, peer);
	hp3xc_peer_talk(c, peer);
	hp3xc_peer_time(c, peer);
	return 0;
}

bool hp3x_core_path_rails(const struct hp3x_core *c, uint32_t peer, uint32_t path,
	uint32_t *local_rail, uint32_t *remote_rail)
{
	const struct hp3xc_path *p = hp3xc_path_of(c, peer, path);

	if (p == NULL)
		return false;
	*local_rail = p->local_rail;
	*remote_rail = p->remote_rail;
	return true;
}

void hp3xc_peer_gone(struct hp3x_core *c, struct hp3xc_peer *peer, enum hp3x_status status)
{
	if (peer->gone)
		return;
	peer->gone = true;
	peer->tell = status == HP3X_PEER_LOST;
	c->tells = true;
	peer->state = HP3X_PEER_GONE;
	hp3xc_timer_stop(&c->timers, hp3xc_peer_timer(c, peer));
	hp3xc_timer_stop(&c->timers, hp3xc_wait_timer(c, peer));
	hp3xc_link_remove(&peer->in_talkers);
	for (uint32_t i = 0; i < peer->n_paths; i++)
		hp3xc_path_abandon(c, &peer->paths[i]);
	for (struct hp3xc_link *l = peer->ops.next, *next; l != &peer->ops; l = next) {
		next = l->next;
		hp3xc_op_stop(c, HP3XC_ELEMENT(l, struct hp3xc_op, in_peer), status);
	}
}

void hp3x_core_peer_lost(struct hp3x_core *c, uint64_t now, uint32_t peer)
{
	c->now = now;
	if (hp3xc_peer_of(c, peer) != NULL)
		hp3xc_peer_gone(c, &c->peers[peer], HP3X_PEER_LOST);
}

void hp3x_core_peer_close(struct hp3x_core *c, uint64_t now, uint32_t peer)
{
	c->now = now;
	if (hp3xc_peer_of(c, peer) == NULL)
		return;
	c->peers[peer].tell = false;
	hp3xc_peer_gone(c, &c->peers[peer], HP3X_CLOSED);
}

bool hp3x_core_peer_free(struct hp3x_core *c, uint32_t index)
{
	struct hp3xc_peer *peer = hp3xc_peer_of(c, index);

	if (peer == NULL || !peer->gone || peer->n_ops > 0)
		return false;
	for (uint32_t i = 0; i < peer->n_paths; i++)
		if (peer->paths[i].stage != HP3XC_DOWN)
			return false;
	if (c->in_waits && c->in_peer == index)
		return false;
	hp3xc_link_remove(&peer->in_ready);
	hp3xc_link_remove(&peer->in_starved);
	peer->used = peer->tell = false;
	c->n_peers--;
	return true;
}

void hp3x_core_writable(struct hp3x_core *c, uint32_t index, bool writable)
{
	struct hp3xc_peer *peer = hp3xc_peer_of(c, index);

	if (peer == NULL)
		return;
	peer->writable = writable;
	hp3xc_peer_talk(c, peer);
}

void hp3xc_peer_time(struct hp3x_core *c, struct hp3xc_peer *peer)
{
	uint64_t lost = peer->heard_at + c->cfg.peer_timeout_ns;

	if (peer->state != HP3X_PEER_UP)
		return;
	if (c->now >= lost) {
		hp3xc_peer_gone(c, peer, HP3X_PEER_LOST);
		return;
	}
	if (c->now >= peer->sent_at + c->cfg.keepalive_ns) {
		peer->keepalive = true;
		peer->sent_at = c->now; /* the next one: after the same time, if this one waits */
		hp3xc_peer_talk(c, peer);
	}
	hp3xc_timer_set(&c->timers, hp3xc_peer_timer(c, peer),
		hp3_min_u64(lost, peer->sent_at + c->cfg.keepalive_ns));
}

bool hp3xc_peer_act(struct hp3x_core *c, struct hp3x_act *act)
{
	for (uint32_t i = 0; c->tells && i < c->cfg.peers; i++) {
		struct hp3xc_peer *peer = &c->peers[i];

		if (!peer->used || !peer->tell)
			continue;
		peer->tell = false;
		*act = (struct hp3x_act){.kind = HP3X_ACT_PEER, .peer = i};
		act->state = peer->state;
		return true;
	}
	c->tells = false;
	return false;
}
