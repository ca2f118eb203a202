/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3d hangs, or is killed. First all packets to it are lost; then it is bypassed, and packets pass
 * on the ports of their flows, or on home ports; at the end hp3d continues, or another one starts,
 * with the flows' ports. If ports stay the same, so does the order.
 */
#include "world_internal.h"
#include <string.h>

#define STUCK_NS 200u /* us, at most: until somebody stands in */
#define AWAY_US  2000u /* at most: until it is back */
#define HOME_ONE 4u /* of so many times flows are on the RNIC's ports */

/* What waited in it, or had come and was not polled, never arrives. */
static void lose_inside(struct world *w)
{
	world_lose_ports(w);
	for (uint32_t s = 0; s < w->cfg.max_flows; s++) {
		for (struct pkt *k = w->hold[s].head, *next; k != NULL; k = next) {
			next = k->next;
			w->r.discarded++;
			free(k);
		}
		w->hold[s] = (struct fifo){0};
	}
	w->nheld = 0;
}

static void get_stuck(struct world *w)
{
	w->away = WORLD_STUCK;
	w->r.hangs++;
	lose_inside(w);
	for (uint32_t i = 0; i < w->p.qps; i++) {
		w->qps[i].hurt = w->now;
		w->qps[i].closing = 0;
	}
	world_at(w, (1 + rnd(w, STUCK_NS)) * US, EVENT_AWAY, 0, 0);
}

static uint16_t port_in_use(const struct world *w, uint32_t i)
{
	struct hp3_ends ends = world_ends(w, i);
	struct hp3_flow_info info;
	uint32_t flow = hp3_flow_find(w->e, &ends, w->qps[i].rqpn);

	if (w->stand_in_home || flow == HP3_NO_FLOW ||
		hp3_flow_info(w->e, flow, w->now, &info) != 0 || !info.moved)
		return (uint16_t)(HOME_PORT + i);
	return info.port;
}

static void stand_in(struct world *w)
{
	w->away = WORLD_DIRECT;
	w->stand_in_home = rnd(w, HOME_ONE) == 0;
	for (uint32_t i = 0; i < w->p.qps; i++) {
		struct qp *q = &w->qps[i];

		w->direct[i] = port_in_use(w, i);
		q->resync = true;
		q->probe_until = q->fo_since = q->switched_at = 0;
		q->owed = false;
		if (q->resuming || w->stand_in_home)
			q->last_emit[++q->era % ERAS] = 0;
		q->resuming = false;
	}
	world_at(w, (1 + rnd(w, AWAY_US)) * US, EVENT_AWAY, 0, 0);
}

static void forgets(struct world *w)
{
	struct hp3_acts acts;
	uint32_t from = 0;

	do {
		acts.n = 0;
		from = hp3_missed(w->e, from, w->now, &acts);
		for (uint32_t i = 0; i < acts.n; i++) {
			if (acts.act[i].kind == HP3_ACT_RELEASE)
				VIOLATION(w, "what is old leaves behind what is newer");
			if (acts.act[i].kind == HP3_ACT_DISCARD)
				acts.act[i].count = 0; /* lost when it got stuck */
		}
		world_carry_out(w, &acts);
	} while (from != HP3_NO_FLOW);
}

/* The same hp3d, or another: where flows were is all that it knows. */
static void come_back(struct world *w)
{
	struct hp3_flow_info *moved = calloc(w->cfg.max_flows, sizeof(*moved));
	uint32_t n = 0;

	for (uint32_t f = 0; (f = hp3_flow_next(w->e, f)) != HP3_NO_FLOW; f++)
		n += hp3_flow_info(w->e, f, w->now, &moved[n]) == 0 && moved[n].moved;
	if (rnd(w, 2) == 0) {
		forgets(w);
	} else {
		w->r.crashes++;
		world_engine_start(w);
	}
	for (uint32_t i = 0; i < n && !w->stand_in_home; i++) {
		if (hp3_flow_restore(w->e, HP3_ENDS(&moved[i]), moved[i].rqpn, moved[i].port, 0,
			    w->now) != 0)
			VIOLATION(w, "a flow is not restored");
		w->r.restored++;
	}
	free(moved);
	w->away = WORLD_HERE;
}

void world_away(struct world *w)
{
	switch (w->away) {
	case WORLD_HERE:
		get_stuck(w);
		return;
	case WORLD_STUCK:
		stand_in(w);
		return;
	case WORLD_DIRECT:
		come_back(w);
		world_at(w, (1 + rnd(w, 2 * w->p.hang_every_us)) * US, EVENT_AWAY, 0, 0);
		return;
	}
}

static void pass(struct world *w, const struct event *event)
{
	struct qp *q = &w->qps[event->qp];

	if (event->kind == EVENT_SEND)
		world_into_network(w, event->pkt, w->direct[event->qp]);
	else if (event->kind == EVENT_REPLY && event->gen == q->epoch)
		world_rnic_reply(w, event->qp, &event->view, event->ours);
	else if (event->kind == EVENT_CNP && w->p.cc == HP3_CC_NATIVE)
		world_throttle(w, event->qp);
}

void world_unseen(struct world *w, const struct event *event)
{
	if (w->away == WORLD_DIRECT) {
		pass(w, event);
		return;
	}
	w->qps[event->qp].hurt = w->now;
	if (event->kind != EVENT_SEND)
		return;
	w->r.discarded++;
	free(event->pkt);
}
