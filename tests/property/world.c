/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"
#include <stdio.h>
#include <stdlib.h>
#include "engine/hash.h"
#include "roce/opcode.h"

#define RING      8192u
#define MAX_QPS   32u
#define MAX_PATHS 16u
#define US        1000ull
#define RTO_NS    (8000 * US)
#define HOT_NS    (300 * US)
#define PMTU      1024u
#define MAX_NS    (600000000 * US)

/* One request packet as the requester would (re)send it; index: linear PSN modulo RING. */
struct desc {
	uint64_t lin; /* PSN without wrap; the span of a READ repeats its first entry */
	uint8_t opcode;
	bool ackreq, last;
	uint32_t span, len;
};

struct qp {
	uint32_t epoch, lqpn, rqpn, start; /* start: PSN of lin 0 */
	uint64_t una, nxt, made; /* requester, linear */
	uint32_t msg_left, since_ack;
	uint64_t exp; /* responder: next expected */
	bool nak_sent, rnr_wait, idle;
	uint64_t rnr_psn;
	uint32_t unacked_timer, send_timer; /* generation of the live timer */
	uint64_t last_arrival_emit; /* order: emission number of the newest arrival */
	uint64_t burst_left;
	uint32_t flow;
	bool marked; /* CE since the last reply */
	bool deaf; /* responder answers RNR until the timer is over */
};

struct pkt {
	struct pkt *next;
	uint32_t qp, epoch, span, len;
	uint64_t emit, lin, held_at;
	uint8_t opcode;
	bool ackreq, ce;
	uint16_t port;
};

struct fifo {
	struct pkt *head, *tail;
};

enum ev_kind {
	EV_SEND,
	EV_ARRIVE,
	EV_REPLY,
	EV_RTO,
	EV_RNR_OVER,
	EV_MOVE,
	EV_RESET,
	EV_TICK,
	EV_PATHS,
	EV_PROBE
};

struct ev {
	uint64_t t, seq;
	uint8_t kind;
	uint32_t qp, gen;
	struct pkt *pkt; /* ARRIVE */
	struct hp3_view view; /* REPLY */
};

struct world {
	struct world_params p;
	struct world_result r;
	uint64_t rng, now, seq, emit;
	struct ev *heap;
	uint32_t nheap, cap;
	struct qp qps[MAX_QPS];
	struct desc ring[MAX_QPS][RING];
	uint64_t path_free[MAX_PATHS], path_delay[MAX_PATHS], path_dead[MAX_PATHS], back_free;
	struct hp3_engine *e;
	struct hp3_engine_config cfg;
	struct fifo hold[64];
	uint64_t hold_bytes[64];
	uint8_t tx_hdr[64], rx_hdr[64];
	bool failed;
};

static uint32_t rnd(struct world *w, uint32_t n)
{
	return hp3_random_below(&w->rng, n);
}

static bool chance(struct world *w, uint32_t ppm)
{
	return rnd(w, 1000000) < ppm;
}

#define VIOLATION(w, ...)                                                                          \
	do {                                                                                       \
		if (!(w)->failed) {                                                                \
			fprintf(stderr, "violation, seed %llu, t %llu ns: ",                       \
				(unsigned long long)(w)->p.seed, (unsigned long long)(w)->now);    \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
		}                                                                                  \
		(w)->failed = true;                                                                \
	} while (0)

/* --- events ---------------------------------------------------------------------------------- */

static bool before(const struct ev *a, const struct ev *b)
{
	return a->t < b->t || (a->t == b->t && a->seq < b->seq);
}

