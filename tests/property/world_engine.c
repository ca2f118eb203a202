/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3d's code around the engine: passes packets in, keeps the FIFOs, carries out actions. */
#include "world_inside.h"
#include <string.h>

#define TICK_AWAY (20 * US)

/* --- FIFOs --- */

static void put(struct world *w, struct pkt *k, const struct hp3_verdict *vd)
{
	struct fifo *f = &w->hold[vd->flow];

	k->next = NULL;
	k->number = vd->held;
	k->held_at = w->now;
	w->r.held++;
	w->nheld++;
	if (f->head == NULL)
		f->head = k;
	else
		f->tail->next = k;
	f->tail = k;
	f->bytes += k->len;
	if (f->bytes > w->cfg.hold_bytes)
		VIOLATION(w, "holds %llu bytes", (unsigned long long)f->bytes);
	if (w->p.pool != 0 && w->nheld > w->held_most)
		VIOLATION(w, "holds %u packets, has room for %u", w->nheld, w->held_most);
	if (w->p.pool != 0 && w->p.cc != HP3_CC_DCQCN && !w->qps[k->qp].draining)
		VIOLATION(w, "holds a packet of queue pair %u, which does not move", k->qp);
}

/* Before each burst, as app/hp3d/pipe/act.c has it. */
void world_make_room(struct world *w)
{
	uint32_t spare = w->p.pool / 8, taken;

	if (w->p.pool == 0)
		return;
	if (rnd(w, 16) == 0)
		w->elsewhere = rnd(w, w->p.pool + 1);
	taken = w->nheld + w->elsewhere + spare;
	w->held_most = w->nheld + (taken < w->p.pool ? w->p.pool - taken : 0);
	hp3_hold_room(w->e, w->held_most - w->nheld);
}

/* A retransmission may be dropped only while an older copy waits (rule 14). */
static void check_waits(struct world *w, const struct pkt *k)
{
	for (uint32_t s = 0; s < w->cfg.max_flows; s++) {
		for (const struct pkt *h = w->hold[s].head; h != NULL; h = h->next) {
			if (h->qp == k->qp && h->epoch == k->epoch && h->lin == k->lin)
				return;
		}
	}
	VIOLATION(w, "dropped PSN %llu, no copy of which waits", (unsigned long long)k->lin);
}

/* What waited is given up only if the RNIC emits it again behind the packet in hand (rule 14), or
 * if it has arrived, or its queue pair is gone. */
static void check_given_up(struct world *w, const struct pkt *k)
{
	const struct qp *q = &w->qps[k->qp];

	if (k->epoch != q->epoch || q->gone || k->lin + k->span <= q->exp)
		return;
	if (k->lin < q->sending || k->lin >= q->sends_to)
		VIOLATION(w, "gives up PSN %llu, which is not sent again",
			(unsigned long long)k->lin);
}

void world_hold(struct world *w, struct pkt *k, const struct hp3_verdict *vd, uint16_t port)
{
	struct qp *q = &w->qps[k->qp];

	if (vd->kind == HP3_PASS && vd->sport != port)
		VIOLATION(w, "opcode 0x%x passes on port %u, its flow uses %u", k->opcode,
			vd->sport, port);
	if (!q->started) {
		q->started = true;
		w->r.setups++;
		w->r.first_elsewhere += vd->sport != HOME_PORT + k->qp;
		if (vd->kind != HP3_PASS && w->p.lead_us != 0)
			VIOLATION(w, "the first packet of a queue pair does not leave at once");
	}
	switch ((enum hp3_verdict_kind)vd->kind) {
	case HP3_HOLD:
		if (w->quiet)
			world_check_silent(w, "a packet is held");
		put(w, k, vd);
		break;
	case HP3_DROP:
		w->r.superseded++;
		check_waits(w, k);
		w->r.discarded++;
		free(k);
		break;
	default:
		world_into_network(w, k, vd->sport);
		break;
	}
}

