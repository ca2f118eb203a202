/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs, the heap that schedules them, and sending. Receiving: endpoint_rx.c. */
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "content.h"
#include "endpoint.h"

#define UNLIMITED_BPS UINT64_C(1000000000000)
#define HEADERS       128u
#define BURST_PACKETS 2u
#define PACER_BYTE    UINT64_C(8000000000) /* of the pacer's unit, 10^-9 bit */
#define ECN_MASK      3u

static bool is_qp_before(const struct gen_qp *a, const struct gen_qp *b)
{
	return a->due != b->due ? a->due < b->due : a->turn_no < b->turn_no;
}

static void place_qp(struct gen_endpoint *ep, struct gen_qp *q, uint32_t at)
{
	ep->heap[at] = q;
	q->heap_at = at;
}

static void sift_qp(struct gen_endpoint *ep, struct gen_qp *q)
{
	uint32_t at = q->heap_at, child;

	while (at > 0 && is_qp_before(q, ep->heap[(at - 1) / 2])) {
		place_qp(ep, ep->heap[(at - 1) / 2], at);
		at = (at - 1) / 2;
	}
	while ((child = 2 * at + 1) < ep->n_qps) {
		if (child + 1 < ep->n_qps && is_qp_before(ep->heap[child + 1], ep->heap[child]))
			child++;
		if (!is_qp_before(ep->heap[child], q))
			break;
		place_qp(ep, ep->heap[child], at);
		at = child;
	}
	place_qp(ep, q, at);
}

/* Bytes in `ns` at a rate, two packets at least. */
static uint32_t burst_bytes(const struct gen_endpoint *ep, uint64_t bps, uint64_t ns)
{
	uint64_t bytes = bps / 8000 * ns / 1000000;
	uint32_t least = BURST_PACKETS * (ep->p.requester.mtu + HEADERS);

	return bytes < least ? least : bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
}

static uint64_t pacer_ready(
	const struct gen_endpoint *ep, const struct hp3_pacer *pacer, uint64_t now)
{
	return hp3_pacer_when(pacer, burst_bytes(ep, pacer->rate, ep->p.catch_up_ns), now);
}

/* What was idle saved up a burst and no more; only what waited may catch up. */
static void end_idle(const struct gen_endpoint *ep, struct hp3_pacer *pacer, uint64_t now)
{
	uint64_t most = burst_bytes(ep, pacer->rate, ep->p.catch_up_ns);
	uint64_t burst = burst_bytes(ep, pacer->rate, ep->p.burst_ns), owed;

	hp3_pacer_set_rate(pacer, pacer->rate, now); /* what is owed now */
	owed = pacer->debt / PACER_BYTE;
	if (most > burst && owed < most - burst)
		hp3_pacer_sent(pacer, (uint32_t)(most - burst - owed), now);
}

static bool has_data(const struct gen_qp *q, uint64_t now)
{
	return gen_responder_ready(&q->responder, now) == GEN_ANSWER_DATA ||
	       gen_requester_ready(&q->requester, now);
}

/* Whoever has something to send again after an idle time. */
static void resume_qp(const struct gen_endpoint *ep, struct gen_qp *q, uint64_t now)
{
	if (q->idle && has_data(q, now)) {
		q->idle = false;
		end_idle(ep, &q->pacer, now);
	}
}

void gen_endpoint_touch(struct gen_endpoint *ep, struct gen_qp *q, uint64_t now)
{
	uint64_t answer = gen_responder_deadline(&q->responder), due = UINT64_MAX;

	resume_qp(ep, q, now);
	if (gen_responder_ready(&q->responder, now) == GEN_ANSWER_ACK)
		due = now;
	else if (has_data(q, now))
		due = pacer_ready(ep, &q->pacer, now);
	else
		q->idle = true;
	if (answer > now)
		due = hp3_min_u64(due, answer);
	q->due = hp3_min_u64(due, gen_requester_deadline(&q->requester));
	q->turn_no = ++ep->turns;
	sift_qp(ep, q);
}

int gen_endpoint_init(struct gen_endpoint *ep, const struct gen_endpoint_params *p, uint64_t now)
{
	*ep = (struct gen_endpoint){.p = *p};
	ep->qps = calloc(p->max_qps, sizeof(*ep->qps));
	ep->heap = calloc(p->max_qps, sizeof(*ep->heap));
	ep->cnps = calloc(p->max_qps, sizeof(*ep->cnps));
	if (ep->qps == NULL || ep->heap == NULL || ep->cnps == NULL) {
		gen_endpoint_free(ep);
		return -ENOMEM;
	}
	hp3_pacer_init(&ep->port, p->link_bps > 0 ? p->link_bps : UNLIMITED_BPS, now);
	return 0;
}

