/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that the RNICs emit, through the engine. */
#include "world_internal.h"

void world_tx_make(struct world *w, struct burst *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		b->pkt[i] = (struct hp3_pkt){.v = b->event[i].view};
		world_pkt(w, b->event[i].qp, HP3_DIR_TX, &b->pkt[i]);
		b->event[i].pkt->len = b->pkt[i].len;
	}
}

/* The flow of queue pair i, whose last packet had `flow`; `hint`: as hp3_find_burst() says. */
static bool flow_of(const struct world *w, uint32_t i, uint32_t hint, struct hp3_flow_info *info)
{
	const struct qp *q = &w->qps[i];

	return (hp3_flow_info(w->e, q->flow, w->now, info) == 0 && info->rqpn == q->rqpn) ||
	       (hp3_flow_info(w->e, hint, w->now, info) == 0 && info->rqpn == q->rqpn);
}

void world_tx_before(struct world *w, struct burst *b, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct hp3_flow_info info;

		b->was[i].flow = HP3_NO_FLOW;
		b->was[i].state = HP3_RFR_STEADY;
		if (!flow_of(w, b->event[i].qp, b->pkt[i].flow, &info))
			continue;
		b->was[i].flow = info.flow;
		b->was[i].port = info.port ? info.port : b->pkt[i].v.sport; /* sent nothing yet */
		b->was[i].state = info.state;
	}
}

/* Only the packet that the actions came with can have closed its flow's old path. */
static void check_closing(struct world *w, const struct burst *b, uint32_t i, bool acts)
{
	const struct pkt *k = b->event[i].pkt;
	const struct hp3_verdict *vd = &b->vd[i];
	struct hp3_flow_info is;

	if (b->was[i].state != HP3_RFR_CLOSING || vd->flow != b->was[i].flow ||
		hp3_flow_info(w->e, vd->flow, w->now, &is) != 0 || is.state != HP3_RFR_DRAINING)
		return;
	if (!acts)
		VIOLATION(w, "queue pair %u closes its path without a word", k->qp);
	else if (vd->kind == HP3_PASS && !is_read(k->opcode) && !k->ackreq &&
		 !(vd->flags & HP3_SET_ACKREQ))
		VIOLATION(w, "closing packet without AckReq");
}

void world_tx_seen(struct world *w, struct burst *b, uint32_t from, uint32_t to, bool acts)
{
	for (uint32_t i = from; i < to; i++) {
		const struct pkt *k = b->event[i].pkt;
		struct qp *q = &w->qps[k->qp];

		q->flow = b->vd[i].flow;
		if (k->epoch != q->epoch)
			continue;
		q->sending = k->lin;
		q->sends_to = k->sends_to;
		if (q->shown < k->lin + k->span)
			q->shown = k->lin + k->span;
	}
	check_closing(w, b, to - 1, acts);
	for (uint32_t i = from; i + 1 < to; i++) {
		if (b->vd[i].flow != b->vd[to - 1].flow)
			check_closing(w, b, i, false);
	}
}

/*
 * A port changes with actions only: so but for the last packet of a call it is still the one from
 * before.
 */
void world_tx_obey(struct world *w, struct burst *b, uint32_t i, bool last)
{
	struct pkt *k = b->event[i].pkt;
	const struct hp3_verdict *vd = &b->vd[i];
	struct hp3_flow_info info = {.port = b->pkt[i].v.sport};
	bool same = !last && vd->flow == b->was[i].flow && vd->flow != HP3_NO_FLOW;

	if (same)
		info.port = b->was[i].port;
	else
		hp3_flow_info(w->e, vd->flow, w->now, &info);
	if (vd->flags & HP3_SET_ACKREQ)
		k->ackreq = true;
	world_hold(w, k, vd, info.port);
}
