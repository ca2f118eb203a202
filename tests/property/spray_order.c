/* SPDX-License-Identifier: BSD-3-Clause */
/* The order in which the RNICs of a world of sprayed queue pairs get packets. */
#include "base/minmax.h"
#include "spray_inside.h"
#include "engine/spray/spray.h"

#define MOST_NS (25 * MS) /* twice what a packet is held for, and what was waited for anew */

/* The RNIC has all before this PSN. */
static uint32_t complete(const struct world *w, unsigned at, uint32_t qp)
{
	return at == A ? w->qp[qp].una : w->there[qp].expected;
}

/* It is further ahead of what its RNIC waits for than the engine holds packets. */
static bool is_beyond(const struct world *w, unsigned at, const struct packet *k)
{
	return k->beyond && k->psn >= complete(w, at, k->qp) + HP3_RESEQ_WINDOW;
}

/* Can a READ that is sent again cross its response, or an engine take two queue pairs for one? */
static bool is_known(const struct world *w)
{
	return w->p.rnic_us == 0 && w->p.returns_us == 0;
}

/* PSN of the response that the engine at A waits for. */
static uint32_t missing(const struct world *w, uint32_t qp)
{
	const struct hp3_engine *e = w->host[A].e;

	for (uint32_t i = 0; i < e->nspray_in; i++) {
		const struct hp3_spray_in *in = &e->spraying->in[e->spraying->ins[i]];

		if (in->reads && in->requester == 0x2000 + qp)
			return (in->reseq.expected - w->qp[qp].first) & HP3_PSN_MASK;
	}
	return HP3_PSN_MASK;
}

void spray_judge_wait(struct world *w, const struct packet *k)
{
	uint32_t psn = k->damaged ? HP3_PSN_MASK : missing(w, k->qp);
	const struct requester *q = &w->qp[k->qp];
	uint64_t waited;

	if (psn >= q->una || k->life != q->life)
		return;
	waited = w->now - w->host[A].spared - q->since[psn];
	CHECK(w, !is_known(w) && waited <= MOST_NS,
		"queue pair %u: PSN %u is held for %u, which its RNIC has had for %llu us", k->qp,
		k->psn, psn, (unsigned long long)waited / US);
}

/*
 * No packet passes one that its RNIC emitted before, but for copies, ACKs (READ responses behind
 * one acknowledge as much as it does), and packets of a queue pair that is gone. First
 * transmissions pass none, but for those that are ahead of what their RNIC waits for by more than
 * the engine's window, which has no room for them (reseq_beyond).
 */
void spray_judge_order(struct world *w, unsigned at, const struct packet *k)
{
	struct requester *q = &w->qp[k->qp];
	uint64_t *newest = &w->newest[at][k->qp % 64];

	if (k->copy || k->opcode == HP3_OP_RC_ACK || k->life != q->life)
		return;
	CHECK(w, !k->beyond || is_beyond(w, at, k) || at == B || !is_known(w),
		"queue pair %u: there is room for PSN %u, and its RNIC has all before %u", k->qp,
		k->psn, complete(w, at, k->qp));
	w->r.overtaken += k->emitted < *newest;
	*newest = hp3_max_u64(*newest, k->emitted);
	if (k->again)
		return;
	/* First transmissions leave in the order of their PSNs. */
	w->r.passed += k->psn < q->newest[at] && (q->repeated[k->psn] >> at & 1) == 0;
	if (!is_beyond(w, at, k))
		q->newest[at] = hp3_max_u32(q->newest[at], k->psn);
}

static bool is_reply(const struct packet *k)
{
	return hp3_opcodes[k->opcode].class == HP3_CLASS_RC_REPLY;
}

void spray_judge_room(struct world *w, unsigned at, const struct packet *k)
{
	const struct host *h = &w->host[at];

	if (k->damaged || k->copy || k->opcode == HP3_OP_RC_ACK)
		return;
	for (uint32_t i = 1; i < HP3_HELD(h->cfg.hold_packets); i++) {
		const struct packet *held = &h->held[i];

		CHECK(w,
			!h->is_held[i] || held->qp != k->qp || held->life != k->life ||
				held->damaged || held->opcode == HP3_OP_RC_ACK ||
				is_reply(held) != is_reply(k) || held->psn >= k->psn,
			"queue pair %u: PSN %u passes %u, which is held", k->qp, k->psn, held->psn);
	}
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
