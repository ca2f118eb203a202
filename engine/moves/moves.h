/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * How a flow moves: slots with FIFOs and timers; the actions of the transition table
 * (rfr/transitions.h); the rate, CNPs and replies of a moving flow. The module search chooses the
 * path, and owns the record of the search in each slot (search/begin_end.h).
 */
#include "engine/flows/barred.h"
#include "engine/flows/keys.h"
#include "engine/flows/losses.h"
#include "engine/paths/paths.h"
#include "engine/search/begin_end.h"

/* slots.c: slots, their deadlines, the FIFOs */
/*
 * Returns the flow's slot, and adds `use` (HP3_USE_*) to its uses. Allocates a slot if the flow has
 * none; NULL: all slots are in use.
 */
struct hp3_move *hp3_slot_take(struct hp3_engine *e, uint32_t flow, uint8_t use);
void hp3_slot_drop(struct hp3_engine *e, uint32_t flow, uint8_t use);
void hp3_slot_timer(struct hp3_engine *e, struct hp3_move *m, uint64_t *timer, uint64_t t);
/* Returns the handle of the packet; 0: no room. */
uint32_t hp3_hold_put(struct hp3_engine *e, uint32_t flow, const struct hp3_held *h);
/* _release: sends the first `count` packets of the FIFO. _shed: drops them. */
void hp3_hold_release(struct hp3_turn *t, uint32_t flow, uint32_t count, uint8_t flags);
void hp3_hold_shed(struct hp3_turn *t, uint32_t flow, uint32_t count);
void hp3_hold_discard(struct hp3_turn *t, uint32_t flow); /* drops all */

/* moves.c: actions of rfr/transitions.h */
/*
 * Applies an input to the flow's state machine, and returns the action. Carries out actions that
 * end the move, and FAILOVER; the caller carries out all other actions.
 */
enum hp3_rfr_action hp3_move_input(struct hp3_turn *t, uint32_t flow, enum hp3_rfr_input input);
/*
 * The RNIC sends this PSN again. Ends the flow's move, with two exceptions. A move off a lossy path
 * goes on until its closing packet has left. A drain of a sprayed queue pair goes on if possible.
 */
void hp3_move_again(struct hp3_turn *t, uint32_t flow, uint32_t psn);
/*
 * The packet with this BTH PSN is the closing packet of the old path. No PSN from `end` on has
 * left.
 */
void hp3_move_close(struct hp3_turn *t, uint32_t flow, uint32_t psn, uint32_t end);
void hp3_set_port(struct hp3_engine *e, struct hp3_flow *f, uint16_t port);
/* An event with the ports, the cause and the evidence of a move or search. */
struct hp3_event *hp3_move_event(
	struct hp3_turn *t, const struct hp3_move *m, enum hp3_event_type type);

/*
 * command.c: holds packets until the peer has acknowledged all packets that have left. The port
 * stays the same. Does nothing during a move, or if the flow may not move now (for example, it is
 * unpaired, or an RNR NAK is pending).
 */
void hp3_move_drain(struct hp3_turn *t, uint32_t flow);
/*
 * May an operator or adviser move the flow to this port? Returns 0, or an error of hp3_command().
 */
int hp3_move_refusal(
	const struct hp3_engine *e, const struct hp3_flow *f, uint16_t to, uint64_t now);

/* Verbs mode: suspends the queue pair, as its peer_hold requires. */
void hp3_move_suspend(struct hp3_turn *t, struct hp3_move *m);
/* Can a move or a drain begin now? */
bool hp3_move_is_possible(const struct hp3_engine *e, const struct hp3_flow *f);

/* peer_hold.c: see peer_hold.h */
/* SUSPEND failed with EPERM: asks the peer to hold its queue pair. False: it was asked before. */
bool hp3_peer_hold_ask(struct hp3_turn *t, struct hp3_move *m);
/* The move's deadline: false if no hold is awaited, or no answer came to the last HOLD. */
bool hp3_peer_hold_due(struct hp3_turn *t, struct hp3_move *m);
/* Does the lease last long enough for a change of the port? True if no lease is needed. */
bool hp3_peer_hold_lasts(const struct hp3_turn *t, const struct hp3_move *m);
/* `count` of SUSPEND: ms after DRAINED. */
uint32_t hp3_peer_hold_ms(const struct hp3_move *m);
/* Time for the change of the port of a move that begins now. */
uint64_t hp3_peer_hold_change_ns(const struct hp3_engine *e);
/* Sends HELD: refused, or, if the queue pair is held, the time that remains. */
void hp3_peer_hold_refuse(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *asked);
void hp3_peer_hold_answer(struct hp3_turn *t, const struct hp3_move *m);
/* The queue pair is drained and held for the peer's move. */
void hp3_peer_hold_drained(struct hp3_turn *t, struct hp3_move *m);
/* The move, or the hold for the peer's move, ends. */
void hp3_peer_hold_end(struct hp3_turn *t, struct hp3_move *m, bool switched);
/* The peer was promised that the queue pair is held, so nothing but CONTINUE may end the hold. */
static inline bool hp3_peer_hold_is_promised(const struct hp3_move *m)
{
	return m->peer_hold.state == HP3_PEER_HOLD_HOLDS && m->t_close != 0;
}
/* peer_rest.c: limits of holds for one queue pair. Precondition: verbs mode */
/* The hold for this move of the peer ends now. */
void hp3_peer_rest_begin(struct hp3_turn *t, const struct hp3_move *m);
/* CONTINUE arrives: a HOLD of the same move may arrive later. */
void hp3_peer_rest_note(struct hp3_engine *e, uint32_t flow, uint32_t number);
/* May a hold of this number begin now? If not, counts the reason. */
bool hp3_peer_rest_allows(struct hp3_turn *t, uint32_t flow, uint32_t number);
/* peer_hold_take.c: HOLD, HELD or CONTINUE arrives. */
void hp3_peer_hold_received(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a);

