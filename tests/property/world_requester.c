/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applications and the sending half of their RNICs: messages, window, AckReq, going back N or
 * repeating selectively.
 */
#include "world_internal.h"

/* The next message, one packet long, READ and ATOMIC of any span. */
static void one_packet(struct world *w, uint32_t i, uint8_t opcode, uint32_t span, uint32_t len)
{
	struct qp *q = &w->qps[i];

	for (uint32_t s = 0; s < span; s++)
		w->ring[i][(q->made + s) % RING] = (struct desc){.lin = q->made,
			.end = q->made + span,
			.opcode = opcode,
			.ackreq = true,
			.last = true,
			.span = span,
			.len = len};
	q->made += span;
}

static uint8_t write_op(bool first, bool last)
{
	if (first)
		return last ? HP3_OP_RC_WRITE_ONLY : HP3_OP_RC_WRITE_FIRST;
	return last ? HP3_OP_RC_WRITE_LAST : HP3_OP_RC_WRITE_MIDDLE;
}

static uint8_t send_op(bool first, bool last)
{
	if (first)
		return last ? HP3_OP_RC_SEND_ONLY : HP3_OP_RC_SEND_FIRST;
	return last ? HP3_OP_RC_SEND_LAST : HP3_OP_RC_SEND_MIDDLE;
}

static void many_packets(struct world *w, uint32_t i, uint32_t n)
{
	struct qp *q = &w->qps[i];
	uint64_t end = q->made + n;

	for (uint32_t k = 0; k < n; k++) {
		bool first = k == 0, last = k + 1 == n;
		uint8_t op = w->p.sends ? send_op(first, last) : write_op(first, last);

		q->since_ack = last ? 0 : q->since_ack + 1;
		w->ring[i][q->made % RING] = (struct desc){.lin = q->made,
			.end = end,
			.opcode = op,
			.ackreq = last || (!w->p.lockstep && q->since_ack % 64 == 0),
			.last = last,
			.span = 1,
			.len = last ? 1 + rnd(w, w->pmtu) : w->pmtu};
		q->made++;
	}
}

static void make_message(struct world *w, uint32_t i)
{
	bool even = w->p.lockstep || w->p.even, some = w->p.reads && w->p.read_percent == 0;
	bool read = w->p.reads && rnd(w, 100) < (some ? 25 : w->p.read_percent),
	     atomic = some && !read && rnd(w, 16) == 0;
	uint32_t n = even ? w->p.msg_packets : 1 + rnd(w, w->p.msg_packets);

	if (read) {
		uint32_t span = w->p.even ? n : 1 + rnd(w, 24);

		one_packet(w, i, HP3_OP_RC_READ_REQUEST, span, span * w->pmtu - rnd(w, w->pmtu));
	} else if (atomic) {
		one_packet(w, i, HP3_OP_RC_FETCH_ADD, 1, 8);
	} else if (w->p.invalidate && rnd(w, 4) == 0) {
		one_packet(w, i, HP3_OP_RC_SEND_ONLY_INV, 1, 64);
	} else if (w->p.odd_opcodes && rnd(w, 8) == 0) {
		one_packet(w, i, OP_ODD, 1, 100);
	} else {
		many_packets(w, i, n);
	}
}

/* A packet reaches hp3d's port. */
static void emit(struct world *w, uint32_t i, const struct desc *d, uint64_t lin, bool first)
{
	struct qp *q = &w->qps[i];
	struct hp3_view v = view_of(d->opcode);
	uint32_t span = d->span - (uint32_t)(lin - d->lin),
		 len = d->len - (uint32_t)(lin - d->lin) * w->pmtu;
	bool read = d->opcode == HP3_OP_RC_READ_REQUEST;
	struct pkt *k = malloc(sizeof(*k));

	v.psn = wire(q, lin);
	v.dest_qpn = q->rqpn;
	v.sport = (uint16_t)(HOME_PORT + i);
	v.payload_len = read ? 0 : (uint16_t)d->len;
	v.dma_len = read ? len : (uint32_t)(d->end - d->lin) * w->pmtu;
	if (d->ackreq && !read)
		v.flags |= HP3_VF_ACKREQ;
	*k = (struct pkt){.qp = i,
		.epoch = q->epoch,
		.span = read ? span : 1,
		.emit = ++w->emit,
		.lin = lin,
		.sends_to = w->p.selective ? q->rtx_end : q->high,
		.first = first,
		.opcode = d->opcode,
		.ackreq = d->ackreq};
	w->r.emitted++;
	w->r.sent += first;
	world_receive(
		w, HP3_DIR_TX, &(struct event){.kind = EVENT_SEND, .qp = i, .pkt = k, .view = v});
}