static void push(struct world *w, struct ev ev)
{
	uint32_t i = w->nheap++;

	if (w->nheap > w->cap) {
		w->cap = w->cap ? 2 * w->cap : 1024;
		w->heap = realloc(w->heap, w->cap * sizeof(*w->heap));
	}
	ev.seq = w->seq++;
	for (; i > 0 && before(&ev, &w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = ev;
}

static struct ev pop(struct world *w)
{
	struct ev top = w->heap[0], last = w->heap[--w->nheap];
	uint32_t i = 0;

	for (;;) {
		uint32_t c = 2 * i + 1;

		if (c >= w->nheap)
			break;
		if (c + 1 < w->nheap && before(&w->heap[c + 1], &w->heap[c]))
			c++;
		if (!before(&w->heap[c], &last))
			break;
		w->heap[i] = w->heap[c];
		i = c;
	}
	w->heap[i] = last;
	return top;
}

static void at(struct world *w, uint64_t delay, enum ev_kind kind, uint32_t qp, uint32_t gen)
{
	push(w, (struct ev){.t = w->now + delay, .kind = (uint8_t)kind, .qp = qp, .gen = gen});
}

/* --- network --------------------------------------------------------------------------------- */

static uint32_t path_of(const struct world *w, uint16_t port)
{
	return (uint32_t)(port * 2654435761u >> 16) % w->p.paths;
}

/* Hot ones are the first; a queue stands on them. */
static bool is_hot(const struct world *w, uint32_t path)
{
	return path < w->p.hot_paths;
}

static void into_network(struct world *w, struct pkt *k, uint16_t port)
{
	uint32_t path = path_of(w, port);
	uint64_t t;

	k->port = port;
	k->ce = is_hot(w, path);
	if (chance(w, w->p.loss_ppm) || w->now < w->path_dead[path]) {
		w->r.lost++;
		free(k);
		return;
	}
	t = w->now + w->path_delay[path] + rnd(w, 2000) + (k->ce ? HOT_NS : 0);
	if (t <= w->path_free[path])
		t = w->path_free[path] + 1; /* one path is a FIFO */
	w->path_free[path] = t;
	push(w, (struct ev){.t = t, .kind = EV_ARRIVE, .qp = k->qp, .pkt = k});
}

/* A probe is answered by the peer's hp3d if both ways work. */
static void send_probe(struct world *w, const struct hp3_act *a)
{
	uint32_t path = path_of(w, a->port);
	bool hot = is_hot(w, path);

	w->r.probes++;
	if (chance(w, w->p.loss_ppm) || w->now < w->path_dead[path])
		return;
	push(w, (struct ev){.t = w->now + w->path_delay[path] + (hot ? HOT_NS : 0) + 20 * US +
				 rnd(w, 3000),
			.kind = EV_PROBE,
			.gen = a->probe_id,
			.qp = hot});
}

/* No move without evidence: enough congested cycles, and a probe that was unmarked and faster. */
static void check_round(struct world *w, const struct hp3_event *ev)
{
	const struct hp3_probe *best = NULL, *mine = &ev->probes[0];
	unsigned congested = 0;

	w->r.rounds++;
	for (unsigned i = 0; i < ev->n_cycles; i++)
		if (ev->cycles[i] != HP3_CYCLE_SILENT)
			congested = ev->cycles[i] & HP3_CYCLE_CONGESTED ? congested + 1 : 0;
	if (ev->outcome != HP3_ROUND_WINNER)
		return;
	w->r.rounds_won++;
	for (unsigned i = 1; i < ev->n_probes; i++) {
		if (ev->probes[i].port == ev->to)
			best = &ev->probes[i];
	}
	if (congested < w->cfg.monitor.congestion_tolerance)
		VIOLATION(w, "moved after %u congested cycles", congested);
	if (best == NULL || best->state != HP3_PROBE_ANSWERED || best->ce)
		VIOLATION(w, "port %u won without an unmarked answer", ev->to);
	else if (mine->state == HP3_PROBE_ANSWERED &&
		 best->rtt_ns > mine->rtt_ns * (uint64_t)w->cfg.round.improve / 100)
		VIOLATION(
			w, "port %u won with %u ns against %u", ev->to, best->rtt_ns, mine->rtt_ns);
}

static void empty_hold(struct world *w, const struct hp3_act *a)
{
	struct fifo *f = &w->hold[a->slot];

	for (uint32_t n = a->count; n > 0; n--) {
		struct pkt *k = f->head;

		if (k == NULL) {
			VIOLATION(w, "%u packets more than are held", n);
			return;
		}
		f->head = k->next;
		w->hold_bytes[a->slot] -= k->len;
		if (w->now - k->held_at > w->cfg.max_hold_ns + 1000 * US)
			VIOLATION(w, "held for %llu ns", (unsigned long long)(w->now - k->held_at));
		if (n == 1 && (a->flags & HP3_SET_ACKREQ))
			k->ackreq = true;
		if (a->kind == HP3_ACT_DISCARD) {
			w->r.discarded++;
			free(k);
		} else {
			into_network(w, k, a->port);
		}
	}
}

static void carry_out(struct world *w, const struct hp3_acts *acts)
{
	for (uint32_t i = 0; i < acts->n; i++) {
		const struct hp3_act *a = &acts->act[i];

		if (a->kind == HP3_ACT_EVENT) {
			const struct hp3_event *ev = &a->event;

			if (ev->type == HP3_EV_SWITCH) {
				w->r.switched++;
				if (ev->drain_ns > w->r.max_drain_ns)
					w->r.max_drain_ns = ev->drain_ns;
			}
			w->r.idle += ev->type == HP3_EV_IDLE_SWITCH;
			w->r.recovered += ev->type == HP3_EV_RECOVER;
			w->r.timeouts +=
				ev->type == HP3_EV_RECOVER && ev->reason == HP3_RFR_IN_TIMEOUT;
			w->r.epochs += ev->type == HP3_EV_EPOCH;
			w->r.severe += ev->type == HP3_EV_SEVERE;
			if (ev->type == HP3_EV_ROUND)
				check_round(w, ev);
			if (ev->type == HP3_EV_PAIR) {
				w->r.paired++;
				if ((ev->rqpn & 0xfff) != (ev->lqpn & 0xfff))
					VIOLATION(w, "wrong pairing: 0x%x with 0x%x", ev->rqpn,
						ev->lqpn);
			}
			continue;
		}
		if (a->kind == HP3_ACT_PROBE) {
			send_probe(w, a);
			continue;
		}
		if (a->kind == HP3_ACT_RELEASE || a->kind == HP3_ACT_DISCARD)
			empty_hold(w, a);
	}
}

/* --- requester ------------------------------------------------------------------------------- */

static uint32_t wire(const struct qp *q, uint64_t lin)
{
	return (uint32_t)(q->start + lin) & HP3_PSN_MASK;
}

static uint64_t linear(const struct qp *q, uint32_t psn, uint64_t near)
{
	return near + (uint64_t)(int64_t)hp3_psn_diff(psn, wire(q, near));
}

/* Writes the next message into the ring. */
static void make_message(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];
	bool read = w->p.reads && rnd(w, 4) == 0, atomic = w->p.reads && !read && rnd(w, 16) == 0;
	uint32_t n = 1 + rnd(w, w->p.msg_packets);

	if (w->p.lockstep)
		n = w->p.msg_packets;
	if (read || atomic) {
		uint32_t span = read ? 1 + rnd(w, 24) : 1;

		for (uint32_t s = 0; s < span; s++)
			w->ring[i][(q->made + s) % RING] = (struct desc){.lin = q->made,
				.opcode = read ? HP3_OP_RC_READ_REQUEST : HP3_OP_RC_FETCH_ADD,
				.ackreq = true,
				.last = true,
				.span = span,
				.len = read ? span * PMTU - rnd(w, PMTU) : 8};
		q->made += span;
		return;
	}
	for (uint32_t k = 0; k < n; k++) {
		bool first = k == 0, last = k + 1 == n;
		uint8_t op = n == 1  ? HP3_OP_RC_WRITE_ONLY
			     : first ? HP3_OP_RC_WRITE_FIRST
			     : last  ? HP3_OP_RC_WRITE_LAST
				     : HP3_OP_RC_WRITE_MIDDLE;

		q->since_ack = last ? 0 : q->since_ack + 1;
		w->ring[i][q->made % RING] = (struct desc){.lin = q->made,
			.opcode = op,
			.ackreq = last || (!w->p.lockstep && q->since_ack % 64 == 0),
			.last = last,
			.span = 1,
			.len = last ? 1 + rnd(w, PMTU) : PMTU};
		q->made++;
	}
}

static struct hp3_view view_of(const struct hp3_opcode_info *op, uint8_t opcode)
{
	return (struct hp3_view){.class = op->class,
		.opcode = opcode,
		.flags = op->flags,
		.l3_off = 14,
		.udp_off = 34};
}

static void emit(struct world *w, uint32_t i, const struct desc *d, uint64_t lin)
{
	struct qp *q = &w->qps[i];
	const struct hp3_opcode_info *op = &hp3_opcodes[d->opcode];
	struct hp3_pkt pkt = {.frame = w->tx_hdr, .trusted = true, .v = view_of(op, d->opcode)};
	uint32_t span = d->span - (uint32_t)(lin - d->lin),
		 len = d->len - (uint32_t)(lin - d->lin) * PMTU;
	bool read = d->opcode == HP3_OP_RC_READ_REQUEST;
	struct pkt *k = malloc(sizeof(*k));
	struct hp3_verdict vd;
	struct hp3_acts acts;
	struct hp3_flow_info was = {0}, is = {0};

	pkt.v.psn = wire(q, lin);
	pkt.v.dest_qpn = q->rqpn;
	pkt.v.sport = (uint16_t)(50000 + i);
	pkt.v.payload_len = read ? 0 : (uint16_t)d->len;
	pkt.v.dma_len = read ? len : 0;
	pkt.len = 62u + pkt.v.payload_len;
	if (d->ackreq && !read)
		pkt.v.flags |= HP3_VF_ACKREQ;
	*k = (struct pkt){.qp = i,
		.epoch = q->epoch,
		.span = read ? span : 1,
		.len = pkt.len,
		.emit = ++w->emit,
		.lin = lin,
		.opcode = d->opcode,
		.ackreq = d->ackreq};
	w->r.emitted++;
	hp3_find_burst(w->e, &pkt, 1, HP3_DIR_TX);
	q->flow = pkt.flow;
	hp3_flow_info(w->e, q->flow, w->now, &was);
	hp3_tx(w->e, &pkt, w->now, &vd, &acts);
	q->flow = vd.flow;
	hp3_flow_info(w->e, q->flow, w->now, &is);
	if (was.state == HP3_RFR_CLOSING && is.state == HP3_RFR_DRAINING && !read &&
		d->opcode != HP3_OP_RC_FETCH_ADD && !d->ackreq && !(vd.flags & HP3_SET_ACKREQ))
		VIOLATION(w, "closing packet without AckReq");
	carry_out(w, &acts);
	if (vd.flags & HP3_SET_ACKREQ)
		k->ackreq = true;
	if (vd.kind == HP3_HOLD) {
		struct fifo *f = &w->hold[vd.slot];

		k->held_at = w->now;
		w->r.held++;
		if (f->head == NULL)
			f->head = k;
		else
			f->tail->next = k;
		f->tail = k;
		w->hold_bytes[vd.slot] += k->len;
		if (w->hold_bytes[vd.slot] > w->cfg.hold_bytes)
			VIOLATION(
				w, "holds %llu bytes", (unsigned long long)w->hold_bytes[vd.slot]);
	} else {
		into_network(w, k, vd.sport);
	}
}

static void arm_rto(struct world *w, uint32_t i)
{
	at(w, RTO_NS, EV_RTO, i, ++w->qps[i].unacked_timer);
}

/* Sends the next packet if the window allows, and comes back for more. */
static void do_send(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];
	struct desc *d;
	uint64_t gap = 300 + rnd(w, 1000);

	q->idle = false;
	if (q->rnr_wait || q->nxt - q->una >= w->p.window) {
		q->idle = true; /* an acknowledgement wakes it */
		return;
	}
	while (q->made <= q->nxt)
		make_message(w, i);
	d = &w->ring[i][q->nxt % RING];
	if (q->nxt - d->lin >= d->span || d->lin > q->nxt) {
		VIOLATION(w, "test bug: ring overrun");
		return;
	}
	if (q->nxt == q->una)
		arm_rto(w, i);
	{
		uint64_t lin = q->nxt;

		q->nxt = d->lin + d->span;
		emit(w, i, d, lin);
	}
	if (d->last && !w->p.lockstep && rnd(w, 12) == 0)
		gap += rnd(w, 400) * US; /* the application thinks */
	at(w, gap, EV_SEND, i, q->send_timer);
}

