/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_PASS_H
#define HP3_ENGINE_PASS_H
/*
 * What happens to a packet: bursts (burst.c, lanes.c), one at a time (packet.c, transmit.c), what
 * it says of congestion (feedback.c), of queue pairs (cm.c, qp.c, announce.c); and what completions
 * say where no packet is seen (felt.c).
 */
#include "engine/life/life.h"
#include "engine/seek/seek.h"

/* transmit.c: everything but the next packet of a paired, unpaced flow in steady state */
void hp3_tx_slow(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd);

/* feedback.c */
void hp3_severe(struct hp3_turn *t, uint32_t flow);
void hp3_cnp_seen(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
void hp3_becn_seen(
	struct hp3_engine *e, uint32_t flow, bool in_window, uint64_t now, struct hp3_verdict *vd);
void hp3_ce_seen(struct hp3_turn *t, const struct hp3_pkt *pkt);
void hp3_reply_leaves(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd);

/* cm.c */
void hp3_cm_seen(struct hp3_turn *t, const struct hp3_pkt *pkt, enum hp3_dir dir);
/* The queue pair begins with this PSN, or begins anew, as REQ and REP had agreed, which nobody had
 * confirmed: paired. */
void hp3_cm_began(struct hp3_turn *t, uint32_t flow, uint32_t psn);

/* cm_agreed.c */
/* The set-up that they agreed on. */
struct hp3_qp_event hp3_cm_event(const struct hp3_cm_pending *c);
/* ... for the flow's next queue pair, which begins with this PSN; NULL: nothing. */
struct hp3_cm_pending *hp3_cm_agreed(struct hp3_engine *e, uint32_t flow, uint32_t psn);
/* The queue pair has ended: what they agreed on for it pairs no later one. */
void hp3_cm_forget(struct hp3_engine *e, const struct hp3_qp_event *end);
/* The same where a DREQ between the ends of `by` names the connection's ids. */
void hp3_cm_disconnected(struct hp3_engine *e, const struct hp3_cm_pending *by, uint32_t local_id,
	uint32_t remote_id);

/* qp.c */
/* A new epoch begins with this PSN, as was told while the one before was busy: paired. */
void hp3_noted_began(struct hp3_turn *t, uint32_t flow, uint32_t psn);
/* An end waits for proof, and nothing of the flow is on its way any more. */
bool hp3_qp_end_is_due(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/* ... or nothing that left by several paths: carries the end out, or ends the agreements, if the
 * flow has to keep its port. */
void hp3_qp_ended(struct hp3_turn *t, uint32_t flow);
/* A DREQ names its connection. */
void hp3_qp_disconnected(struct hp3_turn *t, uint32_t flow);
/* The first packet of a queue pair. Where it does not begin as was told somebody told of another
 * one: it goes as its RNIC sends it. */
void hp3_check_begin(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v);

#endif
