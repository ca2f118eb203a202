/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to a packet. In steady state one look-up, one record line, one comparison of PSNs;
 * everything else (first packets, pairing, moves, the unexpected) leaves that way early.
 */
#include "engine/internal.h"

#define SHORT_FRAME                                                                                \
	160u /* ICRC of replies up to this long is checked where it may prove idleness */

static uint32_t first_packet(struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now)
{
	const uint8_t *local, *remote;

	hp3_pkt_addresses(pkt, HP3_DIR_TX, &local, &remote);
	return hp3_flow_add(
		e, pkt->v.flags & HP3_VF_IPV6, pkt->v.vlan, local, remote, pkt->v.dest_qpn, now);
}

/* Fragments have no ports to rewrite: their address pair becomes immovable (rule 17). */
static void fragment_seen(struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	const uint8_t *local, *remote;
	uint32_t pair;

	hp3_pkt_addresses(pkt, dir, &local, &remote);
	pair = hp3_pairs_find(&e->pairs, pkt->v.flags & HP3_VF_IPV6, pkt->v.vlan, local, remote);
	if (pair != HP3_NO_PAIR)
		e->pairs.pairs[pair].pinned = true;
}

static void other_packet(struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir,
	uint64_t now, struct hp3_acts *acts)
{
	if (pkt->v.class == HP3_CLASS_CM)
		hp3_cm_seen(e, pkt, dir, now, acts);
	else if (pkt->v.class == HP3_CLASS_OTHER && pkt->v.reason == HP3_PARSE_FRAGMENT)
		fragment_seen(e, pkt, dir);
}

/* --- the monitor of the path in use (ppp/monitor.h) --- */

static inline bool is_watched(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return e->cfg.monitor.cycle_ns != 0 && (f->flags & HP3_FF_PAIRED);
}

/* A first transmission leaves now. READs outstanding would delay the ACK that is timed. */
static inline void watch_sent(
	struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now)
{
	struct hp3_flow *f = &e->flows[flow];
	bool read = v->flags & (HP3_VF_READ | HP3_VF_ATOMIC);

	if (__builtin_expect(read, 0))
		f->flags |= HP3_FF_READS;
	else if (!(v->flags & HP3_VF_ACKREQ) && !(f->flags & HP3_FF_FRESH))
		return;
	if (__builtin_expect(!(f->watch & HP3_FW_ARMED), 0))
		hp3_active_add(e, flow, now);
	f->flags &= (uint16_t)~HP3_FF_FRESH;
	if (is_watched(e, f))
		hp3_monitor_sent(&f->monitor, v->psn,
			(v->flags & HP3_VF_ACKREQ) && !(f->flags & HP3_FF_READS), now);
}

/* Once per spell it is reported; in every cycle of it a better path may be looked for. */
static void severe(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	bool known = f->flags & HP3_FF_SEVERE;
	struct hp3_event *ev;

	f->flags |= HP3_FF_SEVERE;
	if (!known) {
		e->stats.severe++;
		ev = hp3_event(e, flow, HP3_EV_SEVERE, now, acts);
		ev->n_cycles = (uint8_t)hp3_monitor_evidence(&f->monitor, ev->cycles);
		ev->cause = hp3_cause_of(ev->cycles, ev->n_cycles);
		hp3_monitor_estimates(&f->monitor, &e->cfg.monitor, &ev->path);
	}
	if (e->cfg.probing && f->state == HP3_RFR_STEADY)
		hp3_seek(e, flow, now, acts);
}

static inline void watch_reply(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v,
	uint32_t una_before, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	uint32_t acked = (f->stream.una - una_before) & HP3_PSN_MASK;

	if (hp3_stream_idle(&f->stream))
		f->flags &= (uint16_t)~HP3_FF_READS;
	if (!is_watched(e, f))
		return;
	if (hp3_monitor_reply(&f->monitor, &e->cfg.monitor, v->psn, v->flags & HP3_VF_BECN,
		    acked << f->pmtu_log2, now))
		severe(e, flow, now, acts);
	else if (__builtin_expect(f->flags & HP3_FF_SEVERE, 0) && hp3_monitor_calm(&f->monitor)) {
		f->flags &= (uint16_t)~HP3_FF_SEVERE;
		hp3_backoff_calm(&f->backoff, now);
	}
}