static void wake(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];

	if (q->idle) {
		q->idle = false;
		at(w, 100, EV_SEND, i, q->send_timer);
	}
}

static void go_back(struct world *w, uint32_t i)
{
	struct qp *q = &w->qps[i];

	w->r.retransmitted += q->nxt - q->una;
	q->nxt = q->una;
	arm_rto(w, i);
	wake(w, i);
}

static void do_reply(struct world *w, const struct ev *ev)
{
	struct qp *q = &w->qps[ev->qp];
	struct hp3_pkt pkt = {.frame = w->rx_hdr, .trusted = true, .len = 62, .v = ev->view};
	struct hp3_verdict vd;
	struct hp3_acts acts;
	uint64_t lin, una;
	uint32_t kind;

	pkt.len += pkt.v.payload_len;
	hp3_find_burst(w->e, &pkt, 1, HP3_DIR_RX);
	hp3_rx(w->e, &pkt, w->now, &vd, &acts);
	carry_out(w, &acts);
	if (vd.kind != HP3_PASS || ev->gen != q->epoch)
		return;
	lin = linear(q, ev->view.psn, q->una);
	kind = ev->view.flags & HP3_VF_AETH ? HP3_SYN_KIND(ev->view.syndrome) : HP3_SYN_ACK;
	una = kind == HP3_SYN_ACK ? lin + 1 : lin;
	if (una > q->exp)
		VIOLATION(w, "completed what was not executed: %llu > %llu",
			(unsigned long long)una, (unsigned long long)q->exp);
	if (una > q->una && una <= q->made) {
		q->una = una;
		if (q->nxt < una)
			q->nxt = una;
		arm_rto(w, ev->qp);
		wake(w, ev->qp);
	}
	if (kind == HP3_SYN_NAK && lin == q->una && !q->rnr_wait) {
		go_back(w, ev->qp);
	} else if (kind == HP3_SYN_RNR && lin == q->una && !q->rnr_wait) {
		q->rnr_wait = true;
		at(w, 700 * US, EV_RNR_OVER, ev->qp, q->epoch);
	}
}