void gen_endpoint_free(struct gen_endpoint *ep)
{
	for (uint32_t i = 0; i < ep->n_qps; i++)
		gen_requester_free(&ep->qps[i].requester);
	free(ep->qps);
	free(ep->heap);
	free(ep->cnps);
	free(ep->events);
	*ep = (struct gen_endpoint){0};
}

struct gen_qp *gen_endpoint_add(struct gen_endpoint *ep, uint32_t first_psn, uint64_t now)
{
	uint64_t bps = ep->p.qp_bps > 0 ? ep->p.qp_bps : UNLIMITED_BPS;
	struct gen_qp *q = &ep->qps[ep->n_qps];

	if (ep->n_qps == ep->p.max_qps)
		return NULL;
	*q = (struct gen_qp){.index = ep->n_qps, .lqpn = gen_endpoint_next_qpn(ep)};
	gen_requester_init(&q->requester, &ep->p.requester, first_psn);
	if (ep->p.dcqcn) {
		hp3_dcqcn_init(&q->rp, &ep->p.rp_params);
		bps = hp3_dcqcn_rate(&q->rp);
	}
	hp3_pacer_init(&q->pacer, bps, now);
	q->due = UINT64_MAX;
	q->heap_at = ep->n_qps++;
	sift_qp(ep, q);
	return q;
}

void gen_endpoint_connect(struct gen_endpoint *ep, struct gen_qp *q, uint32_t peer_psn)
{
	gen_responder_init(&q->responder, &ep->p.responder, peer_psn);
	q->connected = true;
}

int gen_endpoint_post(struct gen_endpoint *ep, struct gen_qp *q, enum gen_op op, uint32_t len,
	uint64_t va, uint64_t now)
{
	int ret = gen_requester_post(&q->requester, op, len, va, now);

	if (ret == 0)
		gen_endpoint_touch(ep, q, now);
	return ret;
}

void gen_endpoint_event(struct gen_endpoint *ep, const struct gen_event *event)
{
	if (ep->n_events == ep->events_room) {
		uint32_t room = ep->events_room == 0 ? 64 : 2 * ep->events_room;
		struct gen_event *events = realloc(ep->events, room * sizeof(*events));

		if (events == NULL)
			abort(); /* a lost completion would stop the load without a word */
		ep->events = events;
		ep->events_room = room;
	}
	ep->events[ep->n_events++] = *event;
}

void gen_endpoint_check_failed(struct gen_endpoint *ep, struct gen_qp *q)
{
	if (q->failed || (q->requester.failure == GEN_FINE && !q->responder.ended))
		return;
	q->failed = true;
	gen_endpoint_event(ep, &(struct gen_event){.type = GEN_FAILED, .qp = q});
}

static uint32_t send_frame(struct gen_endpoint *ep, void *buf, const struct hp3_addressing *a,
	const struct hp3_fields *f, uint64_t now)
{
	int len = hp3_build(buf, GEN_FRAME_MAX, a, f);

	if (len < 0)
		return 0;
	hp3_pacer_sent(&ep->port, (uint32_t)len, now);
	ep->n.tx_packets++;
	ep->n.tx_bytes += (uint32_t)len;
	return (uint32_t)len;
}

static uint32_t send_packet(struct gen_endpoint *ep, struct gen_qp *q, const struct gen_packet *p,
	void *buf, uint64_t now)
{
	struct hp3_addressing a = q->to;
	bool request = hp3_opcodes[p->opcode].class == HP3_CLASS_RC_REQUEST;
	struct hp3_fields f = {
		.opcode = p->opcode,
		.ackreq = p->ackreq,
		.dest_qpn = q->rqpn,
		.psn = p->psn,
		.va = p->va,
		.rkey = q->rkey,
		.dma_len = p->dma_len,
		.syndrome = p->syndrome,
		.msn = p->msn,
		.imm = p->imm,
		.payload = ep->content,
		.payload_len = (uint16_t)p->len,
	};
	uint32_t len;

	if (p->content == GEN_MESSAGE)
		gen_message_fill(ep->content, p->header, p->offset, p->len);
	else if (p->content == GEN_MEMORY)
		gen_memory_fill(ep->content, ep->p.responder.rkey, p->va, p->len);
	if (request)
		a.ipv4_id = gen_mark(q->emitted++, p->again);
	if (p->opcode == HP3_OP_RC_ACK)
		a.tclass &= (uint8_t)~ECN_MASK;
	len = send_frame(ep, buf, &a, &f, now);
	if (p->opcode == HP3_OP_RC_ACK)
		return len;
	hp3_pacer_sent(&q->pacer, len, now);
	if (ep->p.dcqcn)
		hp3_dcqcn_sent(&q->rp, &ep->p.rp_params, len, now);
	return len;
}

