/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairing by connection management packets on the wire: REQ, REP, RTU and DREQ (rule 16). */
#include "engine/pass/pass.h"

#define HALF (HP3_CM_PENDING / 2) /* requests from the network do not replace the local host's */

static bool is_between_the_same(const struct hp3_cm_pending *a, const struct hp3_cm_pending *b)
{
	return a->vlan == b->vlan && memcmp(a->local, b->local, sizeof(a->local)) == 0 &&
	       memcmp(a->remote, b->remote, sizeof(a->remote)) == 0;
}

static void remember_request(struct hp3_engine *e, const struct hp3_cm_pending *req)
{
	uint32_t *next = &e->cm_next[req->from_local];
	struct hp3_cm_pending *slot = NULL;

	for (uint32_t i = 0; i < HP3_CM_PENDING && slot == NULL; i++) {
		struct hp3_cm_pending *c = &e->cm[i];

		if (c->used && c->comm_id == req->comm_id && c->from_local == req->from_local &&
			is_between_the_same(c, req))
			slot = c; /* sent again */
	}
	if (slot == NULL)
		slot = &e->cm[req->from_local * HALF + (*next)++ % HALF];
	*slot = *req;
}

static void remember_ids(struct hp3_engine *e, uint32_t flow, const struct hp3_cm_pending *c)
{
	struct hp3_unauth_state *h = &e->unauth_state[flow];

	h->cm_local = c->from_local ? c->comm_id : c->answer_id;
	h->cm_remote = c->from_local ? c->answer_id : c->comm_id;
}

static bool is_paired_so(const struct hp3_engine *e, uint32_t flow, uint32_t lqpn)
{
	return (e->flows[flow].flags & HP3_FF_PAIRED) && e->flows[flow].lqpn == lqpn;
}

/*
 * If the flow's packets contradict the agreement (life/qp_sources.h), keeps it until they begin
 * anew.
 */
static void connect_cm_pair(struct hp3_turn *t, struct hp3_cm_pending *c)
{
	struct hp3_qp_event event = hp3_cm_event(c);
	uint32_t flow;

	c->used = false;
	if (hp3_qp(t->e, &event, t->now, t->acts) != 0)
		return;
	flow = hp3_flow_find(t->e, HP3_ENDS(&event), event.rqpn);
	if (is_paired_so(t->e, flow, event.lqpn))
		remember_ids(t->e, flow, c);
	else
		c->used = c->answered = true;
}

/*
 * A listening host answers every REQ from any source, and a REQ may name any queue pair. If the REQ
 * is from the network, or the flow is known, REQ and REP must be confirmed. The RTU confirms them:
 * it shows that the sender of the REQ got the REP. So does the first packet of the local queue
 * pair. Otherwise, requests with forged addresses would fill the tables.
 */
static bool is_to_be_confirmed(const struct hp3_engine *e, const struct hp3_cm_pending *c)
{
	struct hp3_qp_event event = hp3_cm_event(c);
	uint32_t flow = hp3_flow_find(e, HP3_ENDS(&event), event.rqpn);

	if (!c->from_local)
		return true;
	return flow != HP3_NO_FLOW &&
	       (e->flows[flow].flags & (HP3_FF_STARTED | HP3_FF_PAIRED)) != 0;
}

static void take_cm_reply(struct hp3_turn *t, struct hp3_cm_pending *c, const struct hp3_cm_msg *m)
{
	c->answer_id = m->local_id;
	c->answer_qpn = m->qpn;
	c->answer_psn = m->psn;
	c->answered = is_to_be_confirmed(t->e, c);
	if (!c->answered)
		connect_cm_pair(t, c);
}

void hp3_cm_began(struct hp3_turn *t, uint32_t flow, uint32_t psn)
{
	struct hp3_cm_pending *c = hp3_cm_agreed(t->e, flow, psn);

	if (c == NULL)
		return;
	c->used = false;
	if (hp3_flow_pair(t, flow, hp3_cm_event(c).lqpn, HP3_PAIRING_CM))
		remember_ids(t->e, flow, c);
}

/*
 * Any host can forge a DREQ of the peer. One without the communication ids of both ends is ignored.
 * If the ids are unknown, a DREQ of the local host counts, but only for a flow without traffic. A
 * local process may name a queue pair of another one.
 */
static bool is_meant(
	const struct hp3_turn *t, uint32_t flow, const struct hp3_cm_msg *m, bool from_local)
{
	const struct hp3_unauth_state *h = &t->e->unauth_state[flow];

	if ((h->cm_local | h->cm_remote) == 0)
		return from_local && hp3_flow_traffic(t->e, flow, t->now) != HP3_TRAFFIC_BUSY;
	return h->cm_local == (from_local ? m->local_id : m->remote_id) &&
	       h->cm_remote == (from_local ? m->remote_id : m->local_id);
}

static void take_cm_disconnect(
	struct hp3_turn *t, const struct hp3_cm_pending *by, const struct hp3_cm_msg *m)
{
	uint32_t local_id = by->from_local ? m->local_id : m->remote_id;
	uint32_t remote_id = by->from_local ? m->remote_id : m->local_id;
	uint32_t flow =
		hp3_flow_at(t->e, HP3_ENDS(by), by->qpn, by->from_local ? HP3_DIR_TX : HP3_DIR_RX);

	hp3_cm_disconnected(t->e, by, local_id, remote_id);
	if (flow != HP3_NO_FLOW && is_meant(t, flow, m, by->from_local))
		hp3_qp_disconnected(t, flow);
}

/* The RTU has the id of the REP, so its sender got the REP. */
static bool is_ready(const struct hp3_cm_pending *c, const struct hp3_cm_msg *m, bool from_local)
{
	return c->answered && c->from_local == from_local && c->comm_id == m->local_id &&
	       c->answer_id == m->remote_id;
}

void hp3_cm_seen(struct hp3_turn *t, const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	const struct hp3_ends ends = hp3_pkt_ends(pkt, dir);
	struct hp3_cm_pending c = {.used = true,
		.from_local = dir == HP3_DIR_TX,
		.ipv6 = ends.ipv6,
		.vlan = ends.vlan};
	struct hp3_cm_msg m;

	if (!t->e->cfg.pair_by_cm)
		return;
	hp3_cm_parse(pkt->frame, &pkt->v, &m);
	if (m.kind == HP3_CM_NONE || !hp3_pkt_icrc_ok(t->e, pkt))
		return;
	c.comm_id = m.local_id;
	c.qpn = m.qpn;
	c.psn = m.psn;
	memcpy(c.local, ends.local, c.ipv6 ? 16 : 4);
	memcpy(c.remote, ends.remote, c.ipv6 ? 16 : 4);
	if (m.kind == HP3_CM_REQ) {
		remember_request(t->e, &c);
	} else if (m.kind == HP3_CM_DREQ) {
		take_cm_disconnect(t, &c, &m);
	} else if (m.kind == HP3_CM_REP || m.kind == HP3_CM_RTU) {
		for (uint32_t i = 0; i < HP3_CM_PENDING; i++) {
			struct hp3_cm_pending *r = &t->e->cm[i];

			if (!r->used || !is_between_the_same(r, &c))
				continue;
			if (m.kind == HP3_CM_REP && r->comm_id == m.remote_id &&
				r->from_local != c.from_local)
				take_cm_reply(t, r, &m);
			else if (m.kind == HP3_CM_RTU && is_ready(r, &m, c.from_local))
				connect_cm_pair(t, r);
		}
	}
}