/* --- responder ------------------------------------------------------------------------------- */

static void reply(struct world *w, uint32_t i, uint8_t opcode, uint64_t lin, uint8_t syndrome,
	uint16_t payload)
{
	struct qp *q = &w->qps[i];
	struct hp3_view v = view_of(&hp3_opcodes[opcode], opcode);
	uint64_t t = w->now + 20 * US + rnd(w, 3000);

	v.psn = wire(q, lin);
	v.dest_qpn = q->lqpn;
	v.syndrome = syndrome;
	v.payload_len = payload;
	if (q->marked)
		v.flags |= HP3_VF_BECN;
	q->marked = false;
	if (chance(w, w->p.loss_ppm))
		return;
	if (t <= w->back_free)
		t = w->back_free + 1;
	w->back_free = t;
	push(w, (struct ev){.t = t, .kind = EV_REPLY, .qp = i, .gen = q->epoch, .view = v});
}

static void read_responses(struct world *w, uint32_t i, uint64_t lin, uint32_t span)
{
	for (uint32_t s = 0; s < span; s++) {
		uint8_t op = span == 1       ? HP3_OP_RC_READ_RESP_ONLY
			     : s == 0        ? HP3_OP_RC_READ_RESP_FIRST
			     : s + 1 == span ? HP3_OP_RC_READ_RESP_LAST
					     : HP3_OP_RC_READ_RESP_MIDDLE;

		reply(w, i, op, lin + s, 0, s + 1 == span ? 100 : PMTU);
	}
}

