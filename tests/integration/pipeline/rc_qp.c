/* SPDX-License-Identifier: BSD-3-Clause */
#include "rc_qp.h"
#include "content.h"
#include "roce/icrc.h"

#define RKEY        1u
#define PAYLOAD_MAX 2048u

static struct gen_requester_params requester = {
	.ack_every = 1u << 15, .max_reads = 1, .retry_count = 7, .rnr_retry = GEN_RETRY_EVER};
static struct gen_responder_params responder = {.rkey = RKEY, .check = true};
static uint32_t message_bytes;

void rc_set_shape(const struct rc_shape *s)
{
	requester.mtu = responder.mtu = s->payload;
	requester.window = s->window;
	requester.timeout = s->timeout;
	message_bytes = s->message * s->payload;
}

void rc_init(struct rc_qp *q, uint32_t first_psn)
{
	gen_requester_init(&q->requester, &requester, first_psn);
	gen_responder_init(&q->responder, &responder, first_psn);
}

static uint32_t build(const struct rc_qp *q, const struct gen_packet *p, void *frame, uint32_t cap)
{
	uint8_t payload[PAYLOAD_MAX];
	int n;

	gen_message_fill(payload, p->header, p->offset, p->len);
	n = hp3_build(frame, cap, &q->to,
		&(struct hp3_fields){
			.opcode = p->opcode,
			.ackreq = p->ackreq,
			.dest_qpn = q->rqpn,
			.psn = p->psn,
			.va = p->va,
			.rkey = RKEY,
			.dma_len = p->dma_len,
			.syndrome = p->syndrome,
			.msn = p->msn,
			.payload = payload,
			.payload_len = (uint16_t)p->len,
		});
	return n < 0 ? 0 : (uint32_t)n;
}

uint32_t rc_request(struct rc_qp *q, uint64_t now, void *frame, uint32_t cap)
{
	struct gen_packet p;

	/* The next message is begun when the last one has left. */
	if (q->messages > 0 && q->requester.at == q->requester.tail &&
		gen_requester_post(&q->requester, GEN_WRITE, message_bytes, GEN_MEMORY_BASE, 0) ==
			0)
		q->messages--;
	if (gen_requester_deadline(&q->requester) <= now)
		gen_requester_timer(&q->requester, now);
	return gen_requester_next(&q->requester, now, &p) ? build(q, &p, frame, cap) : 0;
}

static void note_port(struct rc_qp *q, uint16_t port)
{
	if (q->n_runs == 0 || q->runs[q->n_runs - 1].port != port) {
		if (q->n_runs == RC_PORTS_MAX) {
			q->runs_lost++;
			return;
		}
		q->runs[q->n_runs++] = (struct rc_run){.port = port};
	}
	q->runs[q->n_runs - 1].packets++;
}

void rc_take_request(struct rc_qp *q, const void *frame, const struct hp3_view *v)
{
	struct gen_arrival a;

	if (!hp3_icrc_ok(frame, v)) {
		q->bad_icrc++;
		return;
	}
	gen_responder_request(&q->responder, frame, v, 0, &a);
	if (a.fresh)
		note_port(q, v->sport);
}

void rc_take_reply(struct rc_qp *q, uint64_t now, const void *frame, const struct hp3_view *v)
{
	uint32_t una = q->requester.una;
	struct gen_message done;
	struct gen_reply reply;

	if (!hp3_icrc_ok(frame, v)) {
		q->bad_icrc++;
		return;
	}
	gen_requester_reply(&q->requester, v, now, &reply);
	q->acked += (uint32_t)hp3_psn_diff(q->requester.una, una);
	while (gen_requester_completed(&q->requester, &done))
		continue;
}

uint32_t rc_ack(struct rc_qp *q, void *frame, uint32_t cap)
{
	struct gen_packet p;

	return gen_responder_next(&q->responder, 0, &p) ? build(q, &p, frame, cap) : 0;
}