/* --- congestion feedback (cc) --- */

/* CNPs and BECN of the old path after a move (cc/shield.h). */
static bool is_stale(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	struct hp3_move *m;

	if (f->slot == HP3_NO_SLOT)
		return false;
	m = &e->moves[f->slot];
	hp3_shield_reply(&m->shield, (f->stream.una - 1) & HP3_PSN_MASK);
	return hp3_shield_cnp(&m->shield, now) == HP3_CNP_CONSUME;
}

/* Rule 5: where the RNIC does not do congestion control, what speaks of it stops here. */
static void cnp_seen(struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts)
{
	uint32_t flow = hp3_pkt_flow(e, pkt, HP3_DIR_RX);
	struct hp3_flow *f;

	e->stats.cnps++;
	vd->flow = flow;
	if (e->cfg.cc.mode != HP3_CC_NATIVE)
		vd->kind = HP3_CONSUME;
	if (flow == HP3_NO_FLOW || !hp3_pkt_icrc_ok(e, pkt))
		return;
	f = &e->flows[flow];
	if (is_stale(e, f, now)) {
		e->stats.cnps_stale++;
		vd->kind = HP3_CONSUME;
		return;
	}
	if (f->state == HP3_RFR_PROBING)
		e->moves[f->slot].marked = true;
	hp3_rate_marked(e, flow, now);
	if (is_watched(e, f) && hp3_monitor_cnp(&f->monitor, &e->cfg.monitor, now))
		severe(e, flow, now, acts);
}

static void becn_seen(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_verdict *vd)
{
	if (e->cfg.cc.mode == HP3_CC_NATIVE)
		return;
	vd->flags |= HP3_CLEAR_BECN;
	if (!is_stale(e, &e->flows[flow], now))
		hp3_rate_marked(e, flow, now);
}

/* Only towards a peer whose hp3d is alive (rule 5). */
static bool peer_listens(const struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	uint64_t seen = e->pairs.pairs[f->pair].peer_seen;

	return seen != 0 && now - seen < e->cfg.peer_ns;
}

/* A request of the peer arrived marked. */
static void ce_seen(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_acts *acts)
{
	uint32_t flow = hp3_pkt_flow(e, pkt, HP3_DIR_RX);
	struct hp3_flow *f;
	struct hp3_act *a;

	if (flow == HP3_NO_FLOW)
		return;
	f = &e->flows[flow];
	e->stats.ce_seen++;
	if (hp3_np_ce(&e->np[flow], &e->pairs.pairs[f->pair].np, &e->cfg.cc.np,
		    peer_listens(e, f, now), now) != HP3_NP_SEND_CNP)
		return;
	a = hp3_act(acts, HP3_ACT_CNP, flow);
	a->pkey = pkt->v.pkey;
	a->port = hp3_flow_port(f);
	e->stats.cnps_made++;
}

static void reply_leaves(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd)
{
	uint32_t flow;

	if (!(pkt->v.flags & HP3_VF_AETH))
		return;
	flow = hp3_pkt_flow(e, pkt, HP3_DIR_TX);
	if (flow != HP3_NO_FLOW &&
		hp3_np_ack(&e->np[flow], &e->cfg.cc.np, peer_listens(e, &e->flows[flow], now)) ==
			HP3_NP_SET_BECN)
		vd->flags |= HP3_SET_BECN;
}

/* The newest packet of the flow left or will leave; what does it mean for a later move? */
static inline void note_new(struct hp3_flow *f, const struct hp3_view *v)
{
	uint16_t flags =
		f->flags & (uint16_t) ~(HP3_FF_LAST_CLOSE | HP3_FF_IDLE_PROOF | HP3_FF_WENT_BACK);

	if (v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC))
		flags |= HP3_FF_LAST_CLOSE;
	if (__builtin_expect(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC), 0))
		flags |= HP3_FF_READS; /* held or not: the RNIC waits for its response */
	f->flags = flags;
}

