/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that an agent receives: probes, answers, ICMP messages about traces, reports of peers. */
#include <errno.h>
#include "app/hp3d/pipe/agent_internal.h"
#include "probes/datagram.h"

static struct hp3_receiver receiver_of(struct hp3d_agent *a)
{
	return (struct hp3_receiver){.keys = &a->keys,
		.heard = a->heard,
		.time = {hp3d_agent_clock(), a->clock_s},
		.port = a->port,
		.stats = &a->stats,
		.secret = &a->secret};
}

static struct rte_mbuf *answer_to(
	struct hp3d_agent *a, const struct hp3_pkt *pkt, struct hp3_answer *reply)
{
	const struct hp3_receiver rx = receiver_of(a);
	struct rte_mbuf *m = rte_pktmbuf_alloc(a->pool);
	int len;

	if (m == NULL) {
		a->c.probe_no_buffer++;
		return NULL;
	}
	reply->clock_us = hp3d_agent_clock_us();
	len = hp3_answer_build(
		rte_pktmbuf_mtod(m, void *), HP3D_AGENT_FRAME_MAX, HP3_PARSED(pkt), reply, &rx);
	return hp3d_agent_sized(m, len);
}

/* Has the local RNIC a connection with the remote end? The packet may be forged. */
static bool is_known(struct hp3d_agent *a, const struct hp3_ends *ends)
{
	const struct hp3d_neighbour *n = hp3d_neighbours_find(&a->neighbours, ends);

	return n != NULL && n->peer;
}

/* Notes that the peer is alive, if the packet was authenticated. */
static void mark_peer_seen(
	struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_ends *ends, uint64_t now)
{
	if (!hp3d_agent_is_keyed(a, ends))
		return;
	hp3_peer_seen(e, ends, now);
	hp3d_agent_key_heard(a, ends, now);
}

static bool take_probe(struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts, struct rte_mbuf **answer)
{
	const struct hp3_ends ends = hp3_ends_of(pkt->frame, &pkt->v, HP3_DIR_RX);
	struct hp3_answer reply;

	switch (hp3_responder_take(a->responder, HP3_PARSED(pkt), is_known(a, &ends),
		&(struct hp3_times){hp3d_agent_clock(), now}, &reply)) {
	case HP3_RESPOND_PASS:
		return false;
	case HP3_RESPOND_ANSWER:
		*answer = answer_to(a, pkt, &reply);
		mark_peer_seen(a, e, &ends, now);
		return true;
	case HP3_RESPOND_REPORT:
		hp3_peer_report(e, &ends, hp3_report_qpn(reply.id), now, acts);
		mark_peer_seen(a, e, &ends, now);
		return true;
	default:
		return true;
	}
}

static void report_hop(struct hp3_engine *e, const struct hp3_trace_result *r, uint64_t now)
{
	hp3_hop_reported(e, (uint32_t)r->ask.cookie, (enum hp3_trace_outcome)r->outcome, r->ipv6,
		r->hop, now);
}

/* ICMP messages that end no trace of hp3d go to the host. */
static bool take_icmp(
	struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now)
{
	struct hp3_trace_result r;
	int err = hp3_trace_icmp(&a->tracer, HP3_PARSED(pkt), now, &r);

	if (err == 0)
		report_hop(e, &r, now);
	return err == 0 || err == -ESTALE;
}

/* A host with the key has answered a probe that had no answer yet: its messages since that probe
 * are fresh. */
static void mark_peer_answered(struct hp3d_agent *a, struct hp3_engine *e,
	const struct hp3_pkt *pkt, const struct hp3_answer *reply, uint64_t now)
{
	const struct hp3_ends ends = hp3_ends_of(pkt->frame, &pkt->v, HP3_DIR_RX);
	const struct hp3_receiver rx = receiver_of(a);
	struct hp3_addressing from;

	if (!hp3d_agent_is_keyed(a, &ends))
		return;
	hp3_addressing_same(pkt->frame, &pkt->v, &from);
	hp3_heard_clock(rx.heard, &from, reply->clock_us, &rx.time);
	mark_peer_seen(a, e, &ends, now);
}

static bool take_answer(struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_receiver rx = receiver_of(a);
	struct hp3_trace_result traced;
	struct hp3_answer reply;

	switch (hp3_answer_read(HP3_PARSED(pkt), &rx, &reply)) {
	case HP3_MESSAGE_NONE:
		return false;
	case HP3_MESSAGE_OK:
		if (hp3_trace_reached(&a->tracer, reply.id, now, &traced)) {
			mark_peer_answered(a, e, pkt, &reply, now);
			report_hop(e, &traced, now);
			return true;
		}
		if (hp3_probe_timed(e, reply.id, reply.ce,
			    a->took != NULL ? a->took(a->took_ctx, reply.id) : 0, now, acts))
			mark_peer_answered(a, e, pkt, &reply, now);
		return true;
	default:
		return true;
	}
}

static bool take_agree(struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts)
{
	const struct hp3_ends ends = hp3_ends_of(pkt->frame, &pkt->v, HP3_DIR_RX);
	const struct hp3_receiver rx = receiver_of(a);
	struct hp3_agree what;

	switch (hp3_agree_read(HP3_PARSED(pkt), &rx, &what)) {
	case HP3_MESSAGE_NONE:
		return false;
	case HP3_MESSAGE_OK:
		hp3d_agent_key_heard(a, &ends, now);
		hp3_agree_received(e, &ends, &what, now, acts);
		return true;
	default:
		return true;
	}
}

bool hp3d_agent_is_of_host(const struct hp3d_agent *a, const struct hp3_pkt *pkt)
{
	struct hp3_datagram d;

	return hp3_datagram_to(HP3_PARSED(pkt), a->port, &d) == 0;
}

bool hp3d_agent_take(struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts, struct rte_mbuf **answer)
{
	acts->n = 0;
	*answer = NULL;
	if (pkt->v.class == HP3_CLASS_UC)
		return take_probe(a, e, pkt, now, acts, answer);
	if (pkt->v.reason == HP3_PARSE_NOT_UDP)
		return take_icmp(a, e, pkt, now);
	return take_answer(a, e, pkt, now, acts) || take_agree(a, e, pkt, now, acts) ||
	       hp3d_agent_take_keying(a, pkt, now, answer);
}