/* While it resumes: what waited leaves behind what was emitted after it, and went first. */
static void note_release(struct qp *q)
{
	if (q->resuming)
		q->last_emit[++q->era % ERAS] = 0;
}

static void empty_hold(struct world *w, const struct hp3_act *a)
{
	struct fifo *f = &w->hold[a->flow];
	uint32_t number = a->held;

	if (a->kind == HP3_ACT_RELEASE && f->head != NULL)
		note_release(&w->qps[f->head->qp]);
	for (uint32_t n = a->count; n > 0; n--) {
		struct pkt *k = f->head;

		if (k == NULL) {
			VIOLATION(w, "%u packets more than are held", n);
			return;
		}
		if (k->number != number)
			VIOLATION(w, "%u is to leave, %u was held first", number, k->number);
		number = hp3_held_next(w->e, number);
		f->head = k->next;
		w->nheld--;
		f->bytes -= k->len;
		if (n == 1 && (a->flags & HP3_SET_ACKREQ))
			k->ackreq = true;
		if (a->kind == HP3_ACT_DISCARD) {
			if (w->announcing && k->epoch == w->qps[k->qp].epoch)
				VIOLATION(w, "an announcement drops what is held of qp %u", k->qp);
			check_given_up(w, k);
			w->r.discarded++;
			w->r.given_up++;
			free(k);
		} else {
			world_into_network(w, k, a->port);
		}
	}
}

/* --- actions --- */

static void hand_nak(struct world *w, const struct hp3_act *a)
{
	struct hp3_flow_info info = {0};
	struct event event = {.t = w->now, .kind = EVENT_NAK, .view = view_of(HP3_OP_RC_ACK)};

	hp3_flow_info(w->e, a->flow, w->now, &info);
	event.qp = world_qp_at(w, a->flow, info.rqpn);
	event.gen = w->qps[event.qp].epoch;
	event.view.psn = a->psn;
	event.view.syndrome = HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE;
	w->r.naks_made++;
	world_check_nak(w, event.qp, a);
	if (w->polling) /* it goes before the reply in hand */
		world_rnic_reply(w, event.qp, &event.view, true);
	else
		world_push(w, event);
}

/* What a packet is released for is said by the event behind it: that one first. */
static void report_of(struct world *w, const struct hp3_acts *acts, uint32_t i, uint32_t *seen)
{
	for (uint32_t k = i + 1; k < acts->n; k++) {
		const struct hp3_act *a = &acts->act[k];

		if (a->kind != HP3_ACT_EVENT || a->flow != acts->act[i].flow)
			continue;
		if (!(*seen & 1u << k))
			world_check_event(w, &a->event);
		*seen |= 1u << k;
		return;
	}
}

void world_carry_out(struct world *w, const struct hp3_acts *acts)
{
	uint32_t seen = 0;

	if (acts->n > (w->ticking ? HP3_ACTS_MAX : 16))
		VIOLATION(w, "%u actions in one list", acts->n);
	if (acts->n > w->r.max_acts)
		w->r.max_acts = acts->n;
	for (uint32_t i = 0; i < acts->n && !w->failed; i++) {
		const struct hp3_act *a = &acts->act[i];

		if (a->kind == HP3_ACT_RELEASE || a->kind == HP3_ACT_DISCARD) {
			report_of(w, acts, i, &seen);
			empty_hold(w, a);
		} else if (a->kind == HP3_ACT_EVENT && !(seen & 1u << i)) {
			world_check_event(w, &a->event);
		} else if (a->kind == HP3_ACT_PROBE) {
			world_check_silent(w, "a probe");
			world_send_probe(w, a);
		} else if (a->kind == HP3_ACT_NAK) {
			world_check_silent(w, "a NAK");
			hand_nak(w, a);
		} else if (a->kind == HP3_ACT_CNP_OWED) {
			world_cnp_owed(w, world_qp_of(w, a));
		} else if (a->kind == HP3_ACT_REPORT) {
			world_check_silent(w, "a report");
			world_send_report(w, a);
		} else if (a->kind == HP3_ACT_SOLICIT_ACK) {
			world_check_silent(w, "an ACK solicitation");
			w->r.ack_solicitations++;
			HARM(w, "an ACK solicitation");
			world_check_ack_solicit(w, world_qp_of(w, a), a);
			world_send_like_data(w, world_qp_of(w, a), a);
		}
	}
}