static void tx_retransmit(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v,
	uint64_t now, struct hp3_verdict *vd, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];

	e->stats.retransmits++;
	if (f->retransmits < UINT16_MAX)
		f->retransmits++;
	f->flags &= (uint16_t) ~(HP3_FF_LAST_CLOSE | HP3_FF_IDLE_PROOF);
	f->flags |= HP3_FF_WENT_BACK;
	if (hp3_psn_diff(v->psn, f->stream.una) < 0)
		f->watch |= HP3_FW_DOUBT;
	if (is_watched(e, f))
		hp3_monitor_retransmit(&f->monitor);
	if (!(f->watch & HP3_FW_ARMED) && (f->flags & HP3_FF_PAIRED))
		hp3_active_add(e, flow, now);
#ifdef HP3_BREAK_RETRANSMIT_NEW_PORT
	if (f->state == HP3_RFR_DRAINING) {
		vd->sport = e->moves[f->slot].to;
		return;
	}
#endif
	hp3_move_input(e, flow, HP3_RFR_IN_TX_RETRANSMIT, now, acts);
	if ((f->flags & HP3_FF_CLOSE_ACK) && v->psn == f->mark_psn &&
		!(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)))
		vd->flags |= HP3_SET_ACKREQ;
}

static struct hp3_held held_of(const struct hp3_flow *f, const struct hp3_pkt *pkt,
	enum hp3_tx_kind kind, uint8_t vd_flags)
{
	const uint16_t read = HP3_VF_READ | HP3_VF_ATOMIC;
	struct hp3_held h = {.psn = pkt->v.psn,
		.end = hp3_stream_end(&f->stream),
		.len = (uint16_t)(pkt->len < UINT16_MAX ? pkt->len : UINT16_MAX),
		.opcode = pkt->v.opcode};

	if (kind == HP3_TX_RETRANSMIT)
		h.flags |= HP3_HELD_AGAIN;
	if ((pkt->v.flags & (read | HP3_VF_ACKREQ)) || (vd_flags & HP3_SET_ACKREQ))
		h.flags |= HP3_HELD_ASKS;
	if (pkt->v.flags & read)
		h.flags |= HP3_HELD_READ;
	return h;
}

/* Held by a move; false: no room, the move is over, and what was held has left. */
static bool hold(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt,
	enum hp3_tx_kind kind, uint64_t now, struct hp3_verdict *vd, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_held h = held_of(f, pkt, kind, 0);

	if (!hp3_hold_put(e, flow, &h)) {
		hp3_move_input(e, flow, HP3_RFR_IN_HOLD_FULL, now, acts);
		return false;
	}
	e->moves[f->slot].moved_pkts++;
	e->moves[f->slot].moved_bytes += pkt->len;
	vd->kind = HP3_HOLD;
	vd->slot = f->slot;
	return true;
}

/* A packet while a move is under way. */
static void tx_moving(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt,
	enum hp3_tx_kind kind, uint64_t now, struct hp3_verdict *vd, struct hp3_acts *acts)
{
	const bool read = pkt->v.flags & (HP3_VF_READ | HP3_VF_ATOMIC);
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = &e->moves[f->slot];

	if (f->state == HP3_RFR_RESUMING) {
		if (!e->cfg.beside && !hp3_resume_tx(e, flow, pkt, kind, now, acts))
			hold(e, flow, pkt, kind, now, vd, acts);
		return;
	}
	if (kind == HP3_TX_RETRANSMIT || e->cfg.beside ||
		(f->state == HP3_RFR_CLOSING && (m->held_pkts != 0 || (m->ask && read))))
		return; /* what waits for the pacer closes first */
	switch (hp3_move_input(e, flow, HP3_RFR_IN_TX_NEW, now, acts)) {
	case HP3_RFR_DO_CLOSE:
		hp3_move_close(e, flow, f->stream.hi, hp3_stream_end(&f->stream), now, acts);
#ifndef HP3_BREAK_NO_ACKREQ
		if (!read)
			vd->flags |= HP3_SET_ACKREQ;
#endif
		break;
	case HP3_RFR_DO_HOLD:
		hold(e, flow, pkt, kind, now, vd, acts);
		break;
	default:
		break;
	}
}

