/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_MOVES_H
#define HP3_ENGINE_MOVES_H
/*
 * How a flow moves: the slot that it has meanwhile, with its FIFO and timers; what the transition
 * table of rfr says, carried out; what becomes of its rate, its CNPs and its replies. Where to is
 * not decided here.
 */
#include "engine/flows/barred.h"
#include "engine/flows/keys.h"
#include "engine/flows/losses.h"
#include "engine/paths/paths.h"

/* slots.c: slots, their deadlines, the FIFOs */
/* The flow's slot, taken if it has none, with reason `use`; NULL: all taken. */
struct hp3_move *hp3_slot_take(struct hp3_engine *e, uint32_t flow, uint8_t use);
void hp3_slot_drop(struct hp3_engine *e, uint32_t flow, uint8_t use);
void hp3_slot_timer(struct hp3_engine *e, struct hp3_move *m, uint64_t *timer, uint64_t t);
/* The packet's number; 0: no room. */
uint32_t hp3_hold_put(struct hp3_engine *e, uint32_t flow, const struct hp3_held *h);
/* The first `count` packets of the FIFO leave, or are dropped. */
void hp3_hold_release(struct hp3_turn *t, uint32_t flow, uint32_t count, uint8_t flags);
void hp3_hold_shed(struct hp3_turn *t, uint32_t flow, uint32_t count);
void hp3_hold_discard(struct hp3_turn *t, uint32_t flow); /* all */

/* start.c: errands */
/* A slot for a new errand; what a move before is still to be judged by is judged now. */
struct hp3_move *hp3_move_prepare(struct hp3_turn *t, uint32_t flow, enum hp3_errand_kind kind);
/* A step of the errand (errand_steps.h), and what it means for the move. One that is told to STAY
 * before it has asked gives its slot back. */
void hp3_errand_input(struct hp3_turn *t, struct hp3_move *m, enum hp3_errand_input input);

/* moves.c: the actions of rfr */
/* Feeds an input to the flow's state machine and carries out what ends a move; returns the action.
 */
enum hp3_rfr_action hp3_move_input(struct hp3_turn *t, uint32_t flow, enum hp3_rfr_input input);
/* The RNIC sends this PSN again: a move ends, but a drain of a sprayed queue pair may go on. */
void hp3_move_again(struct hp3_turn *t, uint32_t flow, uint32_t psn);
/* A packet with this BTH PSN closes the old path; nothing from `end` on has left. */
void hp3_move_close(struct hp3_turn *t, uint32_t flow, uint32_t psn, uint32_t end);
void hp3_set_port(struct hp3_engine *e, struct hp3_flow *f, uint16_t port);
/* The next one waits (ppp/discovery.h), least_ns at least. */
void hp3_search_ended(struct hp3_turn *t, uint32_t flow, bool slow, uint64_t least_ns);

/* command.c: what follows waits until all that has left is acknowledged; the port stays. Best
 * effort: not in a move, nor where nothing can be held. */
void hp3_move_drain(struct hp3_turn *t, uint32_t flow);
/* May it be moved to this port, if somebody says so? 0, or as hp3_command() returns. */
int hp3_move_refusal(
	const struct hp3_engine *e, const struct hp3_flow *f, uint16_t to, uint64_t now);

/* cnps.c */
/* A search or a drain begins: CNPs of the flow wait for what becomes of it (shield.h, rule 30). */
void hp3_cnps_wait(struct hp3_engine *e, struct hp3_move *m, uint64_t until);
/* A round of probes begins: so long as cc.withhold_percent says. */
void hp3_cnps_wait_for_round(struct hp3_turn *t, struct hp3_move *m);
/* `left`: the path that they speak of; else the RNIC is handed the one that it is owed. */
void hp3_cnps_end(struct hp3_turn *t, struct hp3_move *m, bool left);

