/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs are connected again, with another local QPN or the same one, at any PSN or exactly at
 * the next. Watchers report the end and the set-up in that order, but late, and not always with the
 * first PSN; or connection management does, on the wire. No queue pair gets the local QPN of
 * another.
 *
 * Until all is reported, pairings may be of the previous life. From then on, no flow is paired with
 * a queue pair that has ended, and packets that can answer only its own have paired it with that.
 */
#include "world_internal.h"
#include <string.h>
#include "roce/wire.h"
#include "roce/build.h"

#define SETUP_NS     (1000 * US) /* a connection is not set up in less */
#define FRESH        0x4000u /* local numbers that nobody had */
#define FOREIGN_QPNS 0x6000u /* world_hostile.c */
#define SETTLED      (2000 * US) /* all was told so long ago, */
#define SHOWN        256u /* and so many PSNs were acknowledged */
#define MAD_LEN      256u

static void tell(struct world *w, uint32_t i, enum hp3_qp_kind kind, uint32_t lqpn, bool known)
{
	struct qp *q = &w->qps[i];
	uint64_t at = w->now + rnd(w, w->p.report_late_us) * US;

	q->reported = at <= q->reported ? q->reported + 1 : at;
	q->untold++;
	world_push(w, (struct event){.t = q->reported,
			      .kind = EVENT_REPORTED,
			      .qp = i,
			      .ours = known,
			      .port = (uint16_t)kind,
			      .view = {.dest_qpn = lqpn, .psn = wire(q, RING)}});
}

void world_reported(struct world *w, const struct event *reported)
{
	struct hp3_ends ends = world_ends(w, reported->qp);
	struct hp3_qp_event event = {.kind = (uint8_t)reported->port,
		.source = HP3_QP_SOURCE_KERNEL,
		.ipv6 = ends.ipv6,
		.vlan = ends.vlan,
		.lqpn = reported->view.dest_qpn,
		.rqpn = w->qps[reported->qp].rqpn,
		.psn = reported->view.psn,
		.psn_known = reported->ours};
	struct hp3_acts acts = {0};

	memcpy(event.local, ends.local, ends.ipv6 ? 16 : 4);
	memcpy(event.remote, ends.remote, ends.ipv6 ? 16 : 4);
	w->qps[reported->qp].untold--;
	w->announcing = true;
	hp3_qp(w->e, &event, w->now, &acts);
	world_carry_out(w, &acts);
	w->announcing = false;
	w->r.announced++;
}

/* --- connection management --- */

static void datagram(struct world *w, uint32_t i, enum hp3_dir dir, const struct hp3_cm_msg *m)
{
	static const struct {
		uint8_t attribute, qpn_at, psn_at;
	} places[] = {
		[HP3_CM_REQ] = {0x10, 32, 44},
		[HP3_CM_REP] = {0x13, 12, 20},
		[HP3_CM_RTU] = {0x14, 0, 0},
		[HP3_CM_DREQ] = {0x15, 8, 0},
	};
	static uint8_t frame[512];
	struct hp3_ends ends = world_ends(w, i);
	struct hp3_addressing at = {.ipv6 = ends.ipv6, .ttl = 64, .sport = 0xd001, .pkey = 0xffff};
	uint8_t mad[MAD_LEN] = {1, 7, 2, 3};
	struct hp3_pkt pkt = {.frame = frame, .flow = HP3_NO_FLOW, .trusted = true};
	struct hp3_verdict vd;
	struct hp3_acts acts = {0};

	memcpy(dir == HP3_DIR_TX ? at.src_ip : at.dst_ip, ends.local, ends.ipv6 ? 16 : 4);
	memcpy(dir == HP3_DIR_TX ? at.dst_ip : at.src_ip, ends.remote, ends.ipv6 ? 16 : 4);
	mad[17] = places[m->kind].attribute;
	if (places[m->kind].qpn_at != 0)
		hp3_put_be24(mad + 24 + places[m->kind].qpn_at, m->qpn);
	if (places[m->kind].psn_at != 0)
		hp3_put_be24(mad + 24 + places[m->kind].psn_at, m->psn);
	hp3_put_be32(mad + 24, m->local_id);
	hp3_put_be32(mad + 28, m->remote_id);
	pkt.len = (uint32_t)hp3_build(frame, sizeof(frame), &at,
		&(struct hp3_fields){.opcode = HP3_OP_UD_SEND_ONLY,
			.dest_qpn = HP3_QPN_CM,
			.src_qpn = HP3_QPN_CM,
			.payload = mad,
			.payload_len = sizeof(mad)});
	hp3_parse(frame, pkt.len, &pkt.v);
	if (dir == HP3_DIR_TX)
		hp3_tx(w->e, &pkt, w->now, &vd, &acts);
	else
		hp3_rx(w->e, &pkt, w->now, &vd, &acts);
	world_carry_out(w, &acts);
}

