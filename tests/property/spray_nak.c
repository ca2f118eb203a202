/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule 4: wherever the engine would hand over a NAK, its RNIC lacks no READ data before that PSN.
 * A NAK would complete the READ. Worlds of sprayed queue pairs have no probes, so that no NAK is
 * made in them; they ask whether one might be.
 */
#include "base/minmax.h"
#include "engine/moves/moves.h"
#include "spray_inside.h"

/* The engine hands over a NAK for this flow, if its path is dead. */
static bool is_nak_possible(const struct hp3_flow *f)
{
	const uint16_t live = HP3_FF_PAIRED | HP3_FF_STARTED;

	return (f->flags & live) == live && hp3_rnic_is_plain(f) && (f->watch & HP3_FW_SURE) &&
	       !hp3_stream_idle(&f->stream);
}

/*
 * The limit of what an engine can know: the RNIC asked again before the engine saw the first packet
 * of the flow, and lost all answers to that, too. It waits for its timer, and does nothing.
 */
static bool is_silent(const struct requester *q, const struct seen *s)
{
	return q->asked && !s->shown;
}

/* The engine waits for stall_us after una has moved. Here: as long as an RNIC takes to react. */
static bool is_settled(const struct world *w, struct seen *s, uint32_t una)
{
	uint64_t reaction = 2 * (w->p.rnic_us + 1) * US;

	if (s->una != una) {
		s->una = una;
		s->una_at = w->now;
	}
	return w->now >= hp3_max_u64(s->una_at, w->host[A].tail) + reaction;
}

void spray_ask_nak(struct world *w, uint32_t qp)
{
	const struct host *h = &w->host[A];
	const struct requester *q = &w->qp[qp];
	struct seen *s = &w->seen[qp % 64];
	const struct hp3_flow *f = &h->e->flows[s->flow];
	struct packet nak = {.qp = qp, .life = s->life, .is_nak_asked = true};

	if (s->lives != h->lives || s->life != q->life || h->direct || f->rqpn != 0x2000 + qp)
		return;
	if (!is_settled(w, s, f->stream.una) || !is_nak_possible(f) || is_silent(q, s))
		return;
	w->r.naks_possible++;
	nak.psn = (f->stream.una - q->first) & HP3_PSN_MASK;
	spray_at(w, hp3_max_u64(h->into, w->now), /* behind all that is on its way */
		(struct event){.kind = EVENT_INTO, .host = A, .packet = nak});
}

void spray_note_seen(struct world *w, const struct packet *k, uint32_t flow, enum hp3_dir dir)
{
	const struct requester *q = &w->qp[k->qp];
	struct seen *s = &w->seen[k->qp % 64];
	bool reads = hp3_opcodes[k->opcode].flags & (HP3_VF_READ | HP3_VF_ATOMIC);

	if (flow == HP3_NO_FLOW)
		return;
	if (s->lives != w->host[A].lives || s->life != k->life || s->missed)
		*s = (struct seen){.first = UINT32_MAX};
	if (dir == HP3_DIR_TX && s->first == UINT32_MAX)
		s->first = k->psn;
	if (reads && !k->damaged && k->life == q->life)
		s->shown |= k->psn < s->first || (dir == HP3_DIR_TX && k->psn <= q->una);
	s->flow = flow;
	s->lives = w->host[A].lives;
	s->life = k->life;
}

/*
 * An RNIC drops a NAK for a PSN before its first one. The engine has such a una where nobody told
 * it of a queue pair that begins among the PSNs that the one before it had in flight.
 */
static bool is_before_first(const struct packet *nak)
{
	return hp3_psn_diff(nak->psn, 0) < 0;
}

void spray_judge_nak(struct world *w, const struct packet *nak)
{
	const struct requester *q = &w->qp[nak->qp];

	if (nak->life != q->life || is_before_first(nak))
		return;
	if (w->p.bad_ppm + w->p.damaged_ppm != 0 && q->heard < nak->psn)
		return; /* what moved una was lost behind the engine */
	for (uint32_t at = q->una; at < nak->psn && at < q->hi; at++)
		CHECK(w, q->kind[at] != MESSAGE_READ && q->kind[at] != MESSAGE_ATOMIC,
			"queue pair %u: a NAK for PSN %u would complete %u, which lacks data",
			nak->qp, nak->psn, at);
}