static void update_rate(struct gen_endpoint *ep, struct gen_qp *q, uint64_t now)
{
	if (!ep->p.dcqcn)
		return;
	hp3_dcqcn_advance(&q->rp, &ep->p.rp_params, now);
	if (hp3_dcqcn_rate(&q->rp) != q->pacer.rate)
		hp3_pacer_set_rate(&q->pacer, hp3_dcqcn_rate(&q->rp), now);
}

/* Requests and READ responses take turns. */
static bool next_qp_data(struct gen_qp *q, uint64_t now, struct gen_packet *out)
{
	q->turn = !q->turn;
	if (q->turn && gen_requester_next(&q->requester, now, out))
		return true;
	return gen_responder_next(&q->responder, now, out) ||
	       gen_requester_next(&q->requester, now, out);
}

static uint32_t serve_qp(struct gen_endpoint *ep, struct gen_qp *q, void *buf, uint64_t now)
{
	struct gen_packet p;
	bool any;

	gen_requester_timer(&q->requester, now);
	gen_endpoint_check_failed(ep, q);
	update_rate(ep, q, now);
	resume_qp(ep, q, now);
	if (gen_responder_ready(&q->responder, now) == GEN_ANSWER_ACK)
		any = gen_responder_next(&q->responder, now, &p);
	else
		any = has_data(q, now) && pacer_ready(ep, &q->pacer, now) <= now &&
		      next_qp_data(q, now, &p);
	return any ? send_packet(ep, q, &p, buf, now) : 0;
}

static uint32_t send_cnp(struct gen_endpoint *ep, void *buf, uint64_t now)
{
	struct gen_qp *q = ep->cnps[ep->cnp_first];
	struct hp3_addressing a = q->to;

	ep->cnp_first = (ep->cnp_first + 1) % ep->p.max_qps;
	ep->cnps_due--;
	q->cnp_due = false;
	q->cnps_sent++;
	a.tclass = ep->p.cnp_tclass;
	return send_frame(ep, buf, &a,
		&(struct hp3_fields){.opcode = HP3_OP_CNP, .becn = true, .dest_qpn = q->rqpn}, now);
}

uint32_t gen_endpoint_tx(struct gen_endpoint *ep, void *buf, uint64_t now)
{
	if (ep->idle && (ep->cnps_due > 0 || (ep->n_qps > 0 && ep->heap[0]->due <= now))) {
		ep->idle = false;
		end_idle(ep, &ep->port, now);
	}
	if (pacer_ready(ep, &ep->port, now) > now)
		return 0;
	if (ep->cnps_due > 0 && ep->paused_until[ep->p.cnp_priority] <= now)
		return send_cnp(ep, buf, now);
	if (ep->paused_until[ep->p.priority] > now)
		return 0;
	while (ep->n_qps > 0 && ep->heap[0]->due <= now) {
		struct gen_qp *q = ep->heap[0];
		uint32_t len = serve_qp(ep, q, buf, now);

		gen_endpoint_touch(ep, q, now);
		if (len > 0)
			return len;
	}
	ep->idle = true;
	return 0;
}

uint64_t gen_endpoint_deadline(const struct gen_endpoint *ep, uint64_t now)
{
	uint64_t port = pacer_ready(ep, &ep->port, now), due = UINT64_MAX;

	if (ep->n_qps > 0 && ep->heap[0]->due != UINT64_MAX)
		due = hp3_max_u64(
			hp3_max_u64(ep->heap[0]->due, port), ep->paused_until[ep->p.priority]);
	if (ep->cnps_due > 0) {
		uint64_t cnp = hp3_max_u64(port, ep->paused_until[ep->p.cnp_priority]);

		due = hp3_min_u64(due, cnp);
	}
	return due;
}