static void execute(struct world *w, uint32_t i, const struct pkt *k)
{
	if (k->opcode == HP3_OP_RC_READ_REQUEST)
		read_responses(w, i, k->lin, k->span);
	else if (k->opcode == HP3_OP_RC_FETCH_ADD)
		reply(w, i, HP3_OP_RC_ATOMIC_ACK, k->lin, 0, 0);
	else if (k->ackreq)
		reply(w, i, HP3_OP_RC_ACK, k->lin, 0, 0);
}

static void do_arrive(struct world *w, struct pkt *k)
{
	struct qp *q = &w->qps[k->qp];

	w->r.arrived++;
	w->r.ports_used += k->port != 50000 + k->qp;
	w->r.on_hot += k->ce;
	q->marked |= k->ce;
	if (k->emit <= q->last_arrival_emit)
		VIOLATION(w, "order: queue pair %u, emission %llu after %llu (port %u)", k->qp,
			(unsigned long long)k->emit, (unsigned long long)q->last_arrival_emit,
			k->port);
	q->last_arrival_emit = k->emit;
	if (k->epoch != q->epoch)
		goto out; /* the responder was reset as well */
	if (k->lin == q->exp) {
		if (w->p.rnr && k->opcode == HP3_OP_RC_WRITE_ONLY && !q->deaf && rnd(w, 50) == 0) {
			q->deaf = true;
			reply(w, k->qp, HP3_OP_RC_ACK, k->lin, HP3_SYN_RNR | 10, 0);
			goto out;
		}
		q->deaf = false;
		q->exp += k->span;
		q->nak_sent = false;
		execute(w, k->qp, k);
	} else if (k->lin > q->exp) {
		if (!q->nak_sent && !q->deaf)
			reply(w, k->qp, HP3_OP_RC_ACK, q->exp, HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE,
				0);
		q->nak_sent = true;
	} else if (k->opcode == HP3_OP_RC_READ_REQUEST || k->opcode == HP3_OP_RC_FETCH_ADD) {
		execute(w, k->qp, k);
	} else {
		reply(w, k->qp, HP3_OP_RC_ACK, q->exp - 1, 0, 0);
	}
out:
	free(k);
}