/* cnps.c */
/* A search or a drain begins: withholds CNPs of the flow until `until` (shield.h, rule 30). */
void hp3_cnps_wait(struct hp3_engine *e, struct hp3_move *m, uint64_t until);
/* A round of probes begins: withholds CNPs of the flow for cc.withhold_percent of a base RTT. */
void hp3_cnps_wait_for_round(struct hp3_turn *t, struct hp3_move *m);
/*
 * Ends the withholding. `left`: the flow has left the path that the CNPs were about. Otherwise, if
 * CNPs were withheld, the RNIC gets one CNP.
 */
void hp3_cnps_end(struct hp3_turn *t, struct hp3_move *m, bool left);

/* guard.c: drops late replies of the peer's RNIC to duplicates that hp3d sends */
/* A duplicate from hp3d leaves now. Precondition: the flow has a slot. */
void hp3_guard_begin(struct hp3_turn *t, uint32_t flow);
void hp3_guard_end(struct hp3_engine *e, struct hp3_move *m);
/*
 * Precondition: HP3_FW_GUARD. A request of PSNs [v->psn, end) leaves, for the first time or again.
 */
void hp3_guard_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint32_t end);
/* Precondition: HP3_FW_GUARD. True: drop this reply, because the RNIC must not get it. */
bool hp3_guard_stops(const struct hp3_engine *e, const struct hp3_flow *f, const struct hp3_view *v,
	uint64_t now);

/* rate.c: congestion control (cc = dcqcn), and the rate during a move */
void hp3_rate_init(struct hp3_turn *t, uint32_t flow);
void hp3_rate_marked(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_suspend(struct hp3_turn *t, uint32_t flow);
void hp3_rate_rollback(struct hp3_turn *t, uint32_t flow);
void hp3_rate_raise(struct hp3_turn *t, uint32_t flow);
/* Line rate of the pacer, bit/s. */
uint64_t hp3_rate_line(const struct hp3_engine *e);
/*
 * Sets the pacer's rate to DCQCN's rate, or to the rate that drains `queued` bytes in time,
 * whichever is higher (rule 14). The limit is line rate.
 */
void hp3_rate_set(struct hp3_turn *t, uint32_t flow, uint64_t queued);
/* A packet leaves: its RTT begins now, not when the RNIC sent it (rule 27). */
void hp3_rate_sent(struct hp3_turn *t, uint32_t flow, const struct hp3_held *h);
/* bit/s; 0: cc is not dcqcn. */
uint64_t hp3_rate_now(const struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_schedule(struct hp3_turn *t, uint32_t flow);

/* pacing.c */
/*
 * May this packet leave now? If not, the packet goes into the FIFO, and *vd is HOLD. If the FIFO
 * has an equal packet already, *vd is DROP.
 */
void hp3_rate_tx(
	struct hp3_turn *t, uint32_t flow, const struct hp3_held *h, struct hp3_verdict *vd);
/* The pacer's deadline: sends packets from the FIFO. */
void hp3_rate_due(struct hp3_turn *t, struct hp3_move *m);

/* failover.c: dead paths */
/* Sends an ACK solicitation on `port`. Precondition: hp3_rnic_is_plain(). */
void hp3_solicit_ack(struct hp3_turn *t, uint32_t flow, uint16_t port);
/*
 * True: the local RNIC has received all replies before una, and waits for acknowledgements only,
 * not for READ data.
 */
bool hp3_rnic_is_plain(const struct hp3_flow *f);
/* The flow's path is dead: moves it to `port`. */
void hp3_failover(struct hp3_turn *t, uint32_t flow, uint16_t port);
/* RESUMING: handles a packet of the RNIC. False: the packet is to be held. */
bool hp3_resume_tx(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, enum hp3_tx_kind kind);
void hp3_resume_rx(struct hp3_turn *t, uint32_t flow);

/* replies.c: the responder stream, on dead paths */
/*
 * The flow's requests move from port `from` to `to`. If replies to the peer leave on `from`, they
 * also move to `to`.
 */
void hp3_replies_follow(struct hp3_turn *t, uint32_t flow, uint16_t from, uint16_t to);
/* The peer receives no replies: moves the replies to another path. */
void hp3_replies_leave(struct hp3_turn *t, uint32_t flow);
/*
 * Did the replies move a short while ago? If so, a report of the peer may be older than their move.
 */
bool hp3_replies_moved(const struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_replies_restore(struct hp3_engine *e, uint32_t flow, uint16_t port);
void hp3_replies_home(struct hp3_engine *e, uint32_t flow);
void hp3_reply_reroute(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd);

/* outcome.c: was the new path better? */
/* Stores what the old path is like at the end of the search. */
void hp3_outcome_prepare(struct hp3_turn *t, struct hp3_move *m);
void hp3_outcome_watch(struct hp3_turn *t, uint32_t flow, uint64_t id);
void hp3_outcome_judge(struct hp3_turn *t, struct hp3_move *m);
