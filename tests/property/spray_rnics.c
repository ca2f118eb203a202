/* SPDX-License-Identifier: BSD-3-Clause */
/* The RNICs of a world of sprayed queue pairs, and what the engines are made of. */
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "spray_inside.h"
#include "roce/icrc.h"

#define WINDOW    192u /* packets in flight, where nothing else is said */
#define GAP_NS    400u /* between two of a queue pair, likewise */
#define RTO       (20 * MS)
#define RNR_NS    (100 * US)
#define ACK_EVERY 16u
#define RETRIES   7u
#define MTU       1024u
#define L3        14u
#define UDP       34u
#define ICRC      54u /* in the frame, of headers alone */
#define LARGE     (131072u / MTU) /* packets of a message that is sprayed, as shipped */

/* Messages until `total` PSNs are full. */
static void plan(struct world *w, struct requester *q)
{
	uint32_t at = 0, n;

	q->message = calloc(q->total, sizeof(*q->message));
	q->end = calloc(q->total, sizeof(*q->end));
	q->kind = calloc(q->total, 1);
	q->repeated = calloc(q->total, 1);
	q->since = calloc(q->total, sizeof(*q->since));
	w->there[q - w->qp].out_of_order = calloc(q->total, 1);
	while (at < q->total) {
		bool small = hp3_random_below(&w->rng, 100) < w->p.small_percent;
		bool read = hp3_random_below(&w->rng, 100) < w->p.reads_percent;
		bool large = draw(w, w->p.large_reads_percent * 10000);

		bool atomic = draw(w, w->p.atomics_percent * 10000);
		bool one = atomic || draw(w, w->p.ones_percent * 10000);
		bool inv = draw(w, w->p.inv_percent * 10000);

		read |= large;
		n = one                         ? 1
		    : (small || read) && !large ? 1 + hp3_random_below(&w->rng, 8)
						: LARGE + hp3_random_below(&w->rng, 3 * LARGE);
		n = n < q->total - at ? n : q->total - at;
		for (uint32_t i = at; i < at + n; i++) {
			q->message[i] = at;
			q->end[i] = at + n;
			q->kind[i] = atomic ? MESSAGE_ATOMIC
				     : inv  ? MESSAGE_SEND_INV
				     : read ? MESSAGE_READ
					    : MESSAGE_WRITE;
		}
		at += n;
	}
}

/* Half of all begin so that they pass 2^23 or 2^24. */
static uint32_t near_a_wrap(uint32_t psn, uint32_t total)
{
	uint32_t before = psn / 4 % total;

	if (psn % 4 >= 2)
		return psn;
	return ((psn % 4 == 0 ? 1u << 23 : 1u << 24) - before) & HP3_PSN_MASK;
}

static const uint8_t address[2][4] = {{10, 9, 0, 1}, {10, 9, 0, 2}};

/* Frames have addresses and an ICRC, and the same zeros between: the view has all that differs. */
static void make_frame(uint8_t *frame, unsigned from)
{
	const struct hp3_view v = {.l3_off = L3, .udp_off = UDP, .icrc_off = ICRC};
	uint32_t icrc;

	memcpy(frame + 26, address[from], 4);
	memcpy(frame + 30, address[!from], 4);
	icrc = hp3_icrc(frame, &v);
	memcpy(frame + ICRC, &icrc, sizeof(icrc));
}

void spray_rnics(struct world *w)
{
	w->qp = calloc(w->p.qps, sizeof(*w->qp));
	make_frame(w->frame[A], A);
	make_frame(w->frame[B], B);
	w->left = w->p.qps;
	for (uint32_t i = 0; i < w->p.qps; i++) {
		struct requester *q = &w->qp[i];

		q->total = w->p.packets / w->p.qps;
		q->first = near_a_wrap((uint32_t)hp3_random(&w->rng) & HP3_PSN_MASK, q->total);
		plan(w, q);
		q->emitting = true;
		spray_at(w, hp3_random_below(&w->rng, 100) * US,
			(struct event){.kind = EVENT_EMIT, .qp = i});
	}
	spray_announce(w);
}

