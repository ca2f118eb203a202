/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RNICs at the other end: one NAK per gap, duplicates acknowledged with the PSN of the latest
 * executed request, READ responses; and the notification point of the peer's hp3d.
 */
#include "world_internal.h"

#define COALESCE_NS (10 * US)
#define DATA_NS     (3 * US) /* WORLD_AFTER_READ: between READ responses */
#define CNP_NS      (20 * US)

void world_reply(struct world *w, uint32_t i, uint8_t opcode, uint64_t lin, uint8_t syndrome,
	uint16_t payload, bool ours)
{
	struct qp *q = &w->qps[i];
	struct hp3_view v = view_of(opcode);
	uint64_t t;

	v.psn = wire(q, lin);
	v.dest_qpn = q->lqpn;
	v.syndrome = syndrome;
	v.payload_len = payload;
	if (q->marked && w->peer_up && w->p.throttle_us == 0)
		v.flags |= HP3_VF_BECN;
	q->marked = false;
	if (w->p.responder == WORLD_AFTER_READ && (v.flags & HP3_VF_READ) && q->back_free > w->now)
		q->back_free += DATA_NS;
	t = world_way_back(w, i, &v);
	if (w->p.lose_closing && lin == q->closing && rnd(w, 2) != 0)
		t = 0;
	if (t == 0)
		q->hurt = w->now;
	else
		world_push(w, (struct event){.t = t,
				      .kind = EVENT_REPLY,
				      .qp = i,
				      .gen = q->epoch,
				      .view = v,
				      .ours = ours});
}

/* Credit count of an ACK, as it goes up and down. */
static uint8_t credit(struct world *w, struct qp *q)
{
	if (w->p.credits && rnd(w, 8) == 0)
		q->credit = (uint8_t)rnd(w, 32);
	return q->credit;
}

static void acknowledge(struct world *w, uint32_t i, bool ours)
{
	struct qp *q = &w->qps[i];

	if (w->p.responder != WORLD_COALESCING) {
		world_reply(w, i, HP3_OP_RC_ACK, q->exp - 1, credit(w, q), 0, ours);
	} else if (!q->ack_due) {
		q->ack_due = true;
		world_at(w, w->p.ack_us ? w->p.ack_us * US : COALESCE_NS, EVENT_ACK_DUE, i,
			q->epoch);
	}
}

void world_ack_due(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];

	if (!q->ack_due)
		return;
	q->ack_due = false;
	world_reply(w, i, HP3_OP_RC_ACK, q->exp - 1, credit(w, q), 0, false);
}

static void read_responses(struct world *w, uint32_t i, uint64_t lin, uint32_t span)
{
	if (w->qps[i].back_free < w->now + w->p.read_us * US)
		w->qps[i].back_free = w->now + w->p.read_us * US;
	for (uint32_t s = 0; s < span; s++) {
		uint8_t op = span == 1       ? HP3_OP_RC_READ_RESP_ONLY
			     : s == 0        ? HP3_OP_RC_READ_RESP_FIRST
			     : s + 1 == span ? HP3_OP_RC_READ_RESP_LAST
					     : HP3_OP_RC_READ_RESP_MIDDLE;

		world_reply(w, i, op, lin + s, 0, s + 1 == span ? 100 : w->pmtu, false);
	}
}

/* What is due goes out before anything that answers a later request: one stream (rule 12). */
static void execute(struct world *w, uint32_t i, const struct pkt *k)
{
	struct qp *q = &w->qps[i];

	if (is_read(k->opcode)) {
		if (q->ack_due && k->lin + k->span == q->exp) {
			q->ack_due = false;
			world_reply(w, i, HP3_OP_RC_ACK, k->lin - 1, credit(w, q), 0, false);
		}
		if (k->lin < q->inv_end && k->era == q->era)
			VIOLATION(w, "READ %llu behind the SEND that invalidates its key",
				(unsigned long long)k->lin);
		if (k->opcode == HP3_OP_RC_READ_REQUEST)
			read_responses(w, i, k->lin, k->span);
		else
			world_reply(w, i, HP3_OP_RC_ATOMIC_ACK, k->lin, 0, 0, false);
	} else {
		if (k->opcode == HP3_OP_RC_SEND_ONLY_INV) {
			w->r.invalidations++;
			q->inv_end = k->lin;
		}
		if (k->ackreq)
			acknowledge(w, i, false);
	}
}

