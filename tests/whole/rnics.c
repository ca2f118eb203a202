/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The RNICs of tests/property on a wire: what they emit becomes frames, and what hp3d does to their
 * flows begins another era of order. Queue pair i runs between number 0x1000 + i at host 0 and
 * 0x2000 + i at host 1, both ways; where watchers tell of queue pairs each life may have another
 * number at either end (bits 16 and up), or the same.
 */
#include <string.h>
#include "roce/build.h"
#include "tests/whole/sim.h"

#define IP_AT       14u /* of what is no RoCE */
#define ECT         2u
#define PRIORITY    3u /* in VLAN tags */
#define OTHER_NS    (700 * US)
#define OTHER_LEN   90u
#define REPORTED_NS (300 * US) /* until watchers tell of a queue pair */

static struct sim *sim; /* the only one; a world of RNICs does not know where it is */

static unsigned host_of(const struct world *w)
{
	return (unsigned)(w - sim->w);
}

/* Near each other queue pairs are not told apart without their set-up (rule 15): of one that was
 * moved and began anew nobody knows then when it may go home. */
uint32_t world_start_psn(struct world *w)
{
	uint32_t before;

	if (sim->liveness) /* by the golden ratio: each far from those before */
		return ++sim->starts * 0x9e3779u & HP3_PSN_MASK;
	if (rnd(w, 2))
		return rnd(w, 1 << 24);
	before = rnd(w, 500);
	return (HP3_PSN_MASK >> before % 2) - before;
}

static struct hp3_addressing way(unsigned from, uint32_t qp);

static uint32_t number(unsigned host, uint32_t i, uint32_t turn)
{
	return (turn << 16) + (host == 0 ? 0x1000u : 0x2000u) + i;
}

uint32_t rnics_index(const struct sim *s, unsigned host, uint32_t qpn)
{
	uint32_t i = qpn & 0xfff;

	return i < SIM_QPS && s->qpn[host][i] == qpn ? i : NO_QP;
}

struct telling {
	struct hp3_qp_event event;
	uint32_t epoch;
};

void rnics_report(struct sim *s, void *arg, uint64_t at)
{
	struct telling *t = arg;
	struct process *p = &s->p[at];
	uint32_t i = t->event.lqpn & 0xfff;
	bool holds = t->event.kind == HP3_QP_DOWN || t->epoch == s->w[at].qps[i].epoch;

	if (holds && p->state == ALIVE && !p->closing && ports_started(p) &&
		s->now >= p->frozen_until) {
		p->qp(&t->event);
		s->r.reported++;
		process_paused(p);
	}
	free(t);
}

static void announce(unsigned host, uint32_t i, enum hp3_qp_kind kind, uint64_t late_ns)
{
	struct telling *t = calloc(1, sizeof(*t));
	const struct hp3_addressing a = way(host, i);
	const struct qp *q = &sim->w[host].qps[i];

	t->epoch = q->epoch;
	t->event = (struct hp3_qp_event){.kind = (uint8_t)kind,
		.source = HP3_QP_SOURCE_KERNEL,
		.ipv6 = a.ipv6,
		.vlan = sim->vlan,
		.lqpn = sim->qpn[host][i],
		.rqpn = sim->qpn[!host][i],
		.psn = wire(q, RING),
		.psn_known = draw(sim, 4) != 0};
	memcpy(t->event.local, a.src_ip, a.ipv6 ? 16 : 4);
	memcpy(t->event.remote, a.dst_ip, a.ipv6 ? 16 : 4);
	sim_at(sim, sim->now + late_ns, rnics_report, t, host);
}

/* Nobody watches set-up in most worlds; hp3d finds out by itself. */
void world_announce(struct world *w, uint32_t i)
{
	if (sim->reported && draw(sim, 8) != 0)
		announce(host_of(w), i, HP3_QP_UP, draw(sim, REPORTED_NS));
}

void world_announce_late(struct world *w, uint32_t i)
{
}

static struct hp3_addressing way(unsigned from, uint32_t qp)
{
	struct hp3_addressing a = {.dst_mac = {2, 0, 0, 0, 0, (uint8_t)(2 - from)},
		.src_mac = {2, 0, 0, 0, 0, (uint8_t)(1 + from)},
		.src_ip = {10, 9, 0, (uint8_t)(1 + from)},
		.dst_ip = {10, 9, 0, (uint8_t)(2 - from)},
		.tclass = ECT,
		.ttl = 64,
		.sport = (uint16_t)(HOME_PORT + qp),
		.pkey = 0xffff};

	hp3_tags_make(sim->vlan, PRIORITY, a.tag);
	if (sim->ipv6 >> qp & 1) {
		a.ipv6 = true;
		a.src_ip[0] = a.dst_ip[0] = 0xfd;
		a.src_ip[15] = (uint8_t)(1 + from);
		a.dst_ip[15] = (uint8_t)(2 - from);
	}
	return a;
}

static uint32_t of_qp(const struct frame *f)
{
	if (f->kind == FRAME_OTHER)
		return 0;
	return f->kind == FRAME_REQUEST ? f->pkt.qp : f->reply.qp;
}