static void forget(struct world *w, uint32_t qp)
{
	free(w->qp[qp].message);
	free(w->qp[qp].end);
	free(w->qp[qp].kind);
	free(w->qp[qp].repeated);
	free(w->qp[qp].since);
	free(w->there[qp].out_of_order);
}

void spray_begin_anew(struct world *w, uint32_t qp, uint32_t total)
{
	struct requester *q = &w->qp[qp], before = *q;

	forget(w, qp);
	w->there[qp] = (struct responder){0};
	*q = (struct requester){.life = before.life + 1,
		.first = before.first,
		.total = total,
		.emitting = before.emitting};
	plan(w, q);
}

void spray_rnics_free(struct world *w)
{
	for (uint32_t i = 0; i < w->p.qps; i++)
		forget(w, i);
	free(w->qp);
}

void spray_report(struct world *w, unsigned at, uint32_t qp, enum hp3_qp_kind kind, uint32_t first)
{
	struct hp3_acts acts = {0};
	struct hp3_qp_event event = {.kind = kind,
		.source = HP3_QP_SOURCE_KERNEL,
		.lqpn = (at == A ? 0x1000 : 0x2000) + qp,
		.rqpn = (at == A ? 0x2000 : 0x1000) + qp,
		.psn = first & HP3_PSN_MASK,
		.psn_known = first != HP3_NO_PSN};

	memcpy(event.local, address[at], 4);
	memcpy(event.remote, address[!at], 4);
	hp3_qp(w->host[at].e, &event, spray_clock(w, at), &acts);
	spray_carry_out(w, at, &acts);
}

void spray_announce(struct world *w)
{
	for (uint32_t i = 0; i < w->p.qps; i++)
		spray_report(w, A, i, HP3_QP_UP,
			w->now == 0 && hp3_random_below(&w->rng, 2) == 0 && !w->p.learnt
				? w->qp[i].first
				: HP3_NO_PSN);
}

void spray_host(struct world *w, unsigned at)
{
	struct hp3_engine_config table;
	struct host *h = &w->host[at];
	size_t size;

	hp3_policy_defaults(&table);
	table.spray.mode = w->p.automatic ? HP3_SPRAY_AUTO : HP3_SPRAY_ALL;
	if (w->p.off || (at == B && w->p.receiver_off))
		table.spray.mode = HP3_SPRAY_MOVE;
	table.max_flows = w->p.max_flows != 0 ? w->p.max_flows : 256;
	table.max_pairs = w->p.max_flows != 0 ? 2 : 16;
	table.max_moves = 64;
	if (w->p.bytes != 0)
		table.spray.bytes = w->p.bytes;
	table.spray.short_bytes = w->p.short_bytes;
	if (w->p.hold_packets != 0)
		table.hold_packets = w->p.hold_packets;
	if (w->p.flows != 0)
		table.spray.flows = w->p.flows;
	if (at == B && w->p.receiver_hold_bytes != 0)
		table.hold_bytes = w->p.receiver_hold_bytes;
	if (w->p.keepalive_us != 0)
		table.spray.keepalive_ns = w->p.keepalive_us * US;
	table.seed = hp3_random(&w->rng);
	h->cfg = hp3_policy_settled(&table);
	h->cfg.unkeyed = h->believes == 0;
	size = hp3_engine_size(&h->cfg);
	free(h->memory);
	h->memory = aligned_alloc(64, size);
	h->e = hp3_engine_create(h->memory, size, &h->cfg);
	h->lives++;
	CHECK(w, h->e != NULL, "no engine");
}

struct hp3_pkt spray_view(
	const struct world *w, uint8_t *frame, const struct packet *k, unsigned from)
{
	const struct hp3_opcode_info *op = &hp3_opcodes[k->opcode];
	struct hp3_pkt p;

	memcpy(frame, w->frame[from], FRAME);
	p = (struct hp3_pkt){.frame = frame,
		.trusted = true,
		.len = 58 + k->payload,
		.v = {.class = op->class,
			.opcode = k->opcode,
			.flags = (uint16_t)(op->flags | (k->ackreq ? HP3_VF_ACKREQ : 0) |
					    (k->ce ? HP3_VF_CE : 0)),
			.l3_off = L3,
			.udp_off = UDP,
			.icrc_off = ICRC,
			.sport = k->sport,
			.dest_qpn = (from == A ? 0x2000 : 0x1000) + k->qp,
			.psn = k->wire,
			.syndrome = k->syndrome,
			.payload_len = k->payload,
			.dma_len = k->dma_len}};
	if (k->damaged)
		memset(frame + ICRC, 0, sizeof(uint32_t));
	return p;
}