/* WRITE ONLY: with immediate, say. */
static bool needs_receive(uint8_t opcode)
{
	return opcode == HP3_OP_RC_WRITE_ONLY || opcode == HP3_OP_RC_SEND_ONLY ||
	       opcode == HP3_OP_RC_SEND_FIRST;
}

/* Refused for good: the responder is in ERR from now on. */
static bool is_refused(struct world *w, const struct pkt *k)
{
	struct qp *q = &w->qps[k->qp];

	if (w->p.fatal_ppm == 0 || !chance(w, w->p.fatal_ppm))
		return false;
	q->gone = true;
	world_reply(w, k->qp, HP3_OP_RC_ACK, k->lin, (uint8_t)(HP3_SYN_NAK | (1 + rnd(w, 3))), 0,
		false);
	return true;
}

/* The packet that was expected; with selective repeat those behind it may be there already. */
static void in_order(struct world *w, const struct pkt *k)
{
	uint32_t i = k->qp;
	struct qp *q = &w->qps[i];

	if (w->p.rnr && needs_receive(k->opcode) && !q->deaf && rnd(w, 50) == 0) {
		q->deaf = true;
		world_reply(w, i, HP3_OP_RC_ACK, k->lin, HP3_SYN_RNR | 10, 0, false);
		return;
	}
	if (is_refused(w, k))
		return;
	q->deaf = false;
	q->exp += k->span;
	q->nak_sent = false;
	while (w->p.selective && w->got[i][q->exp % RING] && q->exp < q->got_high) {
		w->got[i][q->exp % RING] = false;
		q->exp++;
	}
	if (q->got_high < q->exp)
		q->got_high = q->exp;
	execute(w, i, k);
}

static void gap(struct world *w, const struct pkt *k)
{
	struct qp *q = &w->qps[k->qp];

	if (w->p.selective) {
		w->got[k->qp][k->lin % RING] = true;
		if (q->got_high <= k->lin)
			q->got_high = k->lin + 1;
	}
	if (!q->nak_sent && !q->deaf)
		world_reply(w, k->qp, HP3_OP_RC_ACK, q->exp, HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, 0,
			k->probe);
	q->nak_sent = true;
}

/* Notification point of the peer: a CNP for what arrived marked, at most one per interval. */
static void notify(struct world *w, const struct pkt *k)
{
	struct qp *q = &w->qps[k->qp];
	const struct hp3_view v = view_of(HP3_OP_CNP);
	uint64_t t;

	if ((w->p.cc != HP3_CC_DCQCN && w->p.throttle_us == 0) || !k->ce || w->now < q->cnp_next ||
		(!w->peer_up && w->p.throttle_us == 0))
		return;
	q->cnp_next = w->now + CNP_NS;
	t = world_way_back(w, k->qp, &v);
	if (t != 0)
		world_push(w, (struct event){.t = t,
				      .kind = EVENT_CNP,
				      .qp = k->qp,
				      .gen = q->epoch,
				      .port = k->port});
}

void world_arrive(struct world *w, struct pkt *k)
{
	struct qp *q = &w->qps[k->qp];

	if (!k->probe && !k->loose)
		world_check_arrival(w, k);
	if (!k->probe)
		q->marked |= k->ce;
	if (k->epoch != q->epoch || q->gone)
		goto out; /* the responder was reset as well, or is in ERR */
	if (k->lin < q->exp) {
		w->r.duplicates++;
		HARM(w, "queue pair %u receives a duplicate%s", k->qp, k->probe ? " of ours" : "");
	}
	if (k->lin == q->exp && !k->probe)
		in_order(w, k);
	else if (k->lin >= q->exp)
		gap(w, k);
	else if (is_read(k->opcode))
		execute(w, k->qp, k);
	else
		acknowledge(w, k->qp, k->probe);
	notify(w, k);
out:
	free(k);
}
