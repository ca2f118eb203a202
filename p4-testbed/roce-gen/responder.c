/* SPDX-License-Identifier: BSD-3-Clause */
#include "content.h"
#include "responder.h"

#define ACK_UNLIMITED  0x1fu /* ACK without end-to-end credits */
#define NAK_INVALID    (HP3_SYN_NAK | 1u)
#define NAK_ACCESS     (HP3_SYN_NAK | 2u)
#define BTH_LEN        12u
#define UDP_LEN        8u
#define RNR_TIMER_MASK 0x1fu

void gen_responder_init(
	struct gen_responder *r, const struct gen_responder_params *p, uint32_t first_psn)
{
	*r = (struct gen_responder){.p = p, .expected = first_psn};
}

static void schedule_answer(struct gen_responder *r, uint8_t syndrome, uint32_t psn, uint64_t at)
{
	if (!r->due || at < r->due_at)
		r->due_at = at;
	r->due = true;
	r->syndrome = syndrome;
	r->due_psn = psn;
}

/* Those that come before it leaves merge with it. */
static void acknowledge_psn(struct gen_responder *r, uint32_t psn, uint64_t now)
{
	schedule_answer(r, ACK_UNLIMITED, psn, now + r->p->ack_delay_ns);
}

static void fail_request(struct gen_responder *r, uint8_t syndrome)
{
	schedule_answer(r, syndrome, r->expected, 0);
	r->ended = true;
}

/* Answers to a READ repeated from `psn` on take the place of those that were still to come: the
 * requester has gone back and repeats all behind it, too. */
static void forget_reads(struct gen_responder *r, uint32_t psn)
{
	while (r->reads > 0) {
		uint32_t i = (r->first_read + r->reads - 1) % GEN_READS_MAX;

		if (hp3_psn_diff(hp3_psn_add(r->read[i].psn, r->read[i].packets), psn) <= 0)
			return;
		r->reads--;
	}
}

static bool queue_read(struct gen_responder *r, const struct hp3_view *v, uint64_t va, uint64_t now)
{
	uint32_t i = (r->first_read + r->reads) % GEN_READS_MAX;

	if (r->reads == GEN_READS_MAX) {
		r->n.reads_dropped++;
		return false;
	}
	r->read[i].psn = v->psn;
	r->read[i].packets = gen_packets(v->dma_len, r->p->mtu);
	r->read[i].at = 0;
	r->read[i].va = va;
	r->read[i].len = v->dma_len;
	r->read[i].ready_at = now + r->p->read_service_ns;
	r->reads++;
	r->n.reads++;
	return true;
}

static const uint8_t *reth_of_frame(const void *frame, const struct hp3_view *v)
{
	return (const uint8_t *)frame + v->udp_off + UDP_LEN + BTH_LEN;
}

static bool in_memory(const struct gen_responder *r, const uint8_t *h, uint32_t len)
{
	uint64_t va = hp3_be64(h);

	if (len == 0)
		return true;
	return hp3_be32(h + 8) == r->p->rkey && va >= GEN_MEMORY_BASE &&
	       va - GEN_MEMORY_BASE <= GEN_MEMORY_SIZE - len;
}

static void take_duplicate(
	struct gen_responder *r, const void *frame, const struct hp3_view *v, uint64_t now)
{
	r->n.duplicates++;
	if (v->opcode != HP3_OP_RC_READ_REQUEST) {
		/* A NAK that waits says more. */
		if (!r->due || HP3_SYN_KIND(r->syndrome) == HP3_SYN_ACK)
			acknowledge_psn(r, hp3_psn_add(r->expected, HP3_PSN_MASK), now);
		return;
	}
	if (!in_memory(r, reth_of_frame(frame, v), v->dma_len))
		return;
	forget_reads(r, v->psn);
	queue_read(r, v, hp3_be64(reth_of_frame(frame, v)), now);
}

static bool needs_buffer(uint8_t opcode)
{
	switch (opcode) {
	case HP3_OP_RC_SEND_FIRST:
	case HP3_OP_RC_SEND_ONLY:
	case HP3_OP_RC_SEND_ONLY_IMM:
	case HP3_OP_RC_WRITE_LAST_IMM:
	case HP3_OP_RC_WRITE_ONLY_IMM:
		return true;
	}
	return false;
}