static struct packet request(const struct requester *q, uint32_t qp, uint32_t psn)
{
	bool first = psn == q->message[psn], last = psn + 1 == q->end[psn];
	struct packet k = {.qp = qp,
		.psn = psn,
		.span = 1,
		.life = q->life,
		.wire = (q->first + psn) & HP3_PSN_MASK,
		.sport = (uint16_t)(0xc000 + 977 * qp),
		.payload = MTU};

	if (q->kind[psn] == MESSAGE_READ) {
		k.opcode = HP3_OP_RC_READ_REQUEST;
		k.span = q->end[psn] - psn;
		k.dma_len = k.span * MTU;
		k.payload = 0;
		return k;
	}
	if (q->kind[psn] == MESSAGE_ATOMIC) {
		k.opcode = psn % 2 == 0 ? HP3_OP_RC_FETCH_ADD : HP3_OP_RC_CMP_SWAP;
		k.payload = 0;
		return k;
	}
	k.ackreq = last || psn % ACK_EVERY == 0;
	if (q->kind[psn] == MESSAGE_SEND_INV) {
		k.opcode = first && last ? HP3_OP_RC_SEND_ONLY_INV
			   : first       ? HP3_OP_RC_SEND_FIRST
			   : last        ? HP3_OP_RC_SEND_LAST_INV
					 : HP3_OP_RC_SEND_MIDDLE;
		return k;
	}
	k.opcode = first && last ? HP3_OP_RC_WRITE_ONLY
		   : first       ? HP3_OP_RC_WRITE_FIRST
		   : last        ? HP3_OP_RC_WRITE_LAST
				 : HP3_OP_RC_WRITE_MIDDLE;
	if (first)
		k.dma_len = (q->end[psn] - psn) * MTU;
	return k;
}

static void go_on(struct world *w, uint32_t qp, uint64_t t)
{
	if (w->qp[qp].emitting)
		return;
	w->qp[qp].emitting = true;
	spray_at(w, t, (struct event){.kind = EVENT_EMIT, .qp = qp});
}

static void set_timer(struct world *w, uint32_t qp)
{
	w->qp[qp].timer = w->now + RTO;
	spray_at(w, w->qp[qp].timer, (struct event){.kind = EVENT_TIMER, .qp = qp});
}

/* It ends by its response, not by an ACK. */
static bool is_answered(uint8_t kind)
{
	return kind == MESSAGE_READ || kind == MESSAGE_ATOMIC;
}

/* A SEND that invalidates keys waits for the READs and ATOMICs before it (IBV_SEND_FENCE). */
static bool waits_for_reads(const struct requester *q)
{
	if (q->kind[q->nxt] != MESSAGE_SEND_INV)
		return false;
	for (uint32_t at = q->una; at < q->nxt; at = q->end[at])
		if (is_answered(q->kind[at]))
			return true;
	return false;
}

void spray_emit(struct world *w, uint32_t qp)
{
	struct requester *q = &w->qp[qp];
	struct packet k;

	q->emitting = false;
	if (q->nxt >= q->total || q->nxt - q->una >= (w->p.window ? w->p.window : WINDOW))
		return;
	if (w->now < q->ready) {
		go_on(w, qp, q->ready);
		return;
	}
	if (waits_for_reads(q))
		return;
	k = request(q, qp, q->nxt);
	k.ackreq |= q->resume != 0 && !is_answered(q->kind[q->nxt]);
	k.again = q->nxt < q->hi;
	w->r.again += k.again;
	w->r.sent++;
	q->nxt += k.span;
	q->hi = q->nxt > q->hi ? q->nxt : q->hi;
	q->nxt = q->resume > q->nxt ? q->resume : q->nxt;
	q->resume = 0;
	if (q->timer == 0)
		set_timer(w, qp);
	go_on(w, qp, w->now + (w->p.gap_ns ? w->p.gap_ns : GAP_NS));
	spray_request(w, k);
}

