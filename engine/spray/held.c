/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that the receiver holds, and when they go to the local RNIC. */
#include "engine/spray/receive.h"

#define UNSURE_PULSES 2u /* pulses: longest hold before spraying is certain */

/*
 * The next gap may be older than the wait allows when it becomes the first one. It is then due now:
 * a time in the past would look as if hp3d had been descheduled (hp3_spray_look()).
 */
uint64_t hp3_in_due(const struct hp3_turn *t, const struct hp3_spray_in *in)
{
	uint64_t due;

	if (in->reseq.held == 0 && in->ack.held == 0)
		return UINT64_MAX;
	if (!in->sure)
		due = in->reseq.gap_at + UNSURE_PULSES * hp3_spray_pulse(t->e);
	else
		due = hp3_min_u64(hp3_min_u64(hp3_reseq_due(&in->reseq, hp3_in_params(t->e)),
					  hp3_in_ask_due(in)),
			t->now + hp3_spray_pulse(t->e));
	return hp3_max_u64(due, t->now);
}

/* Held packets that one action hands over, in this order. */
struct run {
	uint32_t first, last, n, bytes;
	uint32_t end; /* PSN behind the last one, or behind all that an ACK acknowledges */
	bool nak; /* a NAK or RNR NAK is among them ... */
	uint32_t nak_psn; /* ... for this PSN */
};

static void add_to_run(struct hp3_engine *e, struct run *r, uint32_t handle)
{
	if (r->n++ == 0)
		r->first = handle;
	else
		e->held[r->last].next = handle;
	r->last = handle;
	r->bytes += e->held[handle].len;
}

/* Returns the entries to the end of the free list, because the caller still follows their links. */
static void release_run(
	struct hp3_turn *t, struct hp3_spray_in *in, const struct run *r, enum hp3_act_kind kind)
{
	struct hp3_engine *e = t->e;
	struct hp3_quota *peer = &e->spraying->quotas.peer[in->quota];
	struct hp3_act *a;

	if (r->n == 0)
		return;
	in->bytes -= r->bytes;
	peer->bytes -= r->bytes;
	peer->packets -= r->n;
	e->hold_bytes -= r->bytes;
	e->hold_packets -= r->n;
	e->hold_rx -= r->n;
	a = hp3_act(t, kind, HP3_NO_FLOW);
	a->held = r->first;
	a->count = r->n;
	e->held[r->last].next = 0;
	e->held[e->last_free].next = r->first;
	e->last_free = r->last;
}

static void add_ack(struct hp3_engine *e, struct hp3_spray_in *in, struct run *r)
{
	add_to_run(e, r, in->ack.held - 1);
	in->ack.held = 0;
	r->end = hp3_psn_add(in->ack.psn, 1);
	if (in->ack.refuses) {
		r->nak = true;
		r->nak_psn = r->end;
	}
}

/* Adds a packet from its slot, preceded by the held ACK if that belongs there. */
static void add_slot(struct hp3_engine *e, struct hp3_spray_in *in, struct run *r, uint32_t handle)
{
	if (in->ack.held != 0 && hp3_psn_diff(in->ack.psn, e->held[handle].psn) < 0)
		add_ack(e, in, r);
	add_to_run(e, r, handle);
	r->end = hp3_psn_add(e->held[handle].psn, 1);
}

void hp3_in_follow(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t most)
{
	struct run r = {0};
	uint32_t handle;

	if (!in->sure || in->unsized)
		most = UINT32_MAX;
	if (in->reads)
		hp3_in_owes(in);
	while (!(r.n >= most && hp3_reseq_pauses(&in->reseq)) &&
		hp3_reseq_next(&in->reseq, t->now, &handle)) {
		add_slot(t->e, in, &r, handle);
		if (in->reads)
			hp3_in_owes(in);
	}
	if (in->ack.held != 0 && hp3_in_has_come(in, in->ack.psn))
		add_ack(t->e, in, &r);
	release_run(t, in, &r, HP3_ACT_DELIVER);
	if (r.n >= most && hp3_reseq_follows(&in->reseq))
		hp3_in_wake(t->e, in, t->now);
}

void hp3_in_discard(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t handle)
{
	struct run r = {0};

	add_to_run(t->e, &r, handle);
	release_run(t, in, &r, HP3_ACT_DISCARD);
}

void hp3_in_forget(struct hp3_turn *t, struct hp3_spray_in *in)
{
	struct run r = {0};
	uint32_t handle;

	while (hp3_reseq_had(&in->reseq, &handle))
		add_to_run(t->e, &r, handle);
	release_run(t, in, &r, HP3_ACT_DISCARD);
}

