/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that REQ and REP agreed on, and no RTU has confirmed yet (cm.c). */
#include "engine/pass/pass.h"

struct hp3_qp_event hp3_cm_event(const struct hp3_cm_pending *c)
{
	struct hp3_qp_event event = {.kind = HP3_QP_UP,
		.source = HP3_QP_SOURCE_CM,
		.ipv6 = c->ipv6,
		.vlan = c->vlan,
		.lqpn = c->from_local ? c->qpn : c->answer_qpn,
		.rqpn = c->from_local ? c->answer_qpn : c->qpn,
		.psn = c->from_local ? c->answer_psn : c->psn,
		.psn_known = true};

	memcpy(event.local, c->local, 16);
	memcpy(event.remote, c->remote, 16);
	return event;
}

static bool is_agreed(const struct hp3_cm_pending *c, uint32_t vlan, const uint8_t local[16],
	const uint8_t remote[16])
{
	return c->used && c->answered && c->vlan == vlan && memcmp(c->local, local, 16) == 0 &&
	       memcmp(c->remote, remote, 16) == 0;
}

struct hp3_cm_pending *hp3_cm_agreed(struct hp3_engine *e, uint32_t flow, uint32_t psn)
{
	const struct hp3_flow *f = &e->flows[flow];
	const struct hp3_pair *p = &e->pairs.pairs[f->pair];

	for (uint32_t i = 0; i < HP3_CM_PENDING; i++) {
		struct hp3_qp_event event = hp3_cm_event(&e->cm[i]);

		if (event.rqpn == f->rqpn && event.psn == psn &&
			is_agreed(&e->cm[i], p->vlan, p->local, p->remote))
			return &e->cm[i];
	}
	return NULL;
}

void hp3_cm_forget(struct hp3_engine *e, const struct hp3_qp_event *end)
{
	for (uint32_t i = 0; i < HP3_CM_PENDING; i++) {
		struct hp3_qp_event event = hp3_cm_event(&e->cm[i]);

		if (event.lqpn == end->lqpn && event.rqpn == end->rqpn &&
			is_agreed(&e->cm[i], end->vlan, end->local, end->remote))
			e->cm[i].used = false;
	}
}

void hp3_cm_disconnected(struct hp3_engine *e, const struct hp3_cm_pending *by, uint32_t local_id,
	uint32_t remote_id)
{
	for (uint32_t i = 0; i < HP3_CM_PENDING; i++) {
		struct hp3_cm_pending *c = &e->cm[i];
		uint32_t asker = c->from_local ? local_id : remote_id;
		uint32_t other = c->from_local ? remote_id : local_id;

		if (c->comm_id == asker && c->answer_id == other &&
			is_agreed(c, by->vlan, by->local, by->remote))
			c->used = false;
	}
}
