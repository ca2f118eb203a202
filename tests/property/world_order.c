/* SPDX-License-Identifier: BSD-3-Clause */
/* A request packet reaches the responder: is it in order? */
#include "world_internal.h"

/* Rule 23, with the exception of rule 13: what a dead path held belongs to another era. */
void world_check_arrival(struct world *w, const struct pkt *k)
{
	struct qp *q = &w->qps[k->qp];
	uint64_t *last = &q->last_emit[k->era % ERAS];
	bool moved = k->port != HOME_PORT + k->qp;

	w->r.arrived++;
	w->r.ports_used += moved;
	w->r.odd_moved += moved && k->opcode == OP_ODD;
	w->r.on_hot += k->ce;
	q->in_net--;
	if ((uint8_t)(q->era - k->era) >= ERAS)
		return;
	if (k->emit <= *last)
		VIOLATION(w, "order: queue pair %u, emission %llu after %llu (port %u)", k->qp,
			(unsigned long long)k->emit, (unsigned long long)*last, k->port);
	*last = k->emit;
	if (!k->first || k->epoch != q->epoch || k->era != q->era)
		return;
	if (k->lin < q->last_first)
		VIOLATION(w, "order: queue pair %u, first transmission %llu after %llu", k->qp,
			(unsigned long long)k->lin, (unsigned long long)q->last_first);
	q->last_first = k->lin;
}
