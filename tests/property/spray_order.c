/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which the RNICs of a world of sprayed queue pairs get packets. */
#include "base/minmax.h"
#include "spray_inside.h"

/*
 * No packet passes one that its RNIC emitted before, but for copies, ACKs (READ responses behind
 * one acknowledge as much as it does), and packets of a queue pair that is gone. First
 * transmissions pass none, but for those ahead of the engine's window, which has no room for them
 * (reseq_beyond).
 */
void spray_judge_order(struct world *w, unsigned at, const struct packet *k)
{
	struct requester *q = &w->qp[k->qp];
	uint64_t *newest = &w->newest[at][k->qp % 64];

	if (k->copy || k->opcode == HP3_OP_RC_ACK || k->life != q->life)
		return;
	w->r.overtaken += k->emitted < *newest;
	*newest = hp3_max_u64(*newest, k->emitted);
	if (k->again)
		return;
	/* First transmissions leave in the order of their PSNs. */
	w->r.passed += k->psn < q->newest[at] && (q->repeated[k->psn] >> at & 1) == 0;
	if (!k->beyond)
		q->newest[at] = hp3_max_u32(q->newest[at], k->psn);
}

/* The RNIC has all before this PSN. */
static uint32_t complete(const struct world *w, unsigned at, uint32_t qp)
{
	return at == A ? w->qp[qp].una : w->there[qp].expected;
}

/*
 * The RNIC took a repetition before the first transmission came, and before any first transmission
 * of a later PSN. The first transmission is a duplicate for that RNIC, whenever it comes.
 */
void spray_note_repeated(struct world *w, unsigned at, const struct packet *k)
{
	struct requester *q = &w->qp[k->qp];

	if (!k->again || k->life != q->life || k->psn < q->newest[at])
		return;
	if (k->psn < complete(w, at, k->qp))
		q->repeated[k->psn] |= (uint8_t)(1u << at);
}