static void emit(struct frame *f, unsigned from, int len)
{
	enum side side;

	if (len <= 0) {
		WRONG(sim, "test bug: no such frame: %d", len);
		free(f);
		return;
	}
	f->from = (uint8_t)from;
	f->len = (uint16_t)len;
	memcpy(f->sent, f->data, f->len);
	side = ports_choose(&sim->p[from], RNIC, of_qp(f) + from);
	f->members = sim->members;
	f->emitted = sim->now;
	ports_receive(&sim->p[from], side, f);
}

static struct frame *make(enum frame_kind kind)
{
	struct frame *f = calloc(1, sizeof(*f));

	f->kind = (uint8_t)kind;
	return f;
}

/* Payload that tells one packet from another. */
static void fill(uint8_t *payload, uint32_t n, uint64_t x)
{
	for (uint32_t i = 0; i < n; i++)
		payload[i] = (uint8_t)(x >> 8 * (i % 8));
}

/* A request leaves the RNIC. */
void world_receive(struct world *w, enum hp3_dir dir, const struct event *event)
{
	const struct hp3_view *v = &event->view;
	struct frame *f = make(FRAME_REQUEST);
	uint8_t payload[MAX_PMTU];
	struct hp3_addressing a = way(host_of(w), event->pkt->qp);
	const struct hp3_fields fields = {.opcode = v->opcode,
		.ackreq = v->flags & HP3_VF_ACKREQ,
		.dest_qpn = v->dest_qpn,
		.psn = v->psn,
		.dma_len = v->dma_len,
		.payload = payload,
		.payload_len = is_read(v->opcode) ? 0 : v->payload_len};

	fill(payload, fields.payload_len, w->emit * 0x9e3779b97f4a7c15ull);
	f->pkt = *event->pkt;
	if (is_read(v->opcode) && !f->pkt.first)
		rnics_go_back(sim, host_of(w), f->pkt.qp);
	/* All of it comes again; what copies of a READ are answered by lies anywhere between. */
	for (uint32_t i = 0; is_read(v->opcode) && sim->r.copied == 0 && i < f->pkt.span; i++)
		sim->read[host_of(w)][f->pkt.qp][(v->psn + i) % GIVEN] = 0;
	free(event->pkt);
	emit(f, host_of(w), hp3_build(f->data, FRAME_ROOM, &a, &fields));
}

static void reply(struct world *w, const struct event *event)
{
	unsigned from = !host_of(w);
	const struct hp3_view *v = &event->view;
	struct frame *f = make(FRAME_REPLY);
	uint8_t payload[MAX_PMTU];
	struct hp3_addressing a = way(from, event->qp);
	const struct hp3_fields fields = {.opcode = v->opcode,
		.dest_qpn = v->dest_qpn,
		.psn = v->psn,
		.syndrome = v->syndrome,
		.payload = payload,
		.payload_len = v->payload_len};

	f->reply = *event;
	f->seq = ++sim->reply_seq[host_of(w)];
	fill(payload, fields.payload_len, f->seq * 0x9e3779b97f4a7c15ull);
	emit(f, from, hp3_build(f->data, FRAME_ROOM, &a, &fields));
}

static void notify(struct world *w, const struct event *event)
{
	unsigned from = !host_of(w);
	struct hp3_addressing a = way(from, event->qp);
	struct frame *f = make(FRAME_CNP);

	f->reply = *event;
	emit(f, from, hp3_build_cnp(f->data, FRAME_ROOM, &a, w->qps[event->qp].lqpn));
}

uint64_t world_way_back(struct world *w, uint32_t i, const struct hp3_view *v)
{
	struct qp *q = &w->qps[i];

	q->back_free = (q->back_free > w->now ? q->back_free : w->now) + 1;
	return q->back_free;
}

static void begin_life(struct world *w, uint32_t i)
{
	sim->set_up_at[host_of(w)][i] = sim->now;
	world_setup_qp(w, i, world_start_psn(w));
}

void rnics_dispatch(struct world *w, struct event *event)
{
	switch ((enum event_kind)event->kind) {
	case EVENT_SEND:
		if (event->gen == w->qps[event->qp].send_timer)
			world_send(w, event->qp);
		break;
	case EVENT_REPLY:
		reply(w, event);
		break;
	case EVENT_CNP:
		notify(w, event);
		break;
	case EVENT_ACK_DUE:
		if (event->gen == w->qps[event->qp].epoch)
			world_ack_due(w, event->qp);
		break;
	case EVENT_RTO:
		world_rto(w, event);
		break;
	case EVENT_RNR_OVER:
		world_rnr_over(w, event);
		break;
	case EVENT_NEW_QP:
		if (event->gen == w->qps[event->qp].epoch)
			begin_life(w, event->qp);
		break;
	default:
		WRONG(sim, "test bug: event %u", event->kind);
	}
}

/* --- life --- */

