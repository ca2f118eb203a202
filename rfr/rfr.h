/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Reorder-Free Rerouting (HP3, sections "Conservative Switching" and "Fast Recovery"): the state
 * machine of one move.
 *
 * Guarantee: the receiving RNIC sees PSNs in the order in which the sending RNIC emitted them. To
 * move a requester stream to another path, the engine chooses a *closing packet*: a first
 * transmission with the highest PSN so far. The closing packet is a READ or ATOMIC, or carries
 * AckReq (set by the RNIC or the engine). The engine holds all later packets. One path is a FIFO,
 * so once a reply proves that the closing packet has arrived, all packets before it have also
 * arrived. The held packets then leave, in order, on the new port. A loss, an RNR NAK, a time-out
 * or too many held packets end the move on the old port (fast recovery). Held packets then leave on
 * the old port, in order, and before the RNIC's next packet. If the queue pair was reset, the
 * engine drops the held packets.
 *
 *     STEADY --severe--> SEARCHING --winner--> as a move; --no better path--> STEADY
 *     STEADY --move--> CLOSING --closing packet--> DRAINING --arrived--> STEADY (new port)
 *                         \------- loss, RNR, time-out, hold full -----> STEADY (old port)
 *
 * Probes that look like the flow's own packets (rule 2) leave after the drain:
 *
 *     DRAINING --arrived--> PROBING --a probe won--> STEADY (new port)
 *                              \--- no winner, loss, RNR, time-out, hold full --> STEADY (old port)
 *
 * If no packet is in flight, no drain is needed. So a long message may wait for answers to probes
 * before its first packet leaves:
 *
 *     STEADY --idle, a long message begins--> PROBING
 *
 * On a dead path (rule 13), no packet can be overtaken, so the flow leaves the path without a
 * drain. Only the RNIC can send the lost packets again, so the engine holds all other packets until
 * the RNIC retransmits:
 *
 *     STEADY, SEARCHING --dead--> RESUMING --RNIC has retransmitted--> STEADY (new port)
 *
 * The C code, its tests and the model share one table of transitions (transitions.h).
 */
#include "rfr/stream.h"
#include "rfr/transitions.h"

/* In STEADY and SEARCHING, packets are forwarded as if there were no move. */
enum hp3_rfr_state {
#define X(sym, text) HP3_RFR_##sym,
	HP3_RFR_STATES(X)
#undef X
		HP3_RFR_STATE_MAX
};

enum hp3_rfr_input {
#define X(sym, text) HP3_RFR_IN_##sym,
	HP3_RFR_INPUTS(X)
#undef X
		HP3_RFR_IN_MAX
};

enum hp3_rfr_action {
#define X(sym, text) HP3_RFR_DO_##sym,
	HP3_RFR_ACTIONS(X)
#undef X
		HP3_RFR_DO_MAX
};

struct hp3_rfr_step {
	uint8_t next; /* enum hp3_rfr_state */
	uint8_t action; /* enum hp3_rfr_action */
};

/* The step for `input` in `state`. Pairs that are not in the table change nothing. */
struct hp3_rfr_step hp3_rfr_step(enum hp3_rfr_state state, enum hp3_rfr_input input);

/* The closing packet of a move. */
struct hp3_closing {
	uint32_t psn; /* its BTH PSN */
	/* first PSN behind the closing packet: no packet from this PSN on has left. If the closing
	 * packet is a READ and the PMTU is unknown, `end` is an upper bound. */
	uint32_t end;
};

/*
 * A reply arrives during a move: updates *s and returns the input for the state machine (DRAINED,
 * NAK, RNR, FATAL, CONTRADICTION or NONE). The caller has checked the reply's ICRC (rule 6).
 */
enum hp3_rfr_input hp3_rfr_reply(enum hp3_rfr_state state, struct hp3_stream *s,
	const struct hp3_closing *c, const struct hp3_view *v);

const char *hp3_rfr_state_name(enum hp3_rfr_state s);
const char *hp3_rfr_input_name(enum hp3_rfr_input i);