/* Selective repeat: the next packet that the responder lacks, below what it has. */
static bool repeat(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];
	struct desc again;

	if (q->rtx < q->una)
		q->rtx = q->una;
	while (q->rtx < q->rtx_end && q->rtx != q->una &&
		(q->rtx < q->exp || w->got[i][q->rtx % RING]))
		q->rtx++;
	if (q->rtx >= q->rtx_end)
		return false;
	w->r.retransmitted++;
	again = w->ring[i][q->rtx % RING];
	again.ackreq = true;
	emit(w, i, &again, q->rtx++, false);
	return true;
}

/* The timer runs for it. In lockstep messages are longer than the window: for every packet. */
static bool asks(const struct world *w, const struct desc *d)
{
	return d->ackreq || w->p.lockstep;
}

/* The next packet by `nxt`, if the window allows. */
static const struct desc *send_next(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];
	uint64_t lin = q->nxt;
	struct desc *d;
	bool first;

	if (q->rnr_wait || q->nxt - q->una >= w->p.window)
		return NULL;
	while (q->made <= q->nxt)
		make_message(w, i);
	d = &w->ring[i][q->nxt % RING];
	if (q->nxt - d->lin >= d->span || d->lin > q->nxt) {
		VIOLATION(w, "test bug: ring overrun");
		return NULL;
	}
	if (d->opcode == HP3_OP_RC_SEND_ONLY_INV && q->una < d->lin)
		return NULL; /* a fence: the keys of READs under way are in use */
	if (asks(w, d) && q->asks <= q->una)
		world_arm_rto(w, i);
	first = lin >= q->high;
	w->r.retransmitted += !first;
	q->nxt = d->lin + d->span;
	if (asks(w, d) && q->asks < q->nxt)
		q->asks = q->nxt;
	if (q->high < q->nxt)
		q->high = q->nxt;
	emit(w, i, d, lin, first);
	return d;
}

/* Between two packets that the RNIC sends: what it repeats waits for no application. */
static uint64_t gap(struct world *w, const struct qp *q, bool again)
{
	if (q->throttle > LINE_GAP)
		return q->throttle;
	if (w->p.gap_us == 0 || again)
		return 300 + rnd(w, 1000);
	return w->p.gap_us * US / 2 + rnd(w, w->p.gap_us * US);
}

/* A message is out: how long its application thinks about the next one. */
static uint64_t thinks(struct world *w, struct qp *q, const struct desc *d)
{
	uint64_t mean;

	if (w->p.lockstep)
		return 0;
	q->written += d->span;
	if (w->p.mbps != 0 && d->last) {
		mean = 8ull * w->pmtu * q->written * w->p.qps / w->p.mbps; /* us */
		q->written = 0;
		return (mean / 2 + rnd(w, (uint32_t)mean)) * US;
	}
	if (d->last && rnd(w, 12) == 0)
		return rnd(w, w->p.pause_us ? w->p.pause_us : 400) * US;
	return 0;
}

void world_send(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];
	bool again = q->nxt < q->high;
	const struct desc *d;

	q->idle = false;
	if (q->rnr_wait || !w->p.selective || !repeat(w, i)) {
		if (!again && w->now < q->thinks_until) {
			world_at(w, q->thinks_until - w->now, EVENT_SEND, i, q->send_timer);
			return;
		}
		d = send_next(w, i);
		if (d == NULL) {
			q->idle = true; /* an acknowledgement wakes it */
			return;
		}
		if (d->last)
			q->throttle -= q->throttle / 8;
		if (!again)
			q->thinks_until = w->now + thinks(w, q, d);
	}
	world_at(w, gap(w, q, again), EVENT_SEND, i, q->send_timer);
}

/* A CNP: the RNIC sends half as fast; it recovers message by message. */
void world_throttle(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];

	q->throttle = q->throttle < LINE_GAP ? 2 * LINE_GAP : 2 * q->throttle;
	if (q->throttle > w->p.throttle_us * US)
		q->throttle = w->p.throttle_us * US;
}

void world_wake(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];

	if (!q->idle)
		return;
	q->idle = false;
	world_at(w, 100, EVENT_SEND, i, q->send_timer);
}

void world_go_back(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];

	if (w->p.selective) {
		q->recover = q->nxt;
		q->rtx = q->una;
		q->rtx_end = q->got_high > q->una + 1 ? q->got_high : q->nxt;
	} else {
		q->nxt = q->una;
	}
	world_arm_rto(w, i);
	q->idle = false;
	world_at(w, 100, EVENT_SEND, i, ++q->send_timer);
}
