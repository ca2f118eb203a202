/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reply path: replies of the peer's RNIC, and the peer's hp3d in front of it (both_ways), whose
 * engine chooses their port after a report that none arrives.
 */
#include "world_internal.h"
#include <string.h>

#define PEER_PORT 40000u /* of its RNIC's first queue pair */

void world_peer_start(struct world *w)
{
	struct hp3_engine_config cfg = world_config(w);

	if (!w->p.both_ways)
		return;
	cfg.seed += 7;
	cfg.setup_probing = false;
	w->peer_mem = aligned_alloc(64, hp3_engine_size(&cfg));
	w->peer = hp3_engine_create(w->peer_mem, hp3_engine_size(&cfg), &cfg);
}

/* Gone at once: replies leave as its RNIC sends them. */
void world_peer_stop(struct world *w)
{
	free(w->peer_mem);
	w->peer_mem = NULL;
	w->peer = NULL;
}

void world_peer_tick(struct world *w)
{
	struct hp3_acts acts;

	if (w->peer == NULL)
		return;
	acts.n = 0;
	hp3_tick(w->peer, world_peer_clock(w), &acts);
	if (acts.n != 0)
		VIOLATION(w, "the peer's hp3d does something by itself");
}

static uint16_t port_of(struct world *w, uint32_t i, const struct hp3_view *v)
{
	struct hp3_pkt pkt = {.v = *v};
	struct hp3_verdict vd;
	struct hp3_acts acts;

	pkt.v.sport = (uint16_t)(PEER_PORT + i);
	if (w->peer == NULL)
		return pkt.v.sport;
	world_pkt(w, i, HP3_DIR_RX, &pkt);
	hp3_find_burst(w->peer, &pkt, 1, HP3_DIR_TX);
	hp3_tx(w->peer, &pkt, world_peer_clock(w), &vd, &acts);
	if (vd.kind != HP3_PASS || acts.n != 0)
		VIOLATION(w, "the peer's hp3d does not let a reply pass");
	return vd.sport;
}

/* A FIFO per queue pair, of no path in particular. */
static uint64_t plain_way(struct world *w, struct qp *q)
{
	uint64_t t = w->now + (w->p.rtt_us ? w->p.rtt_us * US / 2 : 20 * US) + rnd(w, 3000);

	if (t <= q->back_free)
		t = q->back_free + 1;
	if (w->now < w->back_dead || chance(w, w->p.loss_ppm + w->p.reply_loss_ppm))
		return 0;
	q->back_free = t;
	return t;
}

/* When what leaves now reaches hp3d; 0: never. */
uint64_t world_way_back(struct world *w, uint32_t i, const struct hp3_view *v)
{
	uint32_t path;

	if (!w->p.both_ways)
		return plain_way(w, &w->qps[i]);
	path = world_path(w, port_of(w, i, v), w->qps[i].lqpn);
	if (chance(w, w->p.reply_loss_ppm))
		return 0;
	return world_arrival(w, path, &w->back_path_free[path]);
}

void world_send_report(struct world *w, const struct hp3_act *a)
{
	uint32_t i = world_qp_of(w, a), path = world_path(w, a->port, w->qps[i].rqpn);
	uint64_t t;

	w->r.reports++;
	HARM(w, "queue pair %u: a report that no reply comes through", i);
	if (!w->peer_up) {
		world_send_to_nobody(w, path);
		return;
	}
	t = world_arrival(w, path, &w->path_free[path]);
	if (t != 0)
		world_push(w, (struct event){.t = t, .kind = EVENT_REPORT, .qp = i});
}

void world_report_seen(struct world *w, const struct event *event)
{
	struct hp3_ends here = world_ends(w, event->qp),
			there = {here.ipv6, here.vlan, here.remote, here.local};
	struct hp3_acts acts = {0};

	if (w->peer == NULL)
		return;
	if (hp3_peer_report(w->peer, &there, w->qps[event->qp].lqpn, world_peer_clock(w), &acts) ==
		0)
		w->r.replies_moved++;
	for (uint32_t i = 0; i < acts.n; i++) {
		if (acts.act[i].kind != HP3_ACT_EVENT ||
			acts.act[i].event.type != HP3_EVENT_REPLIES)
			VIOLATION(w, "a report makes the peer's hp3d do something else");
	}
}
