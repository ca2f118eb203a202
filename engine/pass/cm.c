/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairing by connection management packets on the wire: REQ, REP and DREQ (rule 16). */
#include "engine/pass/pass.h"

static void remember_request(struct hp3_engine *e, const struct hp3_cm_pending *req)
{
	struct hp3_cm_pending *slot = NULL;

	for (uint32_t i = 0; i < HP3_CM_PENDING && slot == NULL; i++) {
		struct hp3_cm_pending *c = &e->cm[i];

		if (c->used && c->comm_id == req->comm_id && c->from_local == req->from_local &&
			c->vlan == req->vlan && memcmp(c->local, req->local, 32) == 0)
			slot = c; /* sent again */
	}
	if (slot == NULL)
		slot = &e->cm[e->cm_next++ % HP3_CM_PENDING];
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

	memcpy(ev.local, req->local, 16);
	memcpy(ev.remote, req->remote, 16);
	hp3_qp(t->e, &ev, t->now, t->acts);
	req->used = false;
}

static void disconnect(struct hp3_turn *t, const struct hp3_cm_pending *by)
{
	uint32_t flow =
		hp3_flow_at(t->e, HP3_ENDS(by), by->qpn, by->from_local ? HP3_DIR_TX : HP3_DIR_RX);

	if (flow != HP3_NO_FLOW)
		hp3_flow_epoch(t, flow);
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
		disconnect(t, &c);
	} else if (m.kind == HP3_CM_REP) {
		for (uint32_t i = 0; i < HP3_CM_PENDING; i++) {
			struct hp3_cm_pending *r = &t->e->cm[i];

			if (r->used && r->comm_id == m.remote_id && r->from_local != c.from_local &&
				r->vlan == c.vlan && memcmp(r->local, c.local, 32) == 0)
				connect(t, r, &m);
		}
	}
}
