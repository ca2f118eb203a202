/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If a flow's rate is below line rate, the pacer sends its packets. The packets wait in the same
 * FIFO as packets held by a move (rule 14). When the RNIC retransmits, this file decides which
 * waiting packets are obsolete.
 */
#include "engine/moves/moves.h"

#define COPY_SEARCH 256u /* held packets that are searched for an older copy */
#define BATCH       32u /* packets that leave at one deadline */

/*
 * Does the RNIC go back N, or repeat selectively? A run of retransmissions ends with the next first
 * transmission. By then, it has repeated all that had been emitted, or it has left packets out.
 * There is no verdict if replies arrived meanwhile for those left out, nor for a READ, whose span
 * the FIFO does not store.
 */
static void watch_run(struct hp3_rate *r, const struct hp3_flow *f, const struct hp3_held *h)
{
	if (h->flags & HP3_HELD_AGAIN) {
		r->again = !(h->flags & HP3_HELD_READ);
		r->again_to = hp3_psn_add(h->psn, 1);
		r->again_end = h->end;
		return;
	}
	if (r->again && h->psn == r->again_end && r->again_to != r->again_end &&
		hp3_psn_diff(f->stream.una, r->again_to) <= 0)
		r->selective = true;
	r->again = false;
}

/* Have checked ACKs let the RNIC skip earlier PSNs (rule 26)? */
static bool is_skipped(const struct hp3_flow *f, uint32_t psn)
{
	return (f->watch & HP3_FW_SURE) && hp3_psn_diff(psn, f->stream.una) <= 0;
}

/*
 * The RNIC went back to packets that the peer is missing, which wait at the tail. It now comes to
 * the packet that is next to leave, so it repeats all that wait (rule 14). Returns the number of
 * obsolete packets: those before the tail's run, from the head on. 0: the RNIC has not gone back so
 * far, or it repeats selectively and does not send the waiting packets again.
 */
static uint32_t obsolete_packets(const struct hp3_engine *e, const struct hp3_flow *f,
	const struct hp3_move *m, const struct hp3_held *h)
{
	const struct hp3_held *head = &e->held[m->head], *tail = &e->held[m->tail];
	uint32_t n = 0;

	if (e->rates[m->flow].selective || !(h->flags & tail->flags & HP3_HELD_AGAIN) ||
		hp3_psn_diff(tail->psn, h->psn) >= 0)
		return 0;
	if (h->psn != head->psn && (hp3_psn_diff(h->psn, head->psn) < 0 || !is_skipped(f, h->psn)))
		return 0; /* not yet there */
	for (uint32_t i = m->head; i != 0 && hp3_psn_diff(e->held[i].psn, head->psn) >= 0;
		i = e->held[i].next)
		n++;
	return n;
}

static void give_way(struct hp3_turn *t, uint32_t flow, uint32_t n)
{
	t->e->stats.superseded += n;
	hp3_hold_shed(t, flow, n);
	if (t->e->moves[t->e->flows[flow].slot].held_pkts != 0)
		return;
	t->e->rates[flow].floor = 0;
	hp3_slot_drop(t->e, flow, HP3_USE_PACE);
}

/*
 * A copy of a selectively repeated packet still waits: one is enough, unless only the new one
 * requests an ACK.
 */
static bool is_waiting(
	const struct hp3_engine *e, const struct hp3_move *m, const struct hp3_held *h)
{
	uint32_t n = 0;

	for (uint32_t i = m->head; i != 0 && n < COPY_SEARCH; i = e->held[i].next, n++) {
		const struct hp3_held *q = &e->held[i];

		if (q->psn == h->psn && q->opcode == h->opcode && q->len == h->len &&
			((q->flags & HP3_HELD_ASKS) || !(h->flags & HP3_HELD_ASKS)))
			return true;
	}
	return false;
}

static struct hp3_move *slot_if_any(struct hp3_engine *e, const struct hp3_flow *f)
{
	return f->slot == HP3_NO_SLOT ? NULL : &e->moves[f->slot];
}

void hp3_rate_tx(
	struct hp3_turn *t, uint32_t flow, const struct hp3_held *h, struct hp3_verdict *vd)
{
	struct hp3_engine *e = t->e;
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = slot_if_any(e, f);