/* Each rnr_every-th message finds no buffer at first. */
static bool not_ready(struct gen_responder *r, uint8_t opcode)
{
	if (r->p->rnr_every == 0 || !needs_buffer(opcode))
		return false;
	if (++r->rnr_count < r->p->rnr_every)
		return false;
	r->rnr_count = UINT32_MAX; /* so that it is 0 once this one has come again */
	schedule_answer(
		r, (uint8_t)(HP3_SYN_RNR | (r->p->rnr_timer & RNR_TIMER_MASK)), r->expected, 0);
	r->silent = true;
	r->n.rnr_naks++;
	return true;
}

/* SEND and WRITE begin with FIRST or ONLY and go on with the same kind; every packet but the last
 * is full. */
static bool in_sequence(struct gen_responder *r, const struct hp3_view *v)
{
	uint8_t kind = v->opcode >= HP3_OP_RC_WRITE_FIRST && v->opcode <= HP3_OP_RC_WRITE_ONLY_IMM
			       ? HP3_OP_RC_WRITE_FIRST
			       : HP3_OP_RC_SEND_FIRST;
	bool first = v->flags & HP3_VF_FIRST, last = v->flags & HP3_VF_LAST;

	if (first == r->within || (!first && kind != r->kind))
		return false;
	if (!last && v->payload_len != r->p->mtu)
		return false;
	if (last && (v->payload_len > r->p->mtu || (!first && v->payload_len == 0)))
		return false;
	if (first) {
		r->within = true;
		r->bad = false;
		r->kind = kind;
		r->done = 0;
		r->len = v->dma_len;
	}
	return kind == HP3_OP_RC_SEND_FIRST ||
	       (last ? r->done + v->payload_len == r->len : r->done + v->payload_len < r->len);
}

static void check_payload(struct gen_responder *r, const uint8_t *payload, uint32_t n)
{
	if (r->done == 0 && n >= GEN_WORD)
		memcpy(&r->header, payload, sizeof(r->header));
	else if (r->done == 0)
		r->header = 0;
	if (!r->bad && n > 0)
		r->bad = !gen_message_ok(payload, r->header, r->done, n);
}

static void judge_message(struct gen_responder *r)
{
	if (!r->p->check)
		return;
	if (r->done < GEN_WORD) {
		r->n.unchecked++;
	} else {
		r->n.checked++;
		r->n.wrong += r->bad || (uint32_t)r->header != r->done;
	}
}

static void count_executed(struct gen_responder *r, uint32_t packets)
{
	r->expected = hp3_psn_add(r->expected, packets);
	r->silent = false;
	r->n.executed++;
}

static void take_read(
	struct gen_responder *r, const void *frame, const struct hp3_view *v, uint64_t now)
{
	const uint8_t *h = reth_of_frame(frame, v);

	if (r->within) {
		fail_request(r, NAK_INVALID);
		return;
	}
	if (!in_memory(r, h, v->dma_len)) {
		fail_request(r, NAK_ACCESS);
		return;
	}
	if (!queue_read(r, v, hp3_be64(h), now))
		return;
	r->msn = hp3_psn_add(r->msn, 1);
	count_executed(r, gen_packets(v->dma_len, r->p->mtu));
}

static void take_data(struct gen_responder *r, const void *frame, const struct hp3_view *v,
	uint64_t now, struct gen_arrival *out)
{
	const uint8_t *payload =
		(const uint8_t *)frame + v->icrc_off - (v->payload_len + 3u) / 4u * 4u;
	bool last = v->flags & HP3_VF_LAST;

	if (not_ready(r, v->opcode))
		return;
	if (!in_sequence(r, v)) {
		fail_request(r, NAK_INVALID);
		return;
	}
	if ((v->flags & HP3_VF_FIRST) && r->kind == HP3_OP_RC_WRITE_FIRST &&
		!in_memory(r, reth_of_frame(frame, v), r->len)) {
		fail_request(r, NAK_ACCESS);
		return;
	}
	if (r->p->check)
		check_payload(r, payload, v->payload_len);
	r->done += v->payload_len;
	r->n.bytes += v->payload_len;
	count_executed(r, 1);
	out->fresh = true;
	if (last) {
		judge_message(r);
		r->within = false;
		r->msn = hp3_psn_add(r->msn, 1);
		r->n.messages++;
		out->message = true;
		out->len = r->done;
		out->immediate = r->kind == HP3_OP_RC_SEND_FIRST ||
				 v->opcode == HP3_OP_RC_WRITE_LAST_IMM ||
				 v->opcode == HP3_OP_RC_WRITE_ONLY_IMM;
	}
	if (v->flags & HP3_VF_ACKREQ)
		acknowledge_psn(r, v->psn, now);
}