/* --- the rest -------------------------------------------------------------------------------- */

static void announce(struct world *w, uint32_t i)
{
	struct hp3_qp_event ev = {.kind = HP3_QP_UP,
		.pairing = HP3_PAIRING_EVENT,
		.lqpn = w->qps[i].lqpn,
		.rqpn = w->qps[i].rqpn};
	struct hp3_acts acts = {0};

	memcpy(ev.local, w->tx_hdr + 26, 4);
	memcpy(ev.remote, w->tx_hdr + 30, 4);
	hp3_qp(w->e, &ev, w->now, &acts);
	carry_out(w, &acts);
}

static void setup_qp(struct world *w, uint32_t i, uint32_t start)
{
	struct qp *q = &w->qps[i];

	q->epoch++;
	q->lqpn = 0x1000 + i;
	q->rqpn = 0x2000 + i;
	q->start = start & HP3_PSN_MASK;
	q->una = q->nxt = q->made = q->exp = RING; /* so that linear PSNs may go back */
	q->start = (q->start - RING) & HP3_PSN_MASK;
	q->nak_sent = q->rnr_wait = q->idle = q->deaf = false;
	q->unacked_timer++;
	q->send_timer++;
	q->since_ack = 0;
	if (w->p.cm)
		announce(w, i);
	at(w, w->p.lockstep ? 1000 : rnd(w, 5000), EV_SEND, i, q->send_timer);
}