static void renumber(struct sim *s, uint32_t i)
{
	for (unsigned h = 0; h < 2; h++) {
		uint32_t another = draw(s, 2);

		/* A number returns when it is known that it was given back. */
		if (draw(s, 2))
			announce(h, i, HP3_QP_DOWN, another ? draw(s, REPORTED_NS) : 0);
		s->turns[h][i] += another;
		s->qpn[h][i] = number(h, i, s->turns[h][i]);
	}
	for (unsigned h = 0; h < 2; h++) {
		s->w[h].qps[i].lqpn = s->qpn[h][i];
		s->w[h].qps[i].rqpn = s->qpn[!h][i];
	}
}

void rnics_restart(struct sim *s, unsigned host)
{
	for (uint32_t i = 0; s->reported && i < SIM_QPS; i++)
		renumber(s, i);
	for (unsigned h = 0; h < 2; h++) {
		struct world *w = &s->w[h];

		for (uint32_t i = 0; i < w->p.qps; i++)
			begin_life(w, i);
	}
}

static void other(struct sim *s, void *arg, uint64_t from)
{
	struct frame *f = make(FRAME_OTHER);
	const struct hp3_addressing a = way((unsigned)from, 0);

	f->seq = ++s->other_seq[!from];
	memcpy(f->data, a.dst_mac, 6);
	memcpy(f->data + 6, a.src_mac, 6);
	hp3_put_be16(f->data + 12, draw(s, 4) ? 0x0800 : 0x0806);
	f->data[IP_AT] = 0x45;
	f->data[IP_AT + 3] = OTHER_LEN - IP_AT;
	f->data[IP_AT + 9] = 6;
	memcpy(f->data + IP_AT + 12, a.src_ip, 4);
	memcpy(f->data + IP_AT + 16, a.dst_ip, 4);
	hp3_put_be64(f->data + 60, f->seq);
	emit(f, (unsigned)from, OTHER_LEN);
	sim_at(s, s->now + OTHER_NS / 2 + draw(s, OTHER_NS), other, NULL, from);
}

/* In half of the worlds with a VLAN there are two tags; nothing is drawn for it. */
static uint32_t second_tag(const struct sim *s)
{
	uint64_t h = s->seed * 0x9e3779b97f4a7c15u;

	if (h >> 63)
		return 0;
	return (h >> 62 & 1 ? HP3_VLAN_AD : 0) | (uint32_t)(1 + (h >> 40) % 4094)
							 << HP3_VLAN_INNER_SHIFT;
}

void rnics_begin(struct sim *s)
{
	static const uint32_t gaps[] = {200, 400, 800}, quick[] = {20, 50, 100};
	uint32_t rto_us = s->dcqcn ? 24000 : 8000; /* what is held never takes a quarter of it */

	sim = s;
	s->ipv6 = draw(s, 2) ? draw(s, 1u << SIM_QPS) : 0;
	s->vlan = draw(s, 3) ? 0 : (1 + draw(s, 4094)) | second_tag(s);
	for (unsigned h = 0; h < 2; h++) {
		struct world *w = &s->w[h];

		w->rng = s->seed * 2 + h;
		w->p = (struct world_params){.seed = s->seed,
			.qps = 1 + draw(s, SIM_QPS),
			.msg_packets = 1 + draw(s, 30),
			.window = 64,
			.gap_us = (s->spray || s->dcqcn ? quick : gaps)[draw(s, 3)],
			.rto_us = rto_us,
			.rnr = draw(s, 6) == 0,
			.reads = draw(s, 2) == 0,
			.lead_us = s->reported ? 200 : 0, /* set-up is told of (world_announce()) */
			.sends = draw(s, 2) == 0,
			.responder = (uint8_t)draw(s, 3),
			.throttle_us = 200};
		w->pmtu = 256;
		w->rto_ns = rto_us * US;
		w->ring = calloc(w->p.qps, sizeof(*w->ring));
		for (uint32_t i = 0; i < w->p.qps; i++) {
			w->qps[i].lqpn = s->qpn[h][i] = number(h, i, 0);
			w->qps[i].rqpn = s->qpn[!h][i] = number(!h, i, 0);
			begin_life(w, i);
		}
		sim_at(s, s->now, other, NULL, h);
	}
}

void rnics_free(struct sim *s)
{
	for (unsigned h = 0; h < 2; h++) {
		for (uint32_t i = 0; i < s->w[h].p.qps; i++)
			s->r.done += s->w[h].qps[i].done - RING;
		heap_free(&s->w[h].heap);
		free(s->w[h].ring);
	}
}

/* Remembers how far all are, or wants each of them to be further than that. */
void rnics_progress(struct sim *s, bool check)
{
	for (unsigned h = 0; h < 2; h++) {
		for (uint32_t i = 0; i < s->w[h].p.qps; i++) {
			const struct qp *q = &s->w[h].qps[i];
			uint64_t at = q->una + (uint64_t)q->epoch * (1ull << 32);

			if (check && at <= s->done_before[h][i])
				WRONG(s, "queue pair %u of host %u makes no progress", i, h);
			s->done_before[h][i] = at;
		}
	}
}
