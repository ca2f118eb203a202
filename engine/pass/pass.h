/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Packet handling: bursts (burst.c, isa.c), single packets (packet.c, transmit.c), congestion
 * feedback (feedback.c), set-up and end of queue pairs (cm.c, cm_agreed.c, qp.c), other messages
 * about queue pairs (announce.c). In verbs mode, completions replace packets (completions.c).
 */
#include "engine/life/life.h"
#include "engine/search/search.h"

/* transmit.c: all requests except the next packet of a paired, unpaced flow in steady state */
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
/*
 * The queue pair begins, or begins a new epoch, with this PSN. Pairs the flow if a REQ and a REP
 * have named this PSN and no RTU has confirmed them yet.
 */
void hp3_cm_began(struct hp3_turn *t, uint32_t flow, uint32_t psn);

/* cm_agreed.c */
/* The set-up event of an agreed connection. */
struct hp3_qp_event hp3_cm_event(const struct hp3_cm_pending *c);
/*
 * The agreed connection (REQ and REP seen) of the flow's next queue pair, which begins with this
 * PSN; NULL: none.
 */
struct hp3_cm_pending *hp3_cm_agreed(struct hp3_engine *e, uint32_t flow, uint32_t psn);
/*
 * The queue pair has ended: removes its agreed connection, which must not pair a later queue pair.
 */
void hp3_cm_forget(struct hp3_engine *e, const struct hp3_qp_event *end);
/*
 * As hp3_cm_forget(), for the connection that a DREQ names: it has the addresses of `by` and these
 * communication ids.
 */
void hp3_cm_disconnected(struct hp3_engine *e, const struct hp3_cm_pending *by, uint32_t local_id,
	uint32_t remote_id);

/* qp.c */
/*
 * A new epoch begins with this PSN. Pairs the flow if a set-up with this PSN, or with an unknown
 * PSN, is stored (flows/pending.h), and no other set-up contests it.
 */
void hp3_noted_began(struct hp3_turn *t, uint32_t flow, uint32_t psn);
/*
 * Does an end wait for proof (flows/pending.h), while no packet of the flow is in flight any more?
 */
bool hp3_qp_end_is_due(const struct hp3_engine *e, uint32_t flow, uint64_t now);
/*
 * Carries out the waiting end. Precondition: no sprayed packet is in flight. If the flow has to
 * keep its port, ends only its agreements.
 */
void hp3_qp_ended(struct hp3_turn *t, uint32_t flow);
/* Connection management has ended the queue pair. */
void hp3_qp_disconnected(struct hp3_turn *t, uint32_t flow);
/*
 * The first packet of a queue pair. If the PSN differs from the PSN of the set-up event, that event
 * was about another queue pair: the flow leaves on the RNIC's port.
 */
void hp3_check_begin(struct hp3_turn *t, uint32_t flow, const struct hp3_view *v);