static void do_reset(struct world *w)
{
	static const int32_t off[] = {-1, 0, 1, 1 << 23, -(1 << 23), 77, -300};
	uint32_t i = rnd(w, w->p.qps);
	struct qp *q = &w->qps[i];

	setup_qp(w, i, wire(q, q->nxt) + (uint32_t)off[rnd(w, 7)]);
	at(w, 3000 * US + rnd(w, 3000) * US, EV_RESET, 0, 0);
}

static void do_move(struct world *w)
{
	struct hp3_cmd cmd = {.kind = rnd(w, 8) == 0 ? HP3_CMD_HOME : HP3_CMD_MOVE,
		.flow = w->qps[rnd(w, w->p.qps)].flow};
	struct hp3_acts acts = {0};

	if (hp3_command(w->e, &cmd, w->now, &acts) == 0)
		w->r.moves_asked++;
	carry_out(w, &acts);
	at(w, 1 + rnd(w, 2 * w->p.move_every_us) * US, EV_MOVE, 0, 0);
}

static void do_tick(struct world *w)
{
	struct hp3_acts acts;

	do {
		acts.n = 0;
		hp3_tick(w->e, w->now, &acts);
		carry_out(w, &acts);
	} while (acts.more);
	at(w, 50 * US, EV_TICK, 0, 0);
}

/* Path delays wander; now and then a path dies for a while. */
static void do_paths(struct world *w)
{
	uint32_t p = rnd(w, w->p.paths);

	w->path_delay[p] = (5 + rnd(w, 200)) * US;
	if (w->p.kill_paths && rnd(w, 10) == 0)
		w->path_dead[rnd(w, w->p.paths)] = w->now + rnd(w, 3000) * US;
	at(w, 200 * US, EV_PATHS, 0, 0);
}

static void dispatch(struct world *w, struct ev *ev)
{
	struct qp *q = &w->qps[ev->qp % MAX_QPS];

	switch ((enum ev_kind)ev->kind) {
	case EV_SEND:
		if (ev->gen == q->send_timer)
			do_send(w, ev->qp);
		break;
	case EV_ARRIVE:
		do_arrive(w, ev->pkt);
		break;
	case EV_REPLY:
		do_reply(w, ev);
		break;
	case EV_RTO:
		if (ev->gen == q->unacked_timer && q->una != q->nxt && !q->rnr_wait)
			go_back(w, ev->qp);
		break;
	case EV_RNR_OVER:
		if (ev->gen == q->epoch && q->rnr_wait) {
			q->rnr_wait = false;
			go_back(w, ev->qp);
		}
		break;
	case EV_MOVE:
		do_move(w);
		break;
	case EV_RESET:
		do_reset(w);
		break;
	case EV_TICK:
		do_tick(w);
		break;
	case EV_PATHS:
		do_paths(w);
		break;
	case EV_PROBE: {
		struct hp3_acts acts = {0};

		hp3_probe_reply(w->e, ev->gen, ev->qp, w->now, &acts);
		carry_out(w, &acts);
		break;
	}
	}
}