/* What is missing is sent again, and all behind it (`all`), or that alone. */
static void go_back(struct world *w, struct requester *q, bool all)
{
	CHECK(w, ++q->retries <= RETRIES || w->p.patient, "queue pair %u: no retries are left",
		(unsigned)(q - w->qp));
	if (!all && q->nxt > q->una)
		q->resume = q->nxt;
	q->nxt = q->una;
}

void spray_timer(struct world *w, uint32_t qp)
{
	struct requester *q = &w->qp[qp];

	if (q->timer != w->now)
		return; /* it was set anew */
	q->timer = 0;
	if (q->una == q->total)
		return;
	w->r.timeouts++;
	q->asked = false;
	go_back(w, q, true); /* nothing says which ones came */
	set_timer(w, qp);
	go_on(w, qp, w->now);
}

static void progress(struct world *w, uint32_t qp, uint32_t una)
{
	struct requester *q = &w->qp[qp];

	if (una <= q->una)
		return;
	CHECK(w, una <= q->hi, "queue pair %u: what was never sent is acknowledged", qp);
	while (q->una < una)
		q->since[q->una++] = w->now - w->host[A].spared;
	q->retries = 0;
	q->nxt = q->nxt > una ? q->nxt : una;
	q->timer = 0;
	q->asked = false;
	if (q->una != q->total) {
		set_timer(w, qp);
		return;
	}
	w->left--;
	w->r.done_us += w->now / US;
}

static void count_nak(struct world *w, struct requester *q)
{
	CHECK(w, ++q->naks <= w->p.most_naks || w->p.most_naks == 0, "queue pair %u: %u NAKs",
		(unsigned)(q - w->qp), q->naks);
}

/* Responses are missing (an implied NAK): asked for once, until one comes. */
static void asks_again(struct world *w, struct requester *q)
{
	w->r.read_gaps++;
	if (q->asked)
		return;
	q->asked = true;
	w->r.read_naks++;
	count_nak(w, q);
	go_back(w, q, !w->p.selective);
}

/* Of a queue pair that had the number before: the RNIC drops it, for its PSN is not expected. */
static bool is_stale(struct world *w, const struct packet *k)
{
	bool stale = k->life != w->qp[k->qp].life;

	w->r.stale += stale;
	return stale;
}

/*
 * ACK and NAK acknowledge what was sent before this PSN, but READs and ATOMICs end by their data
 * alone. False: data is missing, and is asked for.
 */
static bool is_acknowledged(struct world *w, uint32_t qp, uint32_t psn)
{
	struct requester *q = &w->qp[qp];

	for (uint32_t at = q->una; at < psn; at = q->end[at]) {
		if (!is_answered(q->kind[at]))
			continue;
		progress(w, qp, at);
		asks_again(w, q);
		return false;
	}
	progress(w, qp, psn);
	return true;
}

void spray_requester(struct world *w, const struct packet *reply)
{
	struct requester *q = &w->qp[reply->qp];
	uint8_t kind = HP3_SYN_KIND(reply->syndrome);

	if (is_stale(w, reply))
		return;
	q->heard = hp3_max_u32(q->heard, reply->psn + (kind == HP3_SYN_ACK));
	if (hp3_opcodes[reply->opcode].flags & (HP3_VF_READ | HP3_VF_ATOMIC)) {
		/* it acknowledges WRITEs before it */
		while (q->una < reply->psn && !is_answered(q->kind[q->una]))
			progress(w, reply->qp, q->una + 1);
		if (reply->psn == q->una)
			progress(w, reply->qp, q->una + 1);
		else if (reply->psn > q->una)
			asks_again(w, q); /* one before it is lost */
	} else if (kind == HP3_SYN_ACK) {
		is_acknowledged(w, reply->qp, reply->psn + 1);
	} else if (is_acknowledged(w, reply->qp, reply->psn)) {
		if (reply->psn >= q->una && kind == HP3_SYN_RNR)
			q->nxt = q->una;
		else if (reply->psn >= q->una)
			go_back(w, q, !w->p.selective);
		if (kind == HP3_SYN_RNR)
			q->ready = w->now + RNR_NS;
	}
	go_on(w, reply->qp, w->now + GAP_NS);
}