/* Ids of both ends: of the life, so that those of the one before mean nothing. */
static uint32_t id_of(const struct world *w, uint32_t i, uint32_t epoch, bool local)
{
	return 1 + (epoch << 12 | i << 1 | local);
}

static void disconnect(struct world *w, uint32_t i, uint32_t lqpn)
{
	const struct qp *q = &w->qps[i];
	bool here = rnd(w, 2);

	datagram(w, i, here ? HP3_DIR_TX : HP3_DIR_RX,
		&(struct hp3_cm_msg){.kind = HP3_CM_DREQ,
			.local_id = id_of(w, i, q->epoch, here),
			.remote_id = id_of(w, i, q->epoch, !here),
			.qpn = here ? q->rqpn : lqpn});
}

static void connect(struct world *w, uint32_t i)
{
	const struct qp *q = &w->qps[i];
	struct hp3_cm_msg m = {.kind = HP3_CM_REQ, .psn = wire(q, RING)};
	bool here = rnd(w, 2);
	enum hp3_dir asks = here ? HP3_DIR_TX : HP3_DIR_RX,
		     answers = here ? HP3_DIR_RX : HP3_DIR_TX;

	m.local_id = id_of(w, i, q->epoch, here);
	m.qpn = here ? q->lqpn : q->rqpn;
	datagram(w, i, asks, &m);
	m.kind = HP3_CM_REP;
	m.local_id = id_of(w, i, q->epoch, !here);
	m.remote_id = id_of(w, i, q->epoch, here);
	m.qpn = here ? q->rqpn : q->lqpn;
	datagram(w, i, answers, &m);
	m.kind = HP3_CM_RTU;
	m.local_id = id_of(w, i, q->epoch, here);
	m.remote_id = id_of(w, i, q->epoch, !here);
	if (rnd(w, 4) != 0) /* else it is lost */
		datagram(w, i, asks, &m);
}

/* --- */

void world_reconnect(struct world *w)
{
	uint32_t i = rnd(w, w->p.qps), before = w->qps[i].lqpn;
	struct qp *q = &w->qps[i];
	bool by_cm = rnd(w, 4) == 0, known = rnd(w, 4) != 0;

	world_at(w, (1 + rnd(w, 2 * w->p.reconnect_every_us)) * US, EVENT_RECONNECT, 0, 0);
	if (q->high == RING)
		return;
	if (by_cm && rnd(w, 2))
		disconnect(w, i, before);
	if (rnd(w, 3) != 0)
		q->lqpn = FRESH + (uint32_t)w->r.reconnected;
	world_begin_again(w, i, rnd(w, 4) == 0, rnd(w, 3000) * US);
	w->r.reconnected++;
	q->unsure = (uint8_t)(q->unsure << 1 | !known) & 3;
	if (by_cm)
		connect(w, i);
	tell(w, i, HP3_QP_DOWN, before, false);
	tell(w, i, HP3_QP_UP, q->lqpn, known);
}

/* Without the first PSN of its life, or of the one before, nobody can say which one sends. */
bool world_is_reported(const struct qp *q)
{
	return q->untold == 0 && q->unsure == 0;
}

void world_check_reported(struct world *w)
{
	struct hp3_flow_info f;

	for (uint32_t i = 0; i < w->p.qps; i++) {
		const struct qp *q = &w->qps[i];

		if (!world_is_reported(q) || w->now < q->reported + SETTLED ||
			q->una - RING < SHOWN || hp3_flow_info(w->e, q->flow, w->now, &f) != 0 ||
			f.rqpn != q->rqpn)
			continue;
		if (!f.paired)
			w->r.unpaired_long++;
		else if (f.lqpn >= FOREIGN_QPNS)
			w->r.foreign_qps++;
		else if (f.lqpn != q->lqpn)
			VIOLATION(w, "0x%x is paired with 0x%x, which has ended, not 0x%x", f.rqpn,
				f.lqpn, q->lqpn);
	}
}
