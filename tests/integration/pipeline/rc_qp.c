/* SPDX-License-Identifier: BSD-3-Clause */
#include "rc_qp.h"
#include "roce/icrc.h"

static void fill(uint8_t *p, uint32_t len, uint32_t psn)
{
	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)(psn * 31 + i);
}

static uint8_t opcode(uint32_t at, uint32_t message)
{
	if (message == 1)
		return HP3_OP_RC_WRITE_ONLY;
	if (at == 0)
		return HP3_OP_RC_WRITE_FIRST;
	return at == message - 1 ? HP3_OP_RC_WRITE_LAST : HP3_OP_RC_WRITE_MIDDLE;
}

uint32_t rc_request(struct rc_qp *q, const struct rc_shape *s, void *frame, uint32_t cap)
{
	uint8_t payload[4096];
	struct hp3_fields f = {
		.opcode = opcode(q->at, s->message),
		.ackreq = q->at == s->message - 1,
		.dest_qpn = q->rqpn,
		.psn = q->next,
		.va = 0x7f0000000000u,
		.rkey = q->rqpn,
		.dma_len = s->message * s->payload,
		.payload = payload,
		.payload_len = (uint16_t)s->payload,
	};
	int n;

	if ((q->at == 0 && q->messages == 0) || ((q->next - q->una) & HP3_PSN_MASK) >= s->window)
		return 0;
	fill(payload, s->payload, q->next);
	n = hp3_build(frame, cap, &q->to, &f);
	if (n < 0)
		return 0;
	q->messages -= q->at == 0;
	q->at = (q->at + 1) % s->message;
	q->next = hp3_psn_add(q->next, 1);
	q->sent++;
	return (uint32_t)n;
}

static void note_port(struct rc_qp *q, uint16_t port, struct rc_faults *faults)
{
	if (q->n_runs == 0 || q->runs[q->n_runs - 1].port != port) {
		if (q->n_runs == RC_PORTS_MAX) {
			faults->runs_lost++;
			return;
		}
		q->runs[q->n_runs++] = (struct rc_run){.port = port};
	}
	q->runs[q->n_runs - 1].packets++;
}

void rc_take_request(
	struct rc_qp *q, const void *frame, const struct hp3_view *v, struct rc_faults *faults)
{
	int32_t ahead = hp3_psn_diff(v->psn, q->expected);
	const uint8_t *payload = (const uint8_t *)frame + v->icrc_off - v->payload_len;
	uint8_t want[4096];

	if (!hp3_icrc_ok(frame, v)) {
		faults->bad_icrc++;
		return;
	}
	faults->gaps += ahead > 0;
	faults->duplicates += ahead < 0;
	if (ahead != 0)
		return;
	fill(want, v->payload_len, v->psn);
	faults->bad_payload += memcmp(payload, want, v->payload_len) != 0;
	note_port(q, v->sport, faults);
	q->expected = hp3_psn_add(v->psn, 1);
	q->received++;
	q->msn = hp3_psn_add(q->msn, !!(v->flags & HP3_VF_LAST));
	if (v->flags & HP3_VF_ACKREQ) {
		q->ack_due = true;
		q->ack_psn = v->psn;
	}
}

void rc_take_reply(struct rc_qp *q, const struct hp3_view *v, struct rc_faults *faults)
{
	uint32_t una = hp3_psn_add(v->psn, 1);

	if (!(v->flags & HP3_VF_AETH) || HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK) {
		faults->naks++;
	} else if (hp3_psn_diff(una, q->una) <= 0 || hp3_psn_diff(una, q->next) > 0) {
		faults->stray_acks++;
	} else {
		q->acked += (una - q->una) & HP3_PSN_MASK;
		q->una = una;
	}
}

uint32_t rc_ack(struct rc_qp *q, void *frame, uint32_t cap)
{
	int n;

	if (!q->ack_due)
		return 0;
	q->ack_due = false;
	n = hp3_build_ack(frame, cap, &q->to, q->rqpn, q->ack_psn, 0x1f, q->msn);
	return n < 0 ? 0 : (uint32_t)n;
}