/* --- time, set-up --- */

/* hp3d sleeps until something is due, if nothing comes, but not for long. */
static uint64_t next_tick(const struct world *w)
{
	uint64_t due = hp3_engine_due(w->e), soon = 50 * US, late = 200 * US;

	if (w->p.shipped == NULL)
		return (w->p.evict ? 500 : w->p.cc == HP3_CC_DCQCN ? 10 : 50) * US;
	if (due < w->now + soon)
		return soon;
	return due > w->now + late ? late : due - w->now;
}

void world_tick(struct world *w)
{
	struct hp3_acts acts;

	if (w->away != WORLD_HERE) {
		world_peer_tick(w);
		world_at(w, TICK_AWAY, EVENT_TICK, 0, 0);
		return;
	}
	w->ticking = true;
	do {
		acts.n = 0;
		hp3_tick(w->e, w->now, &acts);
		world_carry_out(w, &acts);
	} while (acts.more && !w->failed);
	w->ticking = false;
	world_peer_tick(w);
	world_check_holds(w);
	world_check_searches(w);
	if (w->p.rewire_every_us != 0)
		world_check_claims(w);
	if (w->p.reconnect_every_us != 0)
		world_check_reported(w);
	world_at(w, next_tick(w), EVENT_TICK, 0, 0);
}

void world_announce(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];
	struct hp3_ends ends = world_ends(w, i);
	struct hp3_qp_event event = {.kind = HP3_QP_UP,
		.source = HP3_QP_SOURCE_KERNEL,
		.lqpn = q->lqpn,
		.rqpn = q->rqpn,
		.psn = wire(q, RING),
		.psn_known =
			w->p.lead_us != 0 || w->p.up_late_us != 0 || w->p.reconnect_every_us != 0};
	struct hp3_acts acts = {0};

	event.ipv6 = ends.ipv6;
	event.vlan = ends.vlan;
	memcpy(event.local, ends.local, ends.ipv6 ? 16 : 4);
	memcpy(event.remote, ends.remote, ends.ipv6 ? 16 : 4);
	hp3_qp(w->e, &event, w->now, &acts);
	world_carry_out(w, &acts);
}

/* --- operators --- */

void world_command(struct world *w, uint32_t flow, enum hp3_cmd_kind kind, enum hp3_cause cause)
{
	struct hp3_cmd cmd = {.kind = (uint8_t)kind, .flow = flow, .cause = (uint8_t)cause};
	struct hp3_acts acts = {0};

	if (hp3_command(w->e, &cmd, w->now, &acts) == 0)
		w->r.moves_requested++;
	world_carry_out(w, &acts);
}

static void advise(struct world *w, uint32_t flow)
{
	struct hp3_cmd cmd = {.flow = flow, .port = (uint16_t)(0xc000 + rnd(w, 0x4000))};
	struct hp3_acts acts = {0};

	w->r.advised += hp3_advise(w->e, &cmd, w->now, &acts) == 0;
	world_carry_out(w, &acts);
}

void world_move(struct world *w)
{
	enum hp3_cmd_kind kind = rnd(w, 8) == 0 ? HP3_CMD_HOME : HP3_CMD_MOVE;
	uint32_t i = rnd(w, w->p.qps);

	if (w->p.advice && w->stopping == 0 && w->away == WORLD_HERE)
		advise(w, w->qps[i].flow);
	else if (w->stopping == 0 && w->away == WORLD_HERE)
		world_command(w, w->qps[i].flow, kind, HP3_CAUSE_OPERATOR);
	world_at(w, 1 + rnd(w, 2 * w->p.move_every_us) * US, EVENT_MOVE, 0, 0);
}