void gen_responder_request(struct gen_responder *r, const void *frame, const struct hp3_view *v,
	uint64_t now, struct gen_arrival *out)
{
	int32_t ahead = hp3_psn_diff(v->psn, r->expected);

	*out = (struct gen_arrival){0};
	r->n.received++;
	if (r->ended)
		return;
	if (ahead < 0) {
		take_duplicate(r, frame, v, now);
	} else if (ahead > 0) {
		r->n.out_of_order++;
		if (r->silent)
			return;
		r->silent = true;
		r->n.out_of_seq_request++;
		schedule_answer(r, HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, r->expected, 0);
	} else if (v->flags & (HP3_VF_ATOMIC | HP3_VF_UNKNOWN) ||
		   v->opcode == HP3_OP_RC_SEND_LAST_INV || v->opcode == HP3_OP_RC_SEND_ONLY_INV ||
		   v->opcode == HP3_OP_RC_FLUSH || v->opcode == HP3_OP_RC_ATOMIC_WRITE) {
		fail_request(r, NAK_INVALID);
	} else if (v->opcode == HP3_OP_RC_READ_REQUEST) {
		take_read(r, frame, v, now);
	} else {
		take_data(r, frame, v, now, out);
	}
}

/* An ACK or NAK is due, and no READ that is still being served comes before it. */
static bool may_acknowledge(const struct gen_responder *r)
{
	return r->due &&
	       (r->reads == 0 || hp3_psn_diff(r->due_psn, r->read[r->first_read].psn) < 0);
}

enum gen_answer gen_responder_ready(const struct gen_responder *r, uint64_t now)
{
	if (r->reads > 0 && r->read[r->first_read].ready_at <= now)
		return GEN_ANSWER_DATA;
	return may_acknowledge(r) && r->due_at <= now ? GEN_ANSWER_ACK : GEN_NO_ANSWER;
}

uint64_t gen_responder_deadline(const struct gen_responder *r)
{
	uint64_t at = may_acknowledge(r) ? r->due_at : UINT64_MAX;

	if (r->reads > 0 && r->read[r->first_read].ready_at < at)
		at = r->read[r->first_read].ready_at;
	return at;
}

static void next_response(struct gen_responder *r, struct gen_packet *out)
{
	uint32_t i = r->first_read, mtu = r->p->mtu;
	bool first = r->read[i].at == 0, last = r->read[i].at == r->read[i].packets - 1;
	uint32_t done = r->read[i].at * mtu;

	out->opcode = first ? (last ? HP3_OP_RC_READ_RESP_ONLY : HP3_OP_RC_READ_RESP_FIRST)
			    : (last ? HP3_OP_RC_READ_RESP_LAST : HP3_OP_RC_READ_RESP_MIDDLE);
	out->psn = hp3_psn_add(r->read[i].psn, r->read[i].at);
	out->syndrome = ACK_UNLIMITED;
	out->content = GEN_MEMORY;
	out->va = r->read[i].va + done;
	out->len = gen_piece(r->read[i].len, done, mtu);
	r->read[i].at++;
	/* The response says the same as an ACK for what was before it. */
	if (r->due && HP3_SYN_KIND(r->syndrome) == HP3_SYN_ACK &&
		hp3_psn_diff(r->due_psn, out->psn) < 0)
		r->due = false;
	if (last) {
		r->first_read = (r->first_read + 1) % GEN_READS_MAX;
		r->reads--;
	}
}

bool gen_responder_next(struct gen_responder *r, uint64_t now, struct gen_packet *out)
{
	enum gen_answer a = gen_responder_ready(r, now);

	if (a == GEN_NO_ANSWER)
		return false;
	*out = (struct gen_packet){.msn = r->msn};
	if (a == GEN_ANSWER_DATA) {
		next_response(r, out);
		return true;
	}
	out->opcode = HP3_OP_RC_ACK;
	out->psn = r->due_psn;
	out->syndrome = r->syndrome;
	r->due = false;
	r->n.acks++;
	return true;
}