static void answer(struct world *w, uint32_t qp, uint8_t opcode, uint32_t psn, uint8_t syndrome)
{
	struct packet k = {.qp = qp,
		.psn = psn,
		.life = w->qp[qp].life,
		.wire = (w->qp[qp].first + psn) & HP3_PSN_MASK,
		.sport = (uint16_t)(0xd000 + 977 * qp),
		.opcode = opcode,
		.syndrome = syndrome,
		.payload = opcode == HP3_OP_RC_ACK || opcode == HP3_OP_RC_ATOMIC_ACK ? 0 : MTU};

	if (opcode != HP3_OP_RC_ACK) {
		k.again = psn < w->there[qp].said;
		w->there[qp].said = hp3_max_u32(w->there[qp].said, psn + 1);
	}
	spray_reply(w, k);
}

/* A READ or ATOMIC request. */
static bool wants_answer(const struct packet *k)
{
	return (hp3_opcodes[k->opcode].flags & HP3_VF_ATOMIC) != 0 ||
	       k->opcode == HP3_OP_RC_READ_REQUEST;
}

static void execute(struct world *w, const struct packet *k)
{
	if (hp3_opcodes[k->opcode].flags & HP3_VF_ATOMIC) {
		w->r.atomics++;
		answer(w, k->qp, HP3_OP_RC_ATOMIC_ACK, k->psn, 0x1f);
		return;
	}
	if (k->opcode != HP3_OP_RC_READ_REQUEST) {
		if (k->ackreq)
			answer(w, k->qp, HP3_OP_RC_ACK, w->there[k->qp].expected - 1, 0x1f);
		return;
	}
	for (uint32_t i = 0; i < k->span; i++)
		answer(w, k->qp,
			k->span == 1       ? HP3_OP_RC_READ_RESP_ONLY
			: i == 0           ? HP3_OP_RC_READ_RESP_FIRST
			: i + 1 == k->span ? HP3_OP_RC_READ_RESP_LAST
					   : HP3_OP_RC_READ_RESP_MIDDLE,
			k->psn + i, 0x1f);
}

/* It is next. */
static void take(struct world *w, const struct packet *k)
{
	struct responder *q = &w->there[k->qp];

	q->asked = false;
	q->expected += k->span;
	if (k->opcode == HP3_OP_RC_SEND_LAST_INV || k->opcode == HP3_OP_RC_SEND_ONLY_INV)
		q->valid = q->expected;
	execute(w, k);
}

/* What was kept follows. */
static void take_out_of_order(struct world *w, uint32_t qp)
{
	struct responder *q = &w->there[qp];

	while (q->expected < w->qp[qp].total && q->out_of_order[q->expected]) {
		struct packet k = request(&w->qp[qp], qp, q->expected);

		take(w, &k);
	}
}

void spray_responder(struct world *w, const struct packet *k)
{
	struct responder *q = &w->there[k->qp];

	if (is_stale(w, k))
		return;
	w->r.arrived++;
	if (k->psn < q->expected) {
		CHECK(w, !wants_answer(k) || k->psn >= q->valid,
			"queue pair %u: READ or ATOMIC %u comes again, and its key is invalid",
			k->qp, k->psn);
		execute(w, k);
	} else if (k->psn > q->expected) {
		q->out_of_order[k->psn] |= w->p.selective && !wants_answer(k);
		w->r.gaps++;
		if (q->asked)
			return;
		q->asked = true;
		w->r.naks++;
		count_nak(w, &w->qp[k->qp]);
		answer(w, k->qp, HP3_OP_RC_ACK, q->expected, HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE);
	} else if (!wants_answer(k) && draw(w, w->p.rnr_ppm)) {
		q->asked = true; /* what follows is not asked for: it comes again anyway */
		w->r.rnrs++;
		answer(w, k->qp, HP3_OP_RC_ACK, q->expected, HP3_SYN_RNR);
	} else {
		take(w, k);
		take_out_of_order(w, k->qp);
	}
}