	watch_run(&e->rates[flow], f, h);
	if (m != NULL && m->held_pkts != 0) {
		give_way(t, flow, obsolete_packets(e, f, m, h));
		m = slot_if_any(e, f);
	}
	if (m == NULL || m->held_pkts == 0) {
		e->rates[flow].floor = 0;
		hp3_rate_set(t, flow, h->len);
		if (e->pacing_ended || hp3_dcqcn_rate(&e->rates[flow].rp) == hp3_rate_line(e))
			f->flags &= (uint16_t)~HP3_FF_PACED;
		if (e->pacing_ended || hp3_pacer_when(&e->rates[flow].pacer, e->cfg.cc.burst_bytes,
					       t->now) <= t->now)
			goto pass;
		m = hp3_slot_take(e, flow, HP3_USE_PACE);
		if (m == NULL)
			goto unpaced;
		f->flags |= HP3_FF_PACED;
	} else if ((h->flags & HP3_HELD_AGAIN) && is_waiting(e, m, h)) {
		e->stats.superseded++;
		vd->kind = HP3_DROP;
		return;
	}
	vd->held = hp3_hold_put(e, flow, h);
	if (vd->held == 0) {
		hp3_hold_release(t, flow, UINT32_MAX, 0);
		hp3_slot_drop(e, flow, HP3_USE_PACE);
		goto unpaced;
	}
	e->stats.paced++;
	vd->kind = HP3_HOLD;
	hp3_rate_schedule(t, flow);
	return;
unpaced:
	e->stats.unpaced++;
pass:
	hp3_rate_sent(t, flow, h);
}

/* The head of the FIFO closes the old path. */
static bool close_with(struct hp3_turn *t, struct hp3_move *m)
{
	struct hp3_held h = t->e->held[m->head];

	if (h.flags & HP3_HELD_AGAIN) {
		hp3_move_input(t, m->flow, HP3_RFR_IN_TX_RETRANSMIT);
		return false;
	}
	if (m->search.kind == HP3_SEARCH_BEHIND_DRAIN && (h.flags & HP3_HELD_READ))
		return false;
	hp3_move_input(t, m->flow, HP3_RFR_IN_TX_NEW);
	hp3_hold_release(t, m->flow, 1, h.flags & HP3_HELD_ASKS ? 0 : HP3_SET_ACKREQ);
	hp3_rate_sent(t, m->flow, &h);
	hp3_move_close(t, m->flow, h.psn, h.end);
	return true;
}

void hp3_rate_due(struct hp3_turn *t, struct hp3_move *m)
{
	struct hp3_pacer *p = &t->e->rates[m->flow].pacer;
	uint32_t n = 0, i = m->head;
	uint64_t bytes = m->held_bytes;

	if (t->e->flows[m->flow].state == HP3_RFR_CLOSING && m->head != 0 && close_with(t, m)) {
		hp3_rate_schedule(t, m->flow);
		return;
	}
	for (; i != 0 && n < BATCH; i = t->e->held[i].next, n++) {
		hp3_rate_set(t, m->flow, bytes);
		if (n > 0 && hp3_pacer_when(p, t->e->cfg.cc.burst_bytes, t->now) > t->now)
			break;
		bytes -= t->e->held[i].len;
		hp3_rate_sent(t, m->flow, &t->e->held[i]);
	}
	hp3_hold_release(t, m->flow, n, 0);
	if (m->held_pkts == 0) {
		t->e->rates[m->flow].floor = 0;
		hp3_slot_drop(t->e, m->flow, HP3_USE_PACE);
	} else {
		hp3_rate_schedule(t, m->flow);
	}
}

static void unpace_flow(struct hp3_turn *t, struct hp3_move *m)
{
	t->e->flows[m->flow].flags &= (uint16_t)~HP3_FF_PACED;
	t->e->rates[m->flow].floor = 0;
	for (uint32_t i = m->head; i != 0; i = t->e->held[i].next)
		hp3_rate_sent(t, m->flow, &t->e->held[i]);
	hp3_hold_release(t, m->flow, UINT32_MAX, 0);
	hp3_slot_drop(t->e, m->flow, HP3_USE_PACE);
}

bool hp3_pacing_stop(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};

	if (e->rates == NULL)
		return false;
	e->pacing_ended = true;
	for (uint32_t i = e->nmoves; i-- > 0;) {
		struct hp3_move *m = &e->moves[e->slots[i]];

		if (m->use & HP3_USE_PACE && e->flows[m->flow].state == HP3_RFR_STEADY) {
			unpace_flow(&t, m);
			return true;
		}
	}
	return false;
}
