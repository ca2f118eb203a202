/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending: messages become packets. Replies: requester_reply.c. */
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "content.h"
#include "requester.h"

#define FIRST_ROOM 16u
#define PSNS_MAX   (1u << 22) /* under way: far from where "before" and "behind" change places */

void gen_requester_init(
	struct gen_requester *r, const struct gen_requester_params *p, uint32_t first_psn)
{
	*r = (struct gen_requester){
		.p = p, .una = first_psn, .nxt = first_psn, .hi = first_psn, .post = first_psn};
}

void gen_requester_free(struct gen_requester *r)
{
	free(r->queue);
	r->queue = NULL;
	r->room = 0;
}

static int grow_queue(struct gen_requester *r)
{
	uint32_t room = r->room == 0 ? FIRST_ROOM : 2 * r->room;
	struct gen_message *queue;

	if (room > GEN_QUEUE_MAX)
		return -ENOBUFS;
	queue = malloc(room * sizeof(*queue));
	if (queue == NULL)
		return -ENOMEM;
	for (uint32_t i = r->taken; i != r->tail; i++)
		queue[i & (room - 1)] = *gen_requester_message(r, i);
	free(r->queue);
	r->queue = queue;
	r->room = room;
	return 0;
}

int gen_requester_post(
	struct gen_requester *r, enum gen_op op, uint32_t len, uint64_t va, uint64_t now)
{
	int ret;

	if (r->failure != GEN_FINE)
		return -EPIPE;
	if (len > GEN_LEN_MAX)
		return -EINVAL;
	if (r->tail - r->taken == r->room && (ret = grow_queue(r)) != 0)
		return ret;
	*gen_requester_message(r, r->tail) = (struct gen_message){.posted = now,
		.va = va,
		.len = len,
		.number = r->number++,
		.psn = r->post,
		.packets = gen_packets(len, r->p->mtu),
		.op = (uint8_t)op};
	r->post = gen_message_end(gen_requester_message(r, r->tail));
	r->tail++;
	return 0;
}

/* SEND and WRITE packets under way. */
static uint32_t in_flight(const struct gen_requester *r)
{
	return (uint32_t)hp3_psn_diff(r->nxt, r->una) - r->read_psns;
}

bool gen_requester_ready(const struct gen_requester *r, uint64_t now)
{
	if (r->failure != GEN_FINE || r->at == r->tail || now < r->rnr_until)
		return false;
	if (gen_requester_message(r, r->at)->op == GEN_READ)
		return r->reads == 0 ||
		       (r->reads < r->p->max_reads &&
			       (uint32_t)hp3_psn_diff(r->nxt, r->una) +
					       gen_requester_message(r, r->at)->packets <
				       PSNS_MAX);
	return in_flight(r) < r->p->window;
}

static uint8_t opcode_of_packet(const struct gen_message *m, bool first, bool last)
{
	static const uint8_t codes[][4] = {
		[GEN_WRITE] = {HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_WRITE_LAST, HP3_OP_RC_WRITE_FIRST,
			HP3_OP_RC_WRITE_ONLY},
		[GEN_WRITE_IMM] = {HP3_OP_RC_WRITE_MIDDLE, HP3_OP_RC_WRITE_LAST_IMM,
			HP3_OP_RC_WRITE_FIRST, HP3_OP_RC_WRITE_ONLY_IMM},
		[GEN_SEND] = {HP3_OP_RC_SEND_MIDDLE, HP3_OP_RC_SEND_LAST, HP3_OP_RC_SEND_FIRST,
			HP3_OP_RC_SEND_ONLY},
	};
	return codes[m->op][first * 2 + last];
}

/* A packet that must be answered: the timer runs. */
static void must_answer(struct gen_requester *r, uint64_t now)
{
	r->must_end = r->nxt;
	if (r->armed || r->p->timeout == 0)
		return;
	r->armed = true;
	r->deadline = now + gen_timeout_ns(r->p->timeout);
}

static void take_sample(struct gen_requester *r, uint32_t psn, uint64_t now)
{
	uint32_t i = r->samples++ % GEN_RTT_SAMPLES;

	if (r->samples - r->sampled > GEN_RTT_SAMPLES)
		r->sampled = r->samples - GEN_RTT_SAMPLES;
	r->sample[i].psn = psn;
	r->sample[i].sent = now;
}

static void next_read(struct gen_requester *r, const struct gen_message *m, struct gen_packet *out)
{
	uint32_t done = (uint32_t)hp3_psn_diff(r->nxt, m->psn);

	out->opcode = HP3_OP_RC_READ_REQUEST;
	out->va = m->va + (uint64_t)done * r->p->mtu;
	out->dma_len = m->len - done * r->p->mtu;
	r->read_psns += m->packets - done;
	r->reads++;
	r->nxt = gen_message_end(m);
	r->since = 0;
}

static void next_message_data(
	struct gen_requester *r, const struct gen_message *m, struct gen_packet *out)
{
	uint32_t at = (uint32_t)hp3_psn_diff(r->nxt, m->psn);
	bool last = at == m->packets - 1;
	/* Half a window at most, so that the answer comes before the window is full. */
	uint32_t every = hp3_min_u32(r->p->ack_every, r->p->window / 2);

	out->opcode = opcode_of_packet(m, at == 0, last);
	out->va = m->va;
	out->dma_len = m->len;
	out->imm = m->number;
	out->content = GEN_MESSAGE;
	out->header = gen_header(m->number, m->len);
	out->offset = at * r->p->mtu;
	out->len = gen_piece(m->len, out->offset, r->p->mtu);
	out->ackreq = last || ++r->since >= every || in_flight(r) + 1 >= r->p->window;
	if (out->ackreq)
		r->since = 0;
	r->nxt = hp3_psn_add(r->nxt, 1);
}

bool gen_requester_next(struct gen_requester *r, uint64_t now, struct gen_packet *out)
{
	const struct gen_message *m;

	if (!gen_requester_ready(r, now))
		return false;
	m = gen_requester_message(r, r->at);
	*out = (struct gen_packet){.psn = r->nxt, .again = hp3_psn_diff(r->nxt, r->hi) < 0};
	if (m->op == GEN_READ)
		next_read(r, m, out);
	else
		next_message_data(r, m, out);
	if (hp3_psn_diff(r->nxt, r->hi) > 0)
		r->hi = r->nxt;
	if (m->op == GEN_READ || out->ackreq)
		must_answer(r, now);
	if (out->ackreq && !out->again)
		take_sample(r, out->psn, now);
	r->at += r->nxt == gen_message_end(m);
	r->n.sent++;
	r->n.again += out->again;
	return true;
}

bool gen_requester_completed(struct gen_requester *r, struct gen_message *out)
{
	if (r->taken == r->head)
		return false;
	*out = *gen_requester_message(r, r->taken++);
	return true;
}

uint64_t gen_rnr_ns(uint8_t code)
{
	/* In units of 10 us: 0.01 ms to 491.52 ms; 0 is the longest, 655.36 ms. */
	static const uint16_t units[32] = {65535, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128,
		192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
		24576, 32768, 49152};

	return (code % 32 == 0 ? 65536 : units[code % 32]) * UINT64_C(10000);
}

const char *gen_failure_name(enum gen_failure f)
{
	static const char *const names[] = {
		[GEN_FINE] = "none",
		[GEN_RETRY_EXCEEDED] = "retry-exceeded",
		[GEN_RNR_EXCEEDED] = "rnr-retry-exceeded",
		[GEN_REMOTE_ERROR] = "remote-error",
		[GEN_BAD_RESPONSE] = "bad-response",
	};
	return names[f];
}
