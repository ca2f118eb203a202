/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that an agent sends for the engine's actions. */
#include <string.h>
#include "app/hp3d/pipe/agent_internal.h"
#include "roce/build.h"

/* The addressing of packets from the flow's remote end to its local end. */
static struct hp3_addressing turn_addressing(const struct hp3_addressing *a)
{
	struct hp3_addressing t = *a;

	memcpy(t.dst_mac, a->src_mac, sizeof(t.dst_mac));
	memcpy(t.src_mac, a->dst_mac, sizeof(t.src_mac));
	memcpy(t.dst_ip, a->src_ip, sizeof(t.dst_ip));
	memcpy(t.src_ip, a->dst_ip, sizeof(t.src_ip));
	return t;
}

static const struct hp3_probe_key *sending_key(const struct hp3d_agent *a)
{
	return &a->keys.key[a->use];
}

/*
 * A probe that any RNIC answers: a duplicate, which is a zero-length WRITE ONLY with AckReq. psn:
 * of an acknowledged SEND or WRITE. The answer is an ACK with the PSN of the latest executed
 * request. The engine decides when hp3d may send such probes; rule 2 explains why this is rare.
 *
 * The probe refers to no memory: R_Key and VA are 0. RNICs do not check the R_Key of a zero-length
 * WRITE (IBTA C9-88), and do not execute a duplicate again (C9-105). If an RNIC did check it, R_Key
 * 0 would match no memory region of an application. A peer's hp3d does not take it for a peer
 * probe, because its magic is missing.
 */
static int build_standard_probe(
	void *buf, const struct hp3_addressing *to, uint32_t qpn, uint32_t psn)
{
	return hp3_build(buf, HP3D_AGENT_FRAME_MAX, to,
		&(struct hp3_fields){.opcode = HP3_OP_RC_WRITE_ONLY,
			.ackreq = true,
			.dest_qpn = qpn,
			.psn = psn});
}

static int build_probe(struct hp3d_agent *a, void *buf, const struct hp3_addressing *to,
	const struct hp3_act *act, uint32_t qpn)
{
	struct hp3_peer_probe p = {.dest_qpn = qpn,
		.psn = act->psn,
		.id = act->probe_id,
		.pad = act->pad,
		.cookie = hp3_probe_cookie(&a->secret, to, act->probe_id),
		.time = hp3d_agent_clock()};

	if (act->op == HP3_PROBE_STANDARD) {
		a->c.probes_standard++;
		return build_standard_probe(buf, to, qpn, act->psn);
	}
	a->c.probes_peer++;
	return hp3_peer_build(buf, HP3D_AGENT_FRAME_MAX, to, &p, sending_key(a));
}

static uint64_t next_stamp(struct hp3d_agent *a)
{
	a->sent_stamp_us = hp3_heard_stamp(a->sent_stamp_us, hp3d_agent_clock_us(), a->clock_s);
	return a->sent_stamp_us;
}

static int build_report(struct hp3d_agent *a, void *buf, const struct hp3_addressing *to,
	const struct hp3_act *act, const struct hp3_flow_info *f)
{
	struct hp3_peer_probe p = {.dest_qpn = f->rqpn,
		.psn = act->psn,
		.id = hp3_report_id(f->lqpn, (uint8_t)a->c.reports_sent++),
		.time = next_stamp(a),
		.report = true};

	return hp3_peer_build(buf, HP3D_AGENT_FRAME_MAX, to, &p, sending_key(a));
}

static int build_agree(struct hp3d_agent *a, void *buf, const struct hp3_addressing *from_here,
	struct hp3_agree what)
{
	struct hp3_addressing to = *from_here;

	a->c.agreements_sent++;
	hp3_addressing_class(&to, a->dscp);
	to.sport = a->port;
	what.stamp_us = next_stamp(a);
	return hp3_agree_build(buf, HP3D_AGENT_FRAME_MAX, &to, &what, sending_key(a));
}

static bool is_for_the_rnic(const struct hp3_act *act)
{
	return act->kind == HP3_ACT_NAK || act->kind == HP3_ACT_CNP_OWED;
}

static int build_packet(struct hp3d_agent *a, void *buf, const struct hp3_addressing *from_here,
	const struct hp3_act *act, const struct hp3_flow_info *f, uint64_t now)
{
	struct hp3_trace_ask ask = {.cookie = act->probe_id,
		.qpn = f->rqpn,
		.psn = act->psn,
		.ttl = act->op,
		.opcode = act->flags};
	struct hp3_addressing to = *from_here;

	if (is_for_the_rnic(act)) {
		to = turn_addressing(&to);
		to.sport = f->port;
		to.pkey = act->pkey;
		if (act->kind == HP3_ACT_CNP_OWED)
			return hp3_build_cnp(buf, HP3D_AGENT_FRAME_MAX, &to, f->lqpn);
		return hp3_build_ack(buf, HP3D_AGENT_FRAME_MAX, &to, f->lqpn, act->psn,
			HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, act->msn);
	}
	to.sport = act->port;
	if (act->kind == HP3_ACT_REPORT || act->kind == HP3_ACT_CNP)
		hp3_addressing_class(&to, a->dscp);
	if (act->kind == HP3_ACT_REPORT)
		return build_report(a, buf, &to, act, f);
	if (act->kind == HP3_ACT_SOLICIT_ACK) {
		a->c.ack_solicitations_sent++;
		return build_standard_probe(buf, &to, f->rqpn, act->psn);
	}
	if (act->kind == HP3_ACT_CNP) {
		to.pkey = act->pkey;
		return hp3_build_cnp(buf, HP3D_AGENT_FRAME_MAX, &to, f->rqpn);
	}
	if (act->kind == HP3_ACT_TRACE)
		return hp3_trace_start(
			&a->tracer, &to, &ask, &(struct hp3_times){hp3d_agent_clock(), now}, buf);
	return build_probe(a, buf, &to, act, f->rqpn);
}

struct rte_mbuf *hp3d_agent_make(struct hp3d_agent *a, const struct hp3_engine *e,
	const struct hp3_act *act, uint64_t now, enum hp3_dir *dir)
{
	const struct hp3d_neighbour *n;
	const bool agree = act->kind == HP3_ACT_AGREE;
	struct hp3_flow_info f;
	struct rte_mbuf *m;
	int len;

	if (!agree && hp3_flow_info(e, act->flow, now, &f) < 0)
		return NULL;
	n = hp3d_neighbours_find(&a->neighbours, agree ? HP3_ENDS(&act->agree) : HP3_ENDS(&f));
	if (n == NULL) {
		a->c.probe_no_route++;
		return NULL;
	}
	m = rte_pktmbuf_alloc(a->pool);
	if (m == NULL) {
		a->c.probe_no_buffer++;
		return NULL;
	}
	if (agree)
		len = build_agree(a, rte_pktmbuf_mtod(m, void *), &n->a, act->agree.what);
	else
		len = build_packet(a, rte_pktmbuf_mtod(m, void *), &n->a, act, &f, now);
	*dir = is_for_the_rnic(act) ? HP3_DIR_RX : HP3_DIR_TX;
	return hp3d_agent_sized(m, len);
}