/* The first packet of a queue pair, or of its next epoch. */
static void start(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now,
	struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];

	hp3_stream_reset(&f->stream, v->psn);
	f->flags |= HP3_FF_STARTED;
	f->home = v->sport;
	if (f->flags & HP3_FF_MOVED)
		hp3_set_port(e, f, f->port); /* placed: perhaps just where the RNIC would go */
	if (f->state == HP3_RFR_SEEKING)
		hp3_setup_late(e, flow, now, acts);
}

/* Everything but the next packet of a paired, unpaced flow in steady state. */
static void tx_slow(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	enum hp3_tx_kind kind;
	struct hp3_held h;

	if (!(f->flags & HP3_FF_STARTED))
		start(e, flow, &pkt->v, now, acts);
	kind = hp3_stream_tx(&f->stream, &pkt->v, &f->pmtu_log2);
	if (kind == HP3_TX_EPOCH) {
		hp3_flow_epoch(e, flow, now, acts);
		start(e, flow, &pkt->v, now, acts);
		kind = hp3_stream_tx(&f->stream, &pkt->v, &f->pmtu_log2);
	}
	if (kind == HP3_TX_RETRANSMIT)
		tx_retransmit(e, flow, &pkt->v, now, vd, acts);
	else
		note_new(f, &pkt->v);
	if (f->state > HP3_RFR_SEEKING) {
		tx_moving(e, flow, pkt, kind, now, vd, acts);
	} else if (kind == HP3_TX_NEW) {
		watch_sent(e, flow, &pkt->v, now);
		if (!(f->flags & HP3_FF_PAIRED) && hp3_challenge_tx(e, flow, pkt, now, acts))
			vd->flags |= HP3_SET_ACKREQ;
	}
	vd->sport = f->flags & HP3_FF_MOVED ? f->port : pkt->v.sport;
#ifdef HP3_BREAK_RETRANSMIT_NEW_PORT
	if (kind == HP3_TX_RETRANSMIT && f->state == HP3_RFR_DRAINING)
		vd->sport = e->moves[f->slot].to;
#endif
	/* In DRAINING only the closing packet passes, and in RESUMING what goes first. */
	if ((f->flags & HP3_FF_PACED) && vd->kind == HP3_PASS && f->state <= HP3_RFR_CLOSING) {
		h = held_of(f, pkt, kind, vd->flags);
		hp3_rate_tx(e, flow, &h, now, vd, acts);
	}
}

void hp3_tx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd,
	struct hp3_acts *acts)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_flow *f;
	uint32_t flow;

	acts->n = 0;
	*vd = (struct hp3_verdict){.kind = HP3_PASS, .sport = v->sport, .flow = HP3_NO_FLOW};
	if (v->class != HP3_CLASS_RC_REQUEST) {
		if (v->class != HP3_CLASS_RC_REPLY)
			other_packet(e, pkt, HP3_DIR_TX, now, acts);
		else if (e->np != NULL)
			reply_leaves(e, pkt, now, vd);
		return;
	}
	e->stats.tx_requests++;
	flow = hp3_pkt_flow(e, pkt, HP3_DIR_TX);
	if (__builtin_expect(flow == HP3_NO_FLOW, 0)) {
		flow = first_packet(e, pkt, now);
		if (flow == HP3_NO_FLOW) {
			e->stats.untracked++;
			return;
		}
	}
	vd->flow = flow;
	f = &e->flows[flow];
	f->last = (uint32_t)(now >> HP3_TICK_SHIFT);
	f->bytes += pkt->len - v->l3_off;
	if (__builtin_expect(f->state != HP3_RFR_STEADY ||
				     (f->flags & (HP3_FF_STARTED | HP3_FF_PAIRED | HP3_FF_PACED)) !=
					     (HP3_FF_STARTED | HP3_FF_PAIRED) ||
				     v->psn != f->stream.nxt || f->stream.open_len != 0 ||
				     f->pmtu_log2 == 0,
		    0)) {
		tx_slow(e, flow, pkt, now, vd, acts);
		f->home = v->sport;
		return;
	}
	hp3_stream_emit(&f->stream, v, f->pmtu_log2);
	note_new(f, v);
	watch_sent(e, flow, v, now);
	f->home = v->sport;
	if (f->flags & HP3_FF_MOVED)
		vd->sport = f->port;
}

