/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairing by connection management packets on the wire: REQ, REP and DREQ (rule 16). */
#include "engine/pass/pass.h"

#define HALF (HP3_CM_PENDING / 2) /* what the network asks for pushes out nothing of ours */

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

static void connect(struct hp3_turn *t, struct hp3_cm_pending *req, const struct hp3_cm_msg *m)
{
	struct hp3_qp_event ev = {.kind = HP3_QP_UP,
		.pairing = HP3_PAIRING_CM,
		.ipv6 = req->ipv6,
		.vlan = req->vlan,
		.lqpn = req->from_local ? req->qpn : m->qpn,
		.rqpn = req->from_local ? m->qpn : req->qpn,
		.psn = req->from_local ? m->psn : req->psn,
		.psn_known = true};
	struct hp3_hearsay *h;

	memcpy(ev.local, req->local, 16);
	memcpy(ev.remote, req->remote, 16);
	req->used = false;
	if (hp3_qp(t->e, &ev, t->now, t->acts) != 0)
		return;
	h = &t->e->hearsay[hp3_flow_find(t->e, HP3_ENDS(&ev), ev.rqpn)];
	h->cm_local = req->from_local ? req->comm_id : m->local_id;
	h->cm_remote = req->from_local ? m->local_id : req->comm_id;
}

/*
 * Anybody may send a DREQ in the peer's name; who does not know the communication ids of both ends
 * has not seen the connection. What the local host itself says counts also where they are unknown.
 */
static bool is_meant(const struct hp3_hearsay *h, const struct hp3_cm_msg *m, bool from_local)
{
	if ((h->cm_local | h->cm_remote) == 0)
		return from_local;
	return h->cm_local == (from_local ? m->local_id : m->remote_id) &&
	       h->cm_remote == (from_local ? m->remote_id : m->local_id);
}

static void disconnect(
	struct hp3_turn *t, const struct hp3_cm_pending *by, const struct hp3_cm_msg *m)
{
	uint32_t flow =
		hp3_flow_at(t->e, HP3_ENDS(by), by->qpn, by->from_local ? HP3_DIR_TX : HP3_DIR_RX);

	if (flow != HP3_NO_FLOW && is_meant(&t->e->hearsay[flow], m, by->from_local))
		hp3_flow_over(t, flow);
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
		disconnect(t, &c, &m);
	} else if (m.kind == HP3_CM_REP) {
		for (uint32_t i = 0; i < HP3_CM_PENDING; i++) {
			struct hp3_cm_pending *r = &t->e->cm[i];

			if (r->used && r->comm_id == m.remote_id && r->from_local != c.from_local &&
				is_between_the_same(r, &c))
				connect(t, r, &m);
		}
	}
}