static struct hp3_engine_config config_of(const struct world_params *p)
{
	return (struct hp3_engine_config){.seed = p->seed,
		.max_flows = 64,
		.max_pairs = 4,
		.max_moves = 64,
		.idle_age_ns = 60000000 * US,
		.dead_age_ns = 600000000 * US,
		.max_hold_ns = RTO_NS / 4,
		.close_timeout_ns = 20000 * US,
		.hold_bytes = p->hold_bytes,
		.hold_bytes_total = 16 * p->hold_bytes,
		.hold_packets = 4096,
		.monitor = {.cycle_ns = 100 * US,
			.rtt_factor = 200,
			.ecn_fraction = 25,
			.congestion_tolerance = 3,
			.base_age_log2 = 30},
		.probing = p->probing,
		.candidates = 3,
		.max_concurrent = 2,
		.cooldown_ns = 2000 * US,
		.round = {.timeout_ns = 1500 * US,
			.guard_ns = 1500 * US,
			.backoff_min_ns = 500 * US,
			.backoff_max_ns = 20000 * US,
			.probes_per_second = 20000,
			.probe_burst = 16,
			.improve = 80},
		.paths = {.fresh_ns = 5000 * US,
			.recheck_ns = 1000000 * US,
			.retry_ns = 10000 * US,
			.window_ns = 1500 * US,
			.rtt_factor = 200,
			.ecn_fraction = 25,
			.losses = 3,
			.equal = 20},
		.challenge_timeout_ns = 2000 * US,
		.challenge_hits = 3,
		.challenge_spread = 16,
		.pair_by_cm = true,
		.pair_by_challenge = !p->cm,
		.moves_allowed = true};
}

static void finish(struct world *w, struct world_result *r)
{
	uint64_t inside = 0;

	for (uint32_t i = 0; i < w->nheap; i++) {
		if (w->heap[i].kind == EV_ARRIVE) {
			inside++;
			free(w->heap[i].pkt);
		}
	}
	for (uint32_t s = 0; s < 64; s++) {
		for (struct pkt *k = w->hold[s].head, *next; k != NULL; k = next) {
			next = k->next;
			inside++;
			free(k);
		}
	}
	if (w->r.emitted != w->r.arrived + w->r.lost + w->r.discarded + inside)
		VIOLATION(w,
			"packets do not add up: %llu out, %llu arrived, %llu lost, %llu discarded, "
			"%llu inside",
			(unsigned long long)w->r.emitted, (unsigned long long)w->r.arrived,
			(unsigned long long)w->r.lost, (unsigned long long)w->r.discarded,
			(unsigned long long)inside);
	for (uint32_t i = 0; i < w->p.qps; i++)
		w->r.completed_msgs += w->qps[i].una - RING;
	*r = w->r;
}

int world_run(const struct world_params *p, struct world_result *r)
{
	struct world *w = calloc(1, sizeof(*w));
	size_t size;
	void *mem;
	int ret;

	w->p = *p;
	w->rng = p->seed;
	w->cfg = config_of(p);
	size = hp3_engine_size(&w->cfg);
	mem = aligned_alloc(64, size);
	w->e = hp3_engine_create(mem, size, &w->cfg);
	hp3_put_be32(w->tx_hdr + 26, 0x0a090001);
	hp3_put_be32(w->tx_hdr + 30, 0x0a090002);
	hp3_put_be32(w->rx_hdr + 26, 0x0a090002);
	hp3_put_be32(w->rx_hdr + 30, 0x0a090001);
	for (uint32_t i = 0; i < p->paths; i++)
		w->path_delay[i] = (5 + rnd(w, 200)) * US;
	for (uint32_t i = 0; i < p->qps; i++) {
		w->qps[i].flow = HP3_NO_FLOW;
		setup_qp(w, i, p->lockstep ? 0 : rnd(w, 1 << 24));
	}
	at(w, 0, EV_TICK, 0, 0);
	at(w, 0, EV_PATHS, 0, 0);
	if (!p->probing)
		at(w, 1000 * US, EV_MOVE, 0, 0);
	if (p->resets)
		at(w, 5000 * US, EV_RESET, 0, 0);
	while (!w->failed && w->r.emitted < p->packets && w->nheap > 0) {
		struct ev ev = pop(w);

		w->now = ev.t;
		dispatch(w, &ev);
		if (w->now > MAX_NS)
			VIOLATION(w, "no progress: %llu packets only",
				(unsigned long long)w->r.emitted);
	}
	finish(w, r);
	ret = w->failed ? -1 : 0;
	free(w->heap);
	free(mem);
	free(w);
	return ret;
}