/*
 * Rule 2: an ACK that proves nothing new goes to the RNIC only if no probe of ours may have
 * provoked it.
 */
static bool is_ours(
	struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_pkt *pkt, uint64_t now)
{
	const struct hp3_view *v = &pkt->v;

	return e->cfg.probing && (v->flags & HP3_VF_AETH) &&
	       !(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)) &&
	       HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK &&
	       now < e->pairs.pairs[f->pair].probed_until && hp3_pkt_icrc_ok(e, pkt);
}

static void consume(struct hp3_engine *e, struct hp3_verdict *vd)
{
	e->stats.acks_consumed++;
	vd->kind = HP3_CONSUME;
}

/* A reply while a move is under way: rule 6, its ICRC counts only if it would change anything. */
static void rx_moving(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_move *m = &e->moves[f->slot];
	struct hp3_stream after = f->stream;
	enum hp3_rfr_input input = hp3_rfr_reply(f->state, &after, &m->closing, &pkt->v);

	if (f->state == HP3_RFR_PROBING && hp3_pkt_icrc_ok(e, pkt) &&
		hp3_seek_reply(e, flow, &pkt->v, now, acts)) {
		vd->kind = HP3_CONSUME;
		return;
	}
	/* Idle is no proof while a retransmission may still travel (rule 7). */
	if (input == HP3_RFR_IN_DRAINED && f->state == HP3_RFR_CLOSING &&
		((f->flags & HP3_FF_WENT_BACK) || m->ask))
		input = HP3_RFR_IN_NONE;
	if (input == HP3_RFR_IN_DRAINED && e->cfg.beside)
		input = HP3_RFR_IN_NONE; /* the actuator knows */
	if (input != HP3_RFR_IN_NONE && !hp3_pkt_icrc_ok(e, pkt))
		return;
	if (hp3_psn_diff(pkt->v.psn, f->stream.una) < 0 && is_ours(e, f, pkt, now))
		consume(e, vd);
	f->stream = after;
	if (input == HP3_RFR_IN_CONTRADICTION) {
		e->stats.contradictions++;
		hp3_flow_unpair(e, flow, now, acts);
	} else if (input == HP3_RFR_IN_DRAINED && m->ask) {
		hp3_move_input(e, flow, HP3_RFR_IN_ASK, now, acts);
	} else if (input != HP3_RFR_IN_NONE) {
		hp3_move_input(e, flow, input, now, acts);
	}
	if (f->state == HP3_RFR_RESUMING)
		hp3_resume_rx(e, flow, now, acts);
}

static void rx_steady(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	enum hp3_reply_kind kind = hp3_stream_reply(&f->stream, &pkt->v);

	if (__builtin_expect(kind == HP3_REPLY_PROGRESS, 1)) {
		if (hp3_stream_idle(&f->stream) && !(f->flags & HP3_FF_WENT_BACK) &&
			pkt->len <= SHORT_FRAME && hp3_pkt_icrc_ok(e, pkt))
			f->flags |= HP3_FF_IDLE_PROOF;
	} else if (kind == HP3_REPLY_BEYOND && (f->flags & HP3_FF_STARTED) &&
		   hp3_pkt_icrc_ok(e, pkt)) {
		e->stats.contradictions++;
		hp3_flow_unpair(e, flow, now, acts);
	} else if (kind == HP3_REPLY_STALE && is_ours(e, f, pkt, now)) {
		consume(e, vd);
	}
}