void hp3_in_give_up(struct hp3_turn *t, struct hp3_spray_in *in, uint32_t end)
{
	const struct hp3_reseq_params *params = hp3_in_params(t->e);

	if (in->again && t->now - in->again_at < params->most_ns + params->give_up_ns)
		return;
	hp3_owed_done(&in->owed, end);
	hp3_reseq_acknowledged(&in->reseq, end, t->now);
	hp3_in_owes(in);
}

/* The RNIC gets these READ responses and ACKs; responses before them may be missing. */
static void note_handed_over(struct hp3_turn *t, struct hp3_spray_in *in, const struct run *r)
{
	if (!in->reads || r->n == 0 || in->reseq.held != 0)
		return;
	if (r->nak)
		hp3_in_give_up(t, in, r->nak_psn);
	hp3_in_give_up(t, in, r->end);
}

void hp3_in_empty(struct hp3_turn *t, struct hp3_spray_in *in, enum hp3_act_kind kind)
{
	struct run r = {0};
	uint32_t handle;

	while (hp3_reseq_flush(&in->reseq, &handle))
		add_slot(t->e, in, &r, handle);
	if (in->ack.held != 0)
		add_ack(t->e, in, &r);
	if (r.n != 0)
		hp3_in_gap(t->e, in);
	if (kind == HP3_ACT_DELIVER)
		note_handed_over(t, in, &r);
	release_run(t, in, &r, kind);
}

void hp3_in_keep(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	struct hp3_engine *e = t->e;
	struct hp3_quota *peer = &e->spraying->quotas.peer[in->quota];
	uint16_t len = (uint16_t)hp3_min_u32(pkt->len, UINT16_MAX);

	vd->kind = HP3_HOLD;
	vd->held = e->free_held;
	e->free_held = e->held[vd->held].next;
	e->held[vd->held] = (struct hp3_held){.psn = pkt->v.psn, .len = len};
	in->bytes += len;
	peer->bytes += len;
	peer->packets++;
	e->hold_bytes += len;
	e->hold_packets++;
	e->hold_rx++;
	e->stats.reseq_held++;
}

/*
 * One of the two may be another packet with a damaged PSN. A packet with a right ICRC is not
 * damaged.
 */
void hp3_in_replace(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	uint32_t span = in->reads ? 1 : hp3_in_span(in, &pkt->v), before;

	vd->kind = HP3_DROP;
	if (!hp3_pkt_icrc_ok(t->e, pkt))
		return;
	before = hp3_reseq_swap(&in->reseq, pkt->v.psn, span, t->e->free_held);
	hp3_in_keep(t, in, pkt, vd);
	hp3_in_discard(t, in, before);
}

void hp3_in_behind(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	struct run r = {0};

	hp3_in_keep(t, in, pkt, vd);
	add_to_run(t->e, &r, vd->held);
	release_run(t, in, &r, HP3_ACT_DELIVER);
}

/* DELIVER comes behind the packet in hand, so this packet is held for that moment, too. */
void hp3_in_before(struct hp3_turn *t, struct hp3_spray_in *in, const struct hp3_pkt *pkt,
	struct hp3_verdict *vd)
{
	bool room = t->e->hold_packets < t->e->hold_most;
	struct run r = {0};
	uint32_t handle;

	while (hp3_reseq_flush(&in->reseq, &handle))
		add_to_run(t->e, &r, handle);
	if (r.n != 0 && room) {
		hp3_in_keep(t, in, pkt, vd);
		add_to_run(t->e, &r, vd->held);
	}
	release_run(t, in, &r, HP3_ACT_DELIVER);
}

void hp3_in_late(struct hp3_turn *t, struct hp3_spray_in *in)
{
	const struct hp3_reseq_params *params = hp3_in_params(t->e);
	struct run r = {0};
	uint32_t handle;
	bool copy;

	while (hp3_reseq_late(&in->reseq, params, t->now, &handle, &copy)) {
		hp3_in_gap(t->e, in);
		if (copy) {
			hp3_act(t, HP3_ACT_SHOW, HP3_NO_FLOW)->held = handle;
			t->e->stats.reseq_late++;
		} else {
			add_slot(t->e, in, &r, handle);
		}
	}
	t->e->stats.reseq_given_up += r.n != 0;
	hp3_in_ack_counts(in);
	if (in->ack.held != 0 && in->reseq.held == 0 && t->now - in->ack.at >= params->most_ns) {
		hp3_in_gap(t->e, in);
		add_ack(t->e, in, &r); /* no response arrived: the RNIC sees that itself */
	}
	note_handed_over(t, in, &r);
	release_run(t, in, &r, HP3_ACT_DELIVER);
	if (in->ack.held == 0 || t->now < hp3_reseq_until(&in->reseq, params, in->ack.came))
		return;
	hp3_in_empty(t, in, HP3_ACT_DELIVER);
	hp3_reseq_passes(&in->reseq);
	t->e->stats.reseq_given_up++;
}
