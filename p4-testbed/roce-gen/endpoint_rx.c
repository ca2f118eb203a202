/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving: requests, replies, CNPs, pause frames. */
#include "base/minmax.h"
#include "content.h"
#include "endpoint.h"
#include "roce/icrc.h"

#define PAUSE_BPS       UINT64_C(1000000000)
#define PAUSE_QUANTUM   512u /* bit times (802.3 annex 31B) */
#define ETHERTYPE_PAUSE 0x8808u
#define ETHER_LEN       14u
#define OPCODE_PFC      0x0101u
#define PFC_LEN         (ETHER_LEN + 20u) /* opcode, classes, eight times */
#define NS_PER_SEC      UINT64_C(1000000000)

/* 802.1Qbb: each priority named stops for its time from now on; time 0 lets it go on. */
static void take_pause(struct gen_endpoint *ep, const uint8_t *frame, uint32_t len, uint64_t now)
{
	uint64_t bps = ep->p.link_bps > 0 ? ep->p.link_bps : PAUSE_BPS;
	uint32_t classes;

	if (len < PFC_LEN || hp3_be16(frame + ETHER_LEN) != OPCODE_PFC) {
		ep->n.others++;
		return;
	}
	classes = hp3_be16(frame + ETHER_LEN + 2);
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t quanta = hp3_be16(frame + ETHER_LEN + 4 + 2 * i), until;

		if (!(classes >> i & 1))
			continue;
		until = now + quanta * PAUSE_QUANTUM * NS_PER_SEC / bps;
		if (i == ep->p.priority) {
			uint64_t from = hp3_max_u64(ep->paused_until[i], now);

			ep->n.pauses += quanta > 0;
			ep->n.paused_ns += until - from;
		}
		ep->paused_until[i] = until;
	}
}

static bool from_peer(const struct gen_qp *q, const uint8_t *frame, const struct hp3_view *v)
{
	const uint8_t *ip = frame + v->l3_off;

	if (!q->connected || q->to.ipv6 != !!(v->flags & HP3_VF_IPV6))
		return false;
	if (q->to.ipv6)
		return memcmp(ip + 8, q->to.dst_ip, 16) == 0 &&
		       memcmp(ip + 24, q->to.src_ip, 16) == 0;
	return memcmp(ip + 12, q->to.dst_ip, 4) == 0 && memcmp(ip + 16, q->to.src_ip, 4) == 0;
}

/* Data that came marked is told to whoever sent it (annex A17.9). */
static void note_ecn(
	struct gen_endpoint *ep, struct gen_qp *q, const struct hp3_view *v, uint64_t now)
{
	q->ect += !!(v->flags & (HP3_VF_ECT | HP3_VF_CE));
	if (!(v->flags & HP3_VF_CE))
		return;
	q->ce++;
	if (!ep->p.np || q->cnp_due ||
		hp3_np_ce(&q->np, &ep->p.np_params, true, now) != HP3_NP_SEND_CNP)
		return;
	q->cnp_due = true;
	ep->cnps[(ep->cnp_first + ep->cnps_due++) % ep->p.max_qps] = q;
}

/*
 * A zero-length WRITE whose PSN was had: so an hp3d asks how far this end is (rule 2). It is no
 * packet of the sender's and bears no mark.
 */
static bool is_question(const struct gen_qp *q, const struct hp3_view *v)
{
	return v->opcode == HP3_OP_RC_WRITE_ONLY && v->dma_len == 0 &&
	       hp3_psn_diff(v->psn, q->responder.expected) < 0;
}

static void take_request(struct gen_endpoint *ep, struct gen_qp *q, const uint8_t *frame,
	const struct hp3_view *v, uint64_t now)
{
	struct gen_event e = {.type = GEN_ARRIVED, .qp = q};

	note_ecn(ep, q, v, now);
	if (q->marks && !is_question(q, v))
		gen_order_note(&q->order, hp3_be16(frame + v->l3_off + 4), v->sport);
	gen_responder_request(&q->responder, frame, v, now, &e.arrival);
	if (e.arrival.message)
		gen_endpoint_event(ep, &e);
}

static void take_reply(struct gen_endpoint *ep, struct gen_qp *q, const uint8_t *frame,
	const struct hp3_view *v, uint64_t now)
{
	struct gen_event e = {.type = GEN_COMPLETED, .qp = q};
	struct gen_reply reply;

	if (v->flags & HP3_VF_READ)
		note_ecn(ep, q, v, now);
	gen_requester_reply(&q->requester, v, now, &reply);
	if (reply.rtt > 0)
		gen_histogram_add(&ep->rtt, reply.rtt);
	if (reply.data && ep->p.responder.check)
		q->read_wrong +=
			!gen_memory_ok(frame + v->icrc_off - (v->payload_len + 3u) / 4u * 4u,
				q->rkey, reply.va, v->payload_len);
	while (gen_requester_completed(&q->requester, &e.message))
		gen_endpoint_event(ep, &e);
}

static void take_roce(struct gen_endpoint *ep, struct gen_qp *q, const uint8_t *frame,
	const struct hp3_view *v, uint64_t now)
{
	switch (v->class) {
	case HP3_CLASS_RC_REQUEST:
		take_request(ep, q, frame, v, now);
		break;
	case HP3_CLASS_RC_REPLY:
		take_reply(ep, q, frame, v, now);
		break;
	default:
		q->cnps_received++;
		if (ep->p.dcqcn)
			hp3_dcqcn_cnp(&q->rp, &ep->p.rp_params, now);
		break;
	}
	gen_endpoint_check_failed(ep, q);
	gen_endpoint_touch(ep, q, now);
}

void gen_endpoint_rx(struct gen_endpoint *ep, const void *frame, uint32_t len, uint64_t now)
{
	const uint8_t *f = frame;
	struct hp3_view v;
	uint32_t i;

	if (len >= ETHER_LEN + 2 && hp3_be16(f + ETHER_LEN - 2) == ETHERTYPE_PAUSE) {
		take_pause(ep, f, len, now);
		return;
	}
	hp3_parse(frame, len, &v);
	if (v.class != HP3_CLASS_RC_REQUEST && v.class != HP3_CLASS_RC_REPLY &&
		v.class != HP3_CLASS_CNP) {
		ep->n.others++;
		return;
	}
	i = v.dest_qpn - ep->p.first_qpn;
	if (i >= ep->n_qps || !from_peer(&ep->qps[i], frame, &v)) {
		ep->n.strays++;
		return;
	}
	if (!hp3_icrc_ok(frame, &v)) {
		ep->n.bad_icrc++;
		return;
	}
	ep->n.rx_packets++;
	ep->n.rx_bytes += len;
	take_roce(ep, &ep->qps[i], f, &v, now);
}