static void note_refusal(struct hp3_engine *e, struct hp3_flow *f, const struct hp3_view *v)
{
	if (HP3_SYN_KIND(v->syndrome) == HP3_SYN_RNR) {
		e->stats.rnrs++;
		if (!(f->flags & HP3_FF_CLOSE_ACK) || hp3_psn_diff(v->psn, f->mark_psn) > 0) {
			f->mark_psn = v->psn; /* a closing PSN before it has arrived */
			f->flags &= (uint16_t)~HP3_FF_CLOSE_ACK;
		}
		f->flags |= HP3_FF_RNR;
	} else if (HP3_SYN_KIND(v->syndrome) == HP3_SYN_NAK) {
		e->stats.naks++;
	}
}

/* A READ response behind one that was lost: the RNIC knows less than the PSNs say. */
static inline void note_progress(struct hp3_flow *f, const struct hp3_view *v, uint32_t una_before)
{
	uint32_t acked = (f->stream.una - una_before) & HP3_PSN_MASK;

	if (v->flags & HP3_VF_AETH)
		f->watch |= HP3_FW_HEARD;
	if (__builtin_expect((v->flags & (HP3_VF_READ | HP3_VF_FIRST)) == HP3_VF_READ, 0))
		f->watch |= acked > 1 ? HP3_FW_DOUBT : 0;
	else
		f->watch &= (uint8_t)~HP3_FW_DOUBT;
}

void hp3_rx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd,
	struct hp3_acts *acts)
{
	const struct hp3_view *v = &pkt->v;
	struct hp3_flow *f;
	uint32_t flow, una;
	bool refused;

	acts->n = 0;
	*vd = (struct hp3_verdict){.kind = HP3_PASS, .sport = v->sport, .flow = HP3_NO_FLOW};
	if (v->class != HP3_CLASS_RC_REPLY) {
		if (v->class == HP3_CLASS_CNP)
			cnp_seen(e, pkt, now, vd, acts);
		else if (v->class != HP3_CLASS_RC_REQUEST)
			other_packet(e, pkt, HP3_DIR_RX, now, acts);
		else if (e->np != NULL && (v->flags & HP3_VF_CE))
			ce_seen(e, pkt, now, acts);
		return;
	}
	e->stats.rx_replies++;
	flow = hp3_pkt_flow(e, pkt, HP3_DIR_RX);
	if (__builtin_expect(flow == HP3_NO_FLOW, 0)) {
		hp3_challenge_rx(e, pkt, now, acts);
		return;
	}
	vd->flow = flow;
	f = &e->flows[flow];
	f->last = (uint32_t)(now >> HP3_TICK_SHIFT);
	if (__builtin_expect(f->pmtu_log2 == 0, 0))
		hp3_learn_pmtu(v, &f->pmtu_log2);
	refused = (v->flags & HP3_VF_AETH) && HP3_SYN_KIND(v->syndrome) != HP3_SYN_ACK;
	if (refused) {
		if (!hp3_pkt_icrc_ok(e, pkt))
			return; /* rule 6: means nothing */
		note_refusal(e, f, v);
	}
	una = f->stream.una;
	if (__builtin_expect(f->state == HP3_RFR_STEADY, 1) ||
		(f->state == HP3_RFR_SEEKING && !refused))
		rx_steady(e, flow, pkt, now, vd, acts);
	else
		rx_moving(e, flow, pkt, now, vd, acts);
	if (v->flags & HP3_VF_AETH) { /* for a NAK of ours (rule 4) */
		f->msn = v->msn & HP3_PSN_MASK;
		f->pkey = v->pkey;
	}
	if (f->stream.una != una)
		note_progress(f, v, una);
	if (__builtin_expect(v->flags & HP3_VF_BECN, 0))
		becn_seen(e, flow, now, vd);
	watch_reply(e, flow, v, una, now, acts);
	if (__builtin_expect(f->flags & (HP3_FF_RNR | HP3_FF_CLOSE_ACK), 0) &&
		hp3_psn_diff(f->stream.una, f->mark_psn) > 0)
		f->flags &= (uint16_t) ~(HP3_FF_RNR | HP3_FF_CLOSE_ACK);
}
