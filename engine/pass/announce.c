/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What others say of a queue pair: the verbs, a watcher or connection management that it is there,
 * or gone (rule 16); the peer that it hears none of its replies (moves/replies.c); an hp3d that ran
 * before, where it was.
 */
#include <errno.h>
#include "engine/pass/pass.h"

/*
 * Rule 16: connection management, the verbs and a watcher that catches up may all tell of one queue
 * pair, before its first data and after. The same numbers, beginning at the same PSN, are the same
 * life of it; at most the pairing is better founded now.
 */
static bool is_known_life(const struct hp3_engine *e, uint32_t flow, const struct hp3_qp_event *ev)
{
	const struct hp3_flow *f = &e->flows[flow];

	if (!ev->psn_known || e->began[flow] != ev->psn)
		return false;
	return !(f->flags & HP3_FF_PAIRED) || f->lqpn == ev->lqpn ||
	       f->pairing == HP3_PAIRING_CHALLENGE;
}

int hp3_qp(struct hp3_engine *e, const struct hp3_qp_event *ev, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	uint32_t flow = hp3_flow_find(e, HP3_ENDS(ev), ev->rqpn);
	struct hp3_flow *f;
	bool fresh = true, known;

	if (ev->psn > HP3_PSN_MASK || ev->lqpn > HP3_QPN_MASK || ev->rqpn > HP3_QPN_MASK ||
		ev->pairing == HP3_PAIRING_NONE || ev->pairing > HP3_PAIRING_EVENT)
		return -EINVAL;
	if (ev->kind == HP3_QP_DOWN) {
		if (flow != HP3_NO_FLOW) {
			hp3_path_leave(e, flow, now); /* while it is known what replies said */
			hp3_flow_epoch(&t, flow);
			hp3_flow_remove(&t, flow);
		}
		return 0;
	}
	if (flow == HP3_NO_FLOW) {
		flow = hp3_flow_add(&t, HP3_ENDS(ev), ev->rqpn);
		if (flow == HP3_NO_FLOW)
			return -ENOSPC;
	}
	f = &e->flows[flow];
	known = is_known_life(e, flow, ev);
	if (known && (f->flags & HP3_FF_PAIRED) && f->lqpn == ev->lqpn) {
		if (f->pairing < ev->pairing)
			f->pairing = ev->pairing;
		return 0;
	}
	if (f->flags & HP3_FF_STARTED) {
		if (known)
			hp3_flow_unpair(&t, flow); /* the inference was wrong, if any */
		else
			hp3_flow_epoch(&t, flow);
		fresh = false; /* what may still travel went by the port in use */
	}
	if (f->flags & HP3_FF_MOVED)
		fresh = false; /* CM has told of it before the verbs did: it has a path */
	if (!hp3_flow_pair(&t, flow, ev->lqpn, ev->pairing))
		return -ENOSPC;
	if (ev->psn_known && !(f->flags & HP3_FF_STARTED)) {
		hp3_stream_reset(&f->stream, ev->psn);
		e->began[flow] = ev->psn;
	}
	if (fresh && e->cfg.probing && f->state == HP3_RFR_STEADY &&
		ev->psn_known) /* else a probe might be no duplicate (rule 1) */
		hp3_setup(&t, flow);
	return 0;
}

int hp3_flow_restore(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn,
	uint16_t port, uint16_t replies, uint64_t now)
{
	struct hp3_turn t = {e, now, NULL};
	uint32_t flow;

	if (rqpn > HP3_QPN_MASK || (port == 0 && replies == 0))
		return -EINVAL;
	if (!e->cfg.moves_allowed || e->cfg.observe || e->cfg.beside)
		return -EPERM;
	if (hp3_flow_find(e, ends, rqpn) != HP3_NO_FLOW)
		return -EEXIST;
	flow = hp3_flow_add(&t, ends, rqpn);
	if (flow == HP3_NO_FLOW)
		return -ENOSPC;
	if (port != 0)
		hp3_set_port(e, &e->flows[flow], port);
	hp3_replies_restore(e, flow, replies);
	return 0;
}

int hp3_peer_report(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn, uint64_t now,
	struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	uint32_t flow = hp3_flow_find(e, ends, rqpn);

	e->stats.reports_taken++;
	if (e->replies == NULL || e->cfg.beside || !e->cfg.moves_allowed || e->cfg.observe)
		return -EPERM;
	if (flow == HP3_NO_FLOW)
		flow = hp3_flow_add(&t, ends, rqpn);
	if (flow == HP3_NO_FLOW)
		return -ENOSPC;
	if (e->pairs.pairs[e->flows[flow].pair].pinned)
		return -EPERM;
	if (hp3_replies_moved(e, flow, now))
		return -EALREADY; /* the report crossed what it asks for */
	hp3_replies_leave(&t, flow);
	return 0;
}