/* guard.c: answers of RNICs to duplicates of ours */
/* One leaves now; the flow has a slot. */
void hp3_guard_begin(struct hp3_turn *t, uint32_t flow);
void hp3_guard_end(struct hp3_engine *e, struct hp3_move *m);
/* A request of PSNs [v->psn, end) was emitted, or emitted again, and HP3_FW_GUARD is set. */
void hp3_guard_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint32_t end);
/* HP3_FW_GUARD is set: may this reply not reach the RNIC? */
bool hp3_guard_stops(const struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_view *v,
	uint64_t now);

/* rate.c: congestion control (cc = dcqcn), and what a move does to the rate */
void hp3_rate_init(struct hp3_turn *t, uint32_t flow);
void hp3_rate_marked(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_suspend(struct hp3_turn *t, uint32_t flow);
void hp3_rate_rollback(struct hp3_turn *t, uint32_t flow);
void hp3_rate_raise(struct hp3_turn *t, uint32_t flow);
/* What the pacer takes for line rate, bit/s. */
uint64_t hp3_rate_line(const struct hp3_engine *e);
/* Brings the pacer up to DCQCN's rate, or to what drains `queued` bytes in time (rule 14). */
void hp3_rate_set(struct hp3_turn *t, uint32_t flow, uint64_t queued);
/* A packet leaves: its round trip begins now (rule 27). */
void hp3_rate_sent(struct hp3_turn *t, uint32_t flow, const struct hp3_held *h);
/* bit/s; 0: cc is not dcqcn. */
uint64_t hp3_rate_now(const struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_schedule(struct hp3_turn *t, uint32_t flow);

/* share.c: what a path would give a long flow (cc/share.h). A reply made progress, or none. */
void hp3_share_reply(
	struct hp3_turn *t, uint32_t flow, const struct hp3_view *v, uint32_t una_before);
/* It was told of a mark. */
void hp3_share_mark(struct hp3_engine *e, uint32_t flow);
/* This CNP does not reach the RNIC. */
bool hp3_share_stops(struct hp3_engine *e, uint32_t flow, uint64_t now);

/* pacing.c */
/* A packet that would leave now: may it? Else it is put into the FIFO, vd says so. */
void hp3_rate_tx(
	struct hp3_turn *t, uint32_t flow, const struct hp3_held *h, struct hp3_verdict *vd);
/* The pacer's time has come: packets leave the FIFO. */
void hp3_rate_due(struct hp3_turn *t, struct hp3_move *m);

/* failover.c: dead paths */
/* A duplicate on `port` that makes the peer's RNIC say again how far it is; hp3_rnic_is_plain(). */
void hp3_urge(struct hp3_turn *t, uint32_t flow, uint16_t port);
/* What una says is what the RNIC knows, and it waits for nothing but acknowledgements. */
bool hp3_rnic_is_plain(const struct hp3_flow *f);
/* The path of a flow is dead: use `port`. */
void hp3_failover(struct hp3_turn *t, uint32_t flow, uint16_t port);
/* RESUMING: a packet of the RNIC; false: it is to be held. */
bool hp3_resume_tx(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, enum hp3_tx_kind kind);
void hp3_resume_rx(struct hp3_turn *t, uint32_t flow);

/* replies.c: the responder stream on dead paths */
/* The requester stream leaves `from`: replies that leave there, too, follow. */
void hp3_replies_follow(struct hp3_turn *t, uint32_t flow, uint16_t from, uint16_t to);
/* The peer hears none of them: they leave on another path. */
void hp3_replies_leave(struct hp3_turn *t, uint32_t flow);
/* Moved just now, and perhaps the peer does not know. */
bool hp3_replies_moved(const struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_replies_restore(struct hp3_engine *e, uint32_t flow, uint16_t port);
void hp3_replies_home(struct hp3_engine *e, uint32_t flow);
void hp3_reply_reroute(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd);

/* outcome.c: did a move pay off? */
void hp3_outcome_watch(struct hp3_turn *t, uint32_t flow, uint64_t id);
void hp3_outcome_judge(struct hp3_turn *t, struct hp3_move *m);

#endif
